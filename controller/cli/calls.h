/* calls.h - requests whose answers are waited for.
 */
#ifndef CONTROLLER_CLI_CALLS_H
#define CONTROLLER_CLI_CALLS_H

#include "controller/cli/client.h"

/* Send and run the loop until the answer is there. EINTR: client_interrupt()
 * was called; the request is forgotten.
 */
int client_call(struct client *client, enum message_type type, void *body,
		const void *payload, size_t size, uint32_t wait_ms,
		struct answer *answer, struct error *err);

/* client_call() of a query, which waits as long as query->wait_ms says. */
int client_query(struct client *client, struct message_query *query,
		 struct answer *answer, struct error *err);

/* All rows of a query that comes in pages: the structs of the reply's list. */
struct rows {
	const struct schema *schema; /* of a row */
	char *items;
	size_t count;
};
void rows_clear(struct rows *rows);
OWNED_VALUE(struct rows, rows_clear)
const void *rows_at(const struct rows *rows, size_t at);

/* id: the member of a row that pages count by; NULL: they count rows. EPROTO:
 * the pages do not end.
 */
int client_rows(struct client *client, enum query_kind what, uint64_t of,
		const char *id, struct rows *rows, struct error *err);

#endif
