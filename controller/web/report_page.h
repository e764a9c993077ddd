/* report_page.h - writes the report of a sweep as a page.
 */
#pragma once

#include "controller/web/web_page.h"
#include "protocol/http/http_server.h"

/* As `regatta report --format html`, for the first 1,000 jobs, with the curves
 * of the first 32. ENOENT: no such sweep.
 */
int report_page_answer(const struct web_sources *sources, uint64_t sweep,
		       struct http_reply *reply, struct error *err);
