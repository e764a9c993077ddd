/* calls.c - sends requests and waits for their answers.
 */
#include "controller/cli/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct call {
	bool done;
	int rc;
	struct answer *answer;
	struct error *err;
};

static void call_take_answer(void *arg, struct answer *answer,
			     const struct error *err)
{
	struct call *call = arg;
	void *payload = NULL;

	call->done = true;
	if (err) {
		call->rc = error_set(call->err, err->code, "%s", err->text);
		return;
	}
	if (answer->size && !(payload = malloc(answer->size))) {
		call->rc = error_nomem(call->err, "answer");
		return;
	}
	if (payload)
		memcpy(payload, answer->payload, answer->size);
	*call->answer = (struct answer){
		.schema = answer->schema,
		.payload = payload,
		.size = answer->size,
	};
	call->answer->reply = take(answer->reply);
}

int client_call_with(struct client *client, enum message_type type, void *body,
		     const void *payload, size_t size, uint32_t wait_ms,
		     struct answer *answer, struct error *err)
{
	struct call call = { .answer = answer, .err = err };
	uint64_t number = 0;

	if (client_send(client, type, body, payload, size, wait_ms,
			call_take_answer, &call, &number, err) < 0)
		return -1;
	while (!call.done) {
		if (client_turn(client, err) < 0) {
			client_drop(client, number);
			if (call.done && call.rc == 0)
				answer_clear(answer);
			return -1;
		}
	}
	return call.rc;
}

int client_call(struct client *client, enum message_type type, void *body,
		struct answer *answer, struct error *err)
{
	return client_call_with(client, type, body, NULL, 0, 0, answer, err);
}

int client_query(struct client *client, struct message_query *query,
		 struct answer *answer, struct error *err)
{
	return client_call_with(client, MESSAGE_QUERY, query, NULL, 0,
				query->wait_ms, answer, err);
}

void rows_clear(struct rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		codec_clear(rows->schema, rows->items + i * rows->schema->size);
	free(rows->items);
	*rows = (struct rows){ 0 };
}

const void *rows_at(const struct rows *rows, size_t at)
{
	return rows->items + at * rows->schema->size;
}

/* The list in a reply that comes in pages; such a reply has one. */
static const struct field *reply_find_list(const struct schema *schema)
{
	size_t i = 0;

	while (schema->fields[i].kind != FIELD_LIST)
		i++;
	return &schema->fields[i];
}

/* Move the rows of a page to the end of the rows. */
static int rows_append(struct rows *rows, const struct field *list, char *reply,
		       struct error *err)
{
	char **items = (char **)(reply + list->offset);
	size_t *count = (size_t *)(reply + list->count_offset);
	size_t size = rows->schema->size;
	char *all = realloc(rows->items, (rows->count + *count + 1) * size);

	if (!all)
		return error_nomem(err, "rows");
	rows->items = all;
	if (*count)
		memcpy(all + rows->count * size, *items, *count * size);
	rows->count += *count;
	*count = 0;
	return 0;
}

/* The value at which the next page begins. */
static uint64_t rows_after(const struct rows *rows, const char *id)
{
	const struct field *field = id ? codec_field(rows->schema, id) : NULL;

	if (!rows->count || !field)
		return rows->count;
	return *(
		const uint64_t *)((const char *)rows_at(rows, rows->count - 1) +
				  field->offset);
}

int client_rows(struct client *client, enum query_kind what, uint64_t of,
		const char *id, struct rows *rows, struct error *err)
{
	const struct schema *schema = query_replies[what];
	const struct field *list = reply_find_list(schema);
	const struct field *more = codec_field(schema, "more");
	owned(rows_clear) struct rows all = { .schema = list->schema };
	struct message_query query = { .what = what, .id = of };
	bool goes_on = true;

	while (goes_on) {
		owned(answer_clear) struct answer answer = { 0 };
		uint64_t before = query.after;

		if (client_query(client, &query, &answer, err) < 0 ||
		    rows_append(&all, list, answer.reply, err) < 0)
			return -1;
		query.after = rows_after(&all, id);
		goes_on = *(bool *)((char *)answer.reply + more->offset);
		if (goes_on && query.after <= before)
			return error_set(err, EPROTO,
					 "%s: the controller's pages do not "
					 "advance",
					 query_names[what]);
	}
	*rows = all;
	all = (struct rows){ 0 };
	return 0;
}
