/* streams.h - lists the streams of a job's output.
 */
#pragma once

#include "controller/api/api.h"
#include "protocol/message/reply_jobs.h"

#define STREAMS_MAX 2000 /* in one list */

/* The output streams of the attempt's processes (if `ranks`), then its followed
 * files; the first STREAMS_MAX. The caller owns the list.
 */
int streams_describe(const struct api *api, uint64_t job, uint32_t attempt,
		     bool ranks, struct stream_info **list, size_t *count,
		     struct error *err);
