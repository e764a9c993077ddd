/* live.h - pages that are open: what changes in them is sent as it changes.
 *
 * A topic is a page that at least one browser has open. When something has
 * changed it is rendered again, at most once a second; parts that differ go to
 * all its browsers. Rendering takes at most a two-hundredth of the time for
 * each browser, and a hundredth for all of them: what is large, or one of many
 * different pages, comes less often. So a hundred browsers cost a rendering for
 * each different page, and the bytes. It is done in slices of a fraction of a
 * millisecond, with pauses: what else the controller does waits for one of them
 * at most. Where the page has other parts than before, all of it is sent, and
 * no browser asks for it again; one that is too large is told to.
 */
#ifndef CONTROLLER_WEB_LIVE_H
#define CONTROLLER_WEB_LIVE_H

#include "controller/web/web_page.h"
#include "protocol/http/http_server.h"

struct live;
struct live *live_new(sd_event *loop, const struct web_sources *sources,
		      struct error *err);
void live_free(struct live *live); /* after the server */
/* Borrowed, and set before anything is opened. */
void live_serve(struct live *live, struct http_server *server);

/* A browser has the page open, and shows what has that shape and state
 * (web_page_shape(), web_page_state()): what has changed since is sent. Fills
 * the reply's topic. ENOENT.
 */
int live_open(struct live *live, const char *path, uint64_t shape,
	      uint64_t state, struct http_reply *reply, struct error *err);
/* http_handler.stream_gone. */
void live_gone(struct live *live, void *topic);

/* Something has changed. */
void live_update(struct live *live);

#endif
