/* server.h - what people may ask and order, and the answers.
 *
 * Every request is answered once, by a reply or a refusal, in the queue that
 * is sent after the commit. Requests with wait_ms are parked until there is
 * news; a peer may have PARKED_MAX of them.
 */
#ifndef CONTROLLER_API_SERVER_H
#define CONTROLLER_API_SERVER_H

#include "controller/cluster/cluster.h"

#define PARKED_MAX 16        /* per peer */
#define SERVER_WAIT_MS 30000 /* at most */

/* Answer a request of a person; body and payload are borrowed. */
void server_request(struct cluster *cluster, struct wire_peer *peer,
		    enum message_type type, void *body, const void *payload,
		    size_t size);

/* Something has changed: answer the parked requests that have news now, and
 * those whose time is up.
 */
void server_wake(struct cluster *cluster);

/* The peer is gone: forget its parked requests. */
void server_forget(struct cluster *cluster, const struct wire_peer *peer);

#endif
