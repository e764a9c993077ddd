/* client.h - sends requests to the controller and receives their answers.
 *
 * A session on wire_client: hello, welcome, then numbered requests, each
 * answered by MESSAGE_REPLY or MESSAGE_REFUSED. If the connection breaks,
 * unanswered requests are sent again in the next session. So every request must
 * be safe to repeat (submit has a token for this).
 *
 * At first a client is impatient: after CLIENT_REACH_MS without a session all
 * requests fail, also later ones. A patient client (client_set_patient()) waits
 * for the controller without limit, once it had a session.
 *
 * Requests are sent at a lower rate than the controller's limit for users.
 */
#pragma once

#include "controller/cli/settings.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define CLIENT_REACH_MS 5000
#define CLIENT_ANSWER_MS 30000 /* in addition to the request's wait_ms */

struct client;

/* An answer. Its reply has been decoded and checked by the request's schema. */
struct answer {
	const struct schema *schema; /* message_reply_schema() */
	void *reply;                 /* the struct */
	void *payload;               /* NULL: none */
	size_t size;
};
void answer_clear(struct answer *answer);
OWNED_VALUE(struct answer, answer_clear)

/* Start to connect; returns at once. */
struct client *client_new(sd_event *loop, const struct connection *connection,
			  struct error *err);
void client_free(struct client *client);
OWNED_POINTER(struct client, client_free)

sd_event *client_loop(struct client *client); /* borrowed */
/* The client's public key, and the controller's. */
const char *client_public(const struct client *client);
const char *client_server_public(const struct client *client);

/* notice() is called when there is no session after a second, and when there is
 * one again.
 */
typedef void client_notice_fn(void *arg, const char *text);
void client_set_notice(struct client *client, client_notice_fn *notice,
		       void *arg);

/* Make the client patient. notice() is called when the connection is lost, too.
 */
void client_set_patient(struct client *client, client_notice_fn *notice,
			void *arg);

/* Send a request: a message struct whose first member is `uint64_t request`,
 * which is set here. Body and payload are copied. wait_ms: how long the request
 * lets the controller wait. done() runs once, from the loop, with either an
 * answer or an error; it may send and drop requests. It may take answer->reply;
 * the rest is borrowed. *number is the number of the request. Errors of done():
 * the code of the controller's refusal; ENOTCONN or ETIMEDOUT: the controller
 * cannot be reached.
 */
typedef void client_done_fn(void *arg, struct answer *answer,
			    const struct error *err);
int client_send(struct client *client, enum message_type type, void *body,
		const void *payload, size_t size, uint32_t wait_ms,
		client_done_fn *done, void *arg, uint64_t *number,
		struct error *err);

/* Drop a request; its done() does not run. */
void client_drop(struct client *client, uint64_t number);

/* Run one turn of the loop; waits for an event. EINTR: client_interrupt() was
 * called.
 */
int client_turn(struct client *client, struct error *err);

/* The same without waiting. Long computations between requests call it to keep
 * the connection alive and to handle Ctrl-C.
 */
int client_look(struct client *client, struct error *err);

/* End the running call or turn with EINTR, else the next one. For callbacks. */
void client_interrupt(struct client *client);

/* The controller's wall clock; before the first session the local one. */
int64_t client_clock_ms(const struct client *client);

/* Sends requests and waits for their answers. */

/* Send a request and run the loop until the answer comes. EINTR:
 * client_interrupt() was called; the request is dropped.
 */
int client_call(struct client *client, enum message_type type, void *body,
		struct answer *answer, struct error *err);

/* The same with a payload; wait_ms: how long the controller may wait. */
int client_call_with(struct client *client, enum message_type type, void *body,
		     const void *payload, size_t size, uint32_t wait_ms,
		     struct answer *answer, struct error *err);

/* client_call_with() for a query; query->wait_ms is its wait_ms. */
int client_query(struct client *client, struct message_query *query,
		 struct answer *answer, struct error *err);

/* All rows of a paged query: the structs of the replies' lists. */
struct rows {
	const struct schema *schema; /* of a row */
	char *items;
	size_t count;
};
void rows_clear(struct rows *rows);
OWNED_VALUE(struct rows, rows_clear)
const void *rows_at(const struct rows *rows, size_t at);

/* Fetch all pages of a query. id: the member of a row at whose value the next
 * page begins; NULL: pages begin at a row number. EPROTO: the pages do not end.
 */
int client_rows(struct client *client, enum query_kind what, uint64_t of,
		const char *id, struct rows *rows, struct error *err);
