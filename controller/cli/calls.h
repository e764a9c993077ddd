/* calls.h - sends requests and waits for their answers.
 */
#ifndef CONTROLLER_CLI_CALLS_H
#define CONTROLLER_CLI_CALLS_H

#include "controller/cli/client.h"

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

#endif
