/* server.h - handles the requests of people: checks, audits, answers.
 *
 * Every request is answered once, by a reply or a refusal, through the queue
 * that is sent after the commit. A request with wait_ms waits until something
 * changes. How many of a key may wait, and what it costs to look again for
 * them, is charged to the key (wire.h). Equal ones of a key are answered
 * together.
 */
#pragma once

#include "controller/api/api.h"

#define SERVER_WAIT_MS 30000 /* at most */

/* api: copied; what is in it is borrowed. */
struct server;
struct server *server_new(const struct api *api, struct error *err);
void server_free(struct server *server);

/* Answer a request of a person; body and payload are borrowed. */
void server_request(struct server *server, struct wire_peer *peer,
		    enum message_type type, void *body, const void *payload,
		    size_t size);

/* Answer the waiting requests that are affected by api->changes, and those
 * whose time is up, for about 2 ms. api->changes is empty afterwards. True:
 * there are more; call it again in a few milliseconds.
 */
bool server_wake(struct server *server);

/* Request a check of all sessions against the keyring. server_sent() does it;
 * the caller runs that when all answers have been sent.
 */
void server_recheck(struct server *server);
void server_sent(struct server *server);

/* The peer's session has ended: drop its waiting requests. */
void server_forget(struct server *server, const struct wire_peer *peer);
