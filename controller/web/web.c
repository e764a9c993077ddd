/* web.c - what a controller answers over HTTP.
 */
#include "controller/web/web.h"
#include "controller/web/metrics.h"
#include "protocol/base/log.h"

#include <stdlib.h>
#include <string.h>

struct web {
	const struct jobs_parts *parts;
	const struct counters *counters;
	struct http_server *server;
};

static void answer(void *arg, const struct http_request *request,
		   struct http_reply *reply)
{
	struct web *web = arg;

	if (!strcmp(http_path(request), "/metrics")) {
		metrics_answer(web->parts, web->counters, request, reply);
		return;
	}
	reply->status = 404;
	buffer_text(&reply->body, "no such page\n", NULL);
}

struct web *web_new(sd_event *loop, const struct jobs_parts *parts,
		    const struct counters *counters,
		    const struct http_config *config, struct error *err)
{
	static const struct http_handler handler = { .answer = answer };
	owned(web_free) struct web *web = calloc(1, sizeof(*web));

	if (!web) {
		error_nomem(err, "web");
		return NULL;
	}
	web->parts = parts;
	web->counters = counters;
	web->server = http_server_new(loop, config, &handler, web, err);
	if (!web->server) {
		error_prefix(err, "web");
		return NULL;
	}
	log_info("web at %s", http_server_url(web->server));
	return take(web);
}

void web_free(struct web *web)
{
	if (!web)
		return;
	http_server_free(web->server);
	free(web);
}
