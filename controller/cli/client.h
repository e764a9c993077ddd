/* client.h - requests to the controller and their answers.
 *
 * A session on wire_client: hello, welcome, then requests by number, each
 * answered by MESSAGE_REPLY or MESSAGE_REFUSED. Requests that were not answered
 * when the connection broke are sent again in the next session, so only
 * requests that may be done twice are sent here (submit has its token).
 *
 * A client is impatient at first: without a session for CLIENT_REACH_MS every
 * request fails, and so do all later ones. A patient one waits for the
 * controller as long as it takes, once there was a session.
 *
 * Requests are paced below what the controller allows a person.
 */
#ifndef CONTROLLER_CLI_CLIENT_H
#define CONTROLLER_CLI_CLIENT_H

#include "controller/cli/settings.h"
#include "protocol/message/message.h"

#include <systemd/sd-event.h>

#define CLIENT_REACH_MS 5000
#define CLIENT_ANSWER_MS 30000 /* beyond what the request itself waits */

struct client;

/* What came is checked: it is the struct that answers the request. */
struct answer {
	const struct schema *schema; /* message_reply_schema() */
	void *reply;                 /* the struct */
	void *payload;               /* NULL: none */
	size_t size;
};
void answer_clear(struct answer *answer);
OWNED_VALUE(struct answer, answer_clear)

/* Starts to connect; does not wait. */
struct client *client_new(sd_event *loop, const struct connection *connection,
			  struct error *err);
void client_free(struct client *client);
OWNED_POINTER(struct client, client_free)

sd_event *client_loop(struct client *client); /* borrowed */
/* Our public key, and the controller's. */
const char *client_public(const struct client *client);
const char *client_server_public(const struct client *client);

/* Wait for the controller from now on. notice() tells when the connection is
 * lost and when it is back.
 */
typedef void client_notice_fn(void *arg, const char *text);
void client_set_patient(struct client *client, client_notice_fn *notice,
			void *arg);

/* Send a request: a message struct whose first member is `uint64_t request`,
 * which is filled in here; it and the payload are copied. wait_ms: how long the
 * request itself asks to wait. done() runs once, from the loop, with either an
 * answer or an error; it may send and drop requests. It may take answer->reply;
 * the rest is borrowed. *number names the request. Errors of done(): what the
 * controller refused with its code; ENOTCONN or ETIMEDOUT: out of reach.
 */
typedef void client_done_fn(void *arg, struct answer *answer,
			    const struct error *err);
int client_send(struct client *client, enum message_type type, void *body,
		const void *payload, size_t size, uint32_t wait_ms,
		client_done_fn *done, void *arg, uint64_t *number,
		struct error *err);

/* Forget a request; its done() does not run. */
void client_drop(struct client *client, uint64_t number);

/* Run one turn of the loop, waiting for something to happen. EINTR as above. */
int client_turn(struct client *client, struct error *err);

/* The same without waiting: for those who work for long between requests, so
 * that the connection lives on and Ctrl-C is heard.
 */
int client_look(struct client *client, struct error *err);

/* End the call or turn that runs, or else the next one. From callbacks. */
void client_interrupt(struct client *client);

/* The controller's wall clock; ours while there was no session. */
int64_t client_clock_ms(const struct client *client);

#endif
