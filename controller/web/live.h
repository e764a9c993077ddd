/* live.h - sends changed parts to the browsers that have a page open.
 *
 * A topic is a page that at least one browser has open. After a change it is
 * rendered again, at most once a second, and the parts that differ are sent to
 * all its browsers. Rendering uses at most 1/200 of the time for each browser
 * and 1/100 in total, so large pages, and pages among many, are updated less
 * often. A page is rendered once for all its browsers, in slices of a tenth of
 * a millisecond. The pauses between them are longer than a job's start, which
 * so waits for one slice at most. If the list of parts has changed, the whole
 * page is sent; if that is too large, the browser is told to reload.
 */
#pragma once

#include "controller/web/web_page.h"
#include "protocol/http/http_server.h"
#include "protocol/wire/budget.h"

struct live;
struct live *live_new(sd_event *loop, const struct web_sources *sources,
		      struct budgets *budgets, struct error *err);
void live_free(struct live *live); /* after the server */
/* Set the server (borrowed) before the first live_open(). */
void live_serve(struct live *live, struct http_server *server);

/* A browser of this key's owner has opened the page at path and shows this
 * shape and state (web_page_shape(), web_page_state()): later changes are sent
 * to it. The key that opened a page last is charged for it. Sets reply->topic.
 * ENOENT: no such page.
 */
int live_open(struct live *live, const struct key *key, const char *path,
	      uint64_t shape, uint64_t state, struct http_reply *reply,
	      struct error *err);
/* http_handler.stream_gone. */
void live_gone(struct live *live, void *topic);

/* Tell that the state of the controller has changed. */
void live_update(struct live *live);
