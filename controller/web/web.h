/* web.h - what a controller answers over HTTP.
 */
#ifndef CONTROLLER_WEB_WEB_H
#define CONTROLLER_WEB_WEB_H

#include "controller/jobs/jobs.h"
#include "controller/web/counters.h"
#include "protocol/http/http_server.h"

struct web;
/* What it is given is borrowed; the configuration only during the call. */
struct web *web_new(sd_event *loop, const struct jobs_parts *parts,
		    const struct counters *counters,
		    const struct http_config *config, struct error *err);
void web_free(struct web *web);
OWNED_POINTER(struct web, web_free)

#endif
