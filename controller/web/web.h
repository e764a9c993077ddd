/* web.h - serves the pages and metrics of a controller over HTTP.
 *
 *	/			sweeps
 *	/sweep/ID[/AFTER]	its jobs, as a board (board.h) and a table
 *	/sweep/ID/report	the report, as one page
 *	/job/ID			its progress, curves, nodes, devices, output
 *	/nodes[/0/AFTER]	the nodes, their jobs and their power
 *	/node/NUMBER		its devices and its policy's refusals
 *	/live?page=PATH&shape=	events for an open page (live.h)
 *	/login?ticket=		access/viewers.h
 *	/metrics		metrics.h, without a login
 *
 * The pages cannot change anything. A visitor has the rights of a viewer, who
 * does not see the values of `env`.
 */
#pragma once

#include "controller/access/viewers.h"
#include "controller/web/metrics.h"
#include "controller/web/web_page.h"
#include "protocol/http/http_server.h"
#include "protocol/wire/budget.h"

struct web_config {
	sd_event *loop;
	const struct http_config *http;
	struct web_sources sources;
	const struct counters *counters; /* borrowed */
	struct viewers *viewers; /* borrowed; gets the server's address */
	struct budgets
		*budgets; /* borrowed; pages are charged to their key's */
};

struct web;
struct web *web_new(const struct web_config *config, struct error *err);
void web_free(struct web *web);
OWNED_POINTER(struct web, web_free)

/* Tell that the state has changed, so that open pages are updated. NULL is
 * allowed.
 */
void web_update(struct web *web);
