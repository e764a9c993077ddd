/* server.h - what people may ask and order, and the answers.
 *
 * Every request is answered once, by a reply or a refusal, in the queue that
 * is sent after the commit. Requests with wait_ms wait until something
 * changes; a peer may have WAITING_MAX of them.
 */
#ifndef CONTROLLER_API_SERVER_H
#define CONTROLLER_API_SERVER_H

#include "controller/api/api.h"

#define WAITING_MAX 16       /* per peer */
#define SERVER_WAIT_MS 30000 /* at most */

/* api: copied; what is in it is borrowed. */
struct server;
struct server *server_new(const struct api *api, struct error *err);
void server_free(struct server *server);

/* Answer a request of a person; body and payload are borrowed. */
void server_request(struct server *server, struct wire_peer *peer,
		    enum message_type type, void *body, const void *payload,
		    size_t size);

/* What changed is in api->changes, which is empty afterwards: answer the
 * waiting requests that concern it, and those whose time is up.
 */
void server_wake(struct server *server);

/* Look who may still be connected, once all answers have been sent; they were
 * sent.
 */
void server_recheck(struct server *server);
void server_sent(struct server *server);

/* The peer is gone: forget its waiting requests. */
void server_forget(struct server *server, const struct wire_peer *peer);

#endif
