/* client.c - sends requests to the controller and receives their answers.
 */
#include "controller/cli/client.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/wire/budget.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

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

#define TICK_MS 100
#define PACE_MS 5
#define NOTICE_MS 1000
/* An eighth of the rate that a key may use, so that eight commands can run at
 * once. A burst of a fifth of a second lets log lines reach a follower within
 * milliseconds.
 */
#define RATE (BUDGET_PERSON_MESSAGES / 8.0)
#define RATE_BURST (RATE / 5)
/* So large payloads are sent and read more slowly than the key's rate, so they
 * do not count.
 */
#define RATE_FREE MESSAGE_PAYLOAD_MAX

struct pending {
	uint64_t number;
	enum message_type type;
	void *body;
	void *payload;
	size_t size;
	uint32_t wait_ms;
	bool sent;
	int64_t deadline_ms; /* once sent */
	client_done_fn *done;
	void *arg;
	TAILQ_ENTRY(pending) next;
};

struct client {
	sd_event *loop;
	struct wire_client *wire;
	char endpoint[256];
	char public[KEY_TEXT_SIZE];
	bool ready;        /* welcomed */
	bool was_ready;    /* there was a session before */
	int64_t absent_ms; /* since when there is no session */
	bool patient;
	bool told;   /* notice() was told of the loss */
	bool unkept; /* the user knows that the next key cannot be saved */
	bool odd;    /* the last attempt failed as with a wrong key */
	bool interrupted;
	bool dead;
	struct error why; /* of the last loss; when dead, of every request */
	client_notice_fn *notice;
	void *notice_arg;
	TAILQ_HEAD(, pending) pending;
	uint64_t numbers;
	double tokens;
	int64_t tokens_ms;
	int64_t ahead_ms; /* controller's clock minus ours */
	sd_event_source *tick;
};

/* Decode the body by the schema of the request's reply. */
static int answer_read(struct answer *answer, const struct schema *schema,
		       const struct packed *body, struct error *err)
{
	if (!schema)
		return error_set(err, EPROTO,
				 "the controller's answer has an unknown type");
	answer->reply = calloc(1, schema->size);
	if (!answer->reply)
		return error_nomem(err, "answer");
	answer->schema = schema;
	if (codec_unpack(schema, body, answer->reply, err) < 0)
		return error_prefix(err, "the controller's answer");
	return 0;
}

void answer_clear(struct answer *answer)
{
	if (answer->reply)
		codec_clear(answer->schema, answer->reply);
	free(answer->reply);
	free(answer->payload);
	*answer = (struct answer){ 0 };
}

static void pending_free(struct pending *pending)
{
	if (!pending)
		return;
	message_free(pending->type, pending->body);
	free(pending->payload);
	free(pending);
}
OWNED_POINTER(struct pending, pending_free)

/* Remove the request first: done() may change the list. */
static void pending_finish(struct client *client, struct pending *pending,
			   struct answer *answer, const struct error *err)
{
	TAILQ_REMOVE(&client->pending, pending, next);
	pending->done(pending->arg, answer, err);
	pending_free(pending);
}

/* End the client: all requests fail, also later ones. */
static void client_give_up(struct client *client, const struct error *why)
{
	struct pending *pending;

	client->dead = true;
	client->why = *why;
	while ((pending = TAILQ_FIRST(&client->pending)))
		pending_finish(client, pending, NULL, &client->why);
}

static bool client_may_send(struct client *client,
			    const struct pending *pending)
{
	int64_t now = clock_mono_ms();
	double cost = pending->size < RATE_FREE ? 1 : 0;

	client->tokens += (double)(now - client->tokens_ms) * RATE / 1000;
	client->tokens_ms = now;
	if (client->tokens > RATE_BURST)
		client->tokens = RATE_BURST;
	if (client->tokens < cost)
		return false;
	client->tokens -= cost;
	return true;
}

/* Send the waiting requests. False: some still wait. */
static bool send_pending(struct client *client)
{
	struct pending *pending;

	if (!client->ready)
		return true; /* client_take_welcome() sends them */
	TAILQ_FOREACH(pending, &client->pending, next) {
		if (pending->sent)
			continue;
		if (!client_may_send(client, pending) ||
		    wire_client_send(client->wire, pending->type, pending->body,
				     pending->payload, pending->size, NULL) < 0)
			return false;
		pending->sent = true;
		pending->deadline_ms =
			clock_mono_ms() + pending->wait_ms + CLIENT_ANSWER_MS;
	}
	return true;
}

static struct pending *overdue(struct client *client)
{
	int64_t now = clock_mono_ms();
	struct pending *pending;

	TAILQ_FOREACH(pending, &client->pending, next)
		if (pending->sent && pending->deadline_ms <= now)
			return pending;
	return NULL;
}

/* Nobody should look at nothing for more than a second. */
static void tell_absence(struct client *client)
{
	char text[300];

	if (client->ready || client->told || !client->notice ||
	    clock_mono_ms() - client->absent_ms < NOTICE_MS)
		return;
	client->told = true;
	snprintf(text, sizeof(text),
		 "waiting for the controller %.120s (%.120s)", client->endpoint,
		 client->why.text[0] ? client->why.text : "no answer");
	client->notice(client->notice_arg, text);
}

static void check_reach(struct client *client)
{
	struct error why;

	tell_absence(client);
	if (client->ready || (client->patient && client->was_ready) ||
	    clock_mono_ms() - client->absent_ms < CLIENT_REACH_MS)
		return;
	error_set(&why, ENOTCONN,
		  "controller %.80s: not reachable for %d s (%.80s); check "
		  "that regatta-controller is running there",
		  client->endpoint, CLIENT_REACH_MS / 1000,
		  client->why.text[0] ? client->why.text : "no answer");
	client_give_up(client, &why);
}

static void check_answers(struct client *client)
{
	struct pending *pending;
	struct error err;

	if (!client->ready)
		return;
	while ((pending = overdue(client))) {
		if (client->patient) {
			pending->sent = false;
			continue;
		}
		error_set(&err, ETIMEDOUT,
			  "the controller at %s did not answer within %u s",
			  client->endpoint,
			  (pending->wait_ms + CLIENT_ANSWER_MS) / 1000);
		pending_finish(client, pending, NULL, &err);
	}
}

static int client_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct client *client = arg;
	bool all_sent;

	check_reach(client);
	check_answers(client);
	all_sent = send_pending(client);
	if (!TAILQ_EMPTY(&client->pending))
		loop_timer(client->loop, &client->tick,
			   all_sent ? TICK_MS : PACE_MS, client_tick, client,
			   NULL);
	return 0;
}

static void kick(struct client *client)
{
	loop_timer(client->loop, &client->tick,
		   send_pending(client) ? TICK_MS : PACE_MS, client_tick,
		   client, NULL);
}

/* Session. */

static void client_greet(void *arg)
{
	struct client *client = arg;
	struct message_hello hello = {
		.version = PROTOCOL_VERSION,
		.software = (char *)"regatta " REGATTA_VERSION
	};

	wire_client_send(client->wire, MESSAGE_HELLO, &hello, NULL, 0, NULL);
}

/* Would later attempts fail, too? A handshake may fail because the controller
 * is ending, so only the second failure in a row is fatal.
 */
static bool is_fatal(struct client *client, int code)
{
	bool odd = client->odd;

	client->odd = code == EPROTO;
	if (code == EPROTONOSUPPORT || code == EPERM)
		return true;
	return !client->was_ready &&
	       (code == EACCES || (code == EPROTO && odd));
}

static void client_note_lost(void *arg, int code, const char *why)
{
	struct client *client = arg;
	struct pending *pending;
	struct error fatal;
	char text[200];

	if (client->dead)
		return;
	if (client->ready) {
		client->ready = false;
		client->absent_ms = clock_mono_ms();
	}
	TAILQ_FOREACH(pending, &client->pending, next)
		pending->sent = false;
	error_set(&client->why, code, "%s", why);
	if (is_fatal(client, code)) {
		error_set(&fatal, ENOTCONN, "controller %.80s: %s%s",
			  client->endpoint, why,
			  code == EACCES ? "; 'regatta join TOKEN' makes a new "
					   "one"
					 : "");
		client_give_up(client, &fatal);
		return;
	}
	if (client->patient && client->was_ready && !client->told) {
		client->told = true;
		snprintf(text, sizeof(text),
			 "lost the controller (%.120s); trying again", why);
		client->notice(client->notice_arg, text);
	}
	kick(client);
}

static void client_take_welcome(struct client *client,
				const struct message_welcome *welcome)
{
	client->ready = true;
	client->ahead_ms = (int64_t)welcome->time_ms - clock_wall_ms();
	if (client->told && client->notice)
		client->notice(client->notice_arg,
			       client->was_ready ? "the controller is back"
						 : "the controller answers");
	client->was_ready = true;
	client->told = false;
	kick(client);
}

static struct pending *pending_find(struct client *client, uint64_t number)
{
	struct pending *pending;

	TAILQ_FOREACH(pending, &client->pending, next)
		if (pending->number == number)
			return pending;
	return NULL;
}

static void take_reply(struct client *client, struct pending *pending,
		       const struct message_reply *reply, const void *payload,
		       size_t size)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct error err;

	if (answer_read(&answer,
			message_reply_schema(pending->type, pending->body),
			&reply->body, &err) < 0) {
		pending_finish(client, pending, NULL, &err);
		return;
	}
	answer.payload = (void *)payload;
	answer.size = size;
	pending_finish(client, pending, &answer, NULL);
	answer.payload = NULL; /* borrowed */
}

static void client_take_message(void *arg, enum message_type type, void *body,
				const void *payload, size_t size)
{
	struct client *client = arg;
	struct pending *pending;

	if (client->dead)
		return;
	if (type == MESSAGE_WELCOME) {
		client_take_welcome(client, body);
	} else if (type == MESSAGE_REPLY) {
		struct message_reply *reply = body;

		pending = pending_find(client, reply->request);
		if (pending)
			take_reply(client, pending, reply, payload, size);
	} else if (type == MESSAGE_REFUSED) {
		struct message_refused *refused = body;
		struct error err;

		pending = pending_find(client, refused->request);
		error_set(&err,
			  refused->code > 0 && refused->code < 4096
				  ? (int)refused->code
				  : EIO,
			  "%s", refused->text);
		if (pending)
			pending_finish(client, pending, NULL, &err);
	}
}

static void on_unkept(void *arg, const char *why)
{
	struct client *client = arg;

	if (!client->unkept)
		fprintf(stderr,
			"regatta: the controller's next key cannot be saved: "
			"%s; set it by hand once the controller uses it\n",
			why);
	client->unkept = true;
}

/* Making and using. */

struct client *client_new(sd_event *loop, const struct connection *connection,
			  struct error *err)
{
	static const struct wire_client_handler handler = {
		.connected = client_greet,
		.message = client_take_message,
		.lost = client_note_lost,
		.unkept = on_unkept,
	};
	owned(client_free) struct client *client = calloc(1, sizeof(*client));

	if (!client) {
		error_nomem(err, "client");
		return NULL;
	}
	TAILQ_INIT(&client->pending);
	client->loop = sd_event_ref(loop);
	client->absent_ms = clock_mono_ms();
	client->tokens = RATE_BURST;
	client->tokens_ms = clock_mono_ms();
	snprintf(client->endpoint, sizeof(client->endpoint), "%s",
		 connection->endpoint);
	memcpy(client->public, connection->key.public, KEY_TEXT_SIZE);
	client->wire =
		wire_client_new(loop, NULL, connection->endpoint,
				&connection->key, connection->server_public,
				&handler, client, err);
	if (!client->wire ||
	    (connection->keys_file[0] &&
	     wire_client_remember(client->wire, connection->keys_file, err) <
		     0))
		return NULL;
	return take(client);
}

void client_free(struct client *client)
{
	struct pending *pending;

	if (!client)
		return;
	while ((pending = TAILQ_FIRST(&client->pending))) {
		TAILQ_REMOVE(&client->pending, pending, next);
		pending_free(pending);
	}
	loop_source_free(&client->tick);
	wire_client_free(client->wire);
	sd_event_unref(client->loop);
	free(client);
}

const char *client_public(const struct client *client)
{
	return client->public;
}

const char *client_server_public(const struct client *client)
{
	return wire_client_server(client->wire)->current;
}

sd_event *client_loop(struct client *client)
{
	return client->loop;
}

void client_set_notice(struct client *client, client_notice_fn *notice,
		       void *arg)
{
	client->notice = notice;
	client->notice_arg = arg;
}

void client_set_patient(struct client *client, client_notice_fn *notice,
			void *arg)
{
	client->patient = true;
	client_set_notice(client, notice, arg);
}

/* Copy a message's struct to the heap. Encoding it also checks its limits. */
static int copy_body(enum message_type type, const void *body, void **copy,
		     struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(MESSAGE_TEXT_MAX);
	enum message_type same;

	if (message_encode(type, body, &text, err) < 0)
		return -1;
	return message_decode(text.data, text.size, &same, copy, err);
}

int client_send(struct client *client, enum message_type type, void *body,
		const void *payload, size_t size, uint32_t wait_ms,
		client_done_fn *done, void *arg, uint64_t *number,
		struct error *err)
{
	owned(pending_free) struct pending *pending = NULL;

	if (client->dead)
		return error_set(err, client->why.code, "%s", client->why.text);
	if (size > MESSAGE_PAYLOAD_MAX)
		return error_set(err, E2BIG, "%zu bytes; expected at most %d",
				 size, MESSAGE_PAYLOAD_MAX);
	pending = calloc(1, sizeof(*pending));
	if (!pending)
		return error_nomem(err, "request");
	*(uint64_t *)body = client->numbers + 1;
	pending->number = client->numbers + 1;
	pending->type = type;
	pending->wait_ms = wait_ms;
	pending->done = done;
	pending->arg = arg;
	if (copy_body(type, body, &pending->body, err) < 0)
		return -1;
	if (payload) {
		pending->payload = malloc(size ? size : 1);
		if (!pending->payload)
			return error_nomem(err, "request");
		memcpy(pending->payload, payload, size);
		pending->size = size;
	}
	client->numbers++;
	if (number)
		*number = pending->number;
	TAILQ_INSERT_TAIL(&client->pending, pending, next);
	pending = NULL;
	kick(client);
	return 0;
}

void client_drop(struct client *client, uint64_t number)
{
	struct pending *pending = pending_find(client, number);

	if (!pending)
		return;
	TAILQ_REMOVE(&client->pending, pending, next);
	pending_free(pending);
}

int client_turn(struct client *client, struct error *err)
{
	int rc;

	if (!client->interrupted) {
		rc = sd_event_run(client->loop, UINT64_MAX);
		if (rc < 0)
			return error_set(err, -rc, "event loop");
	}
	if (!client->interrupted)
		return 0;
	client->interrupted = false;
	return error_set(err, EINTR, "interrupted");
}

int client_look(struct client *client, struct error *err)
{
	int rc = 0;

	if (!client->interrupted)
		rc = sd_event_run(client->loop, 0);
	if (rc < 0)
		return error_set(err, -rc, "event loop");
	return client->interrupted ? client_turn(client, err) : 0;
}

void client_interrupt(struct client *client)
{
	client->interrupted = true;
}

int64_t client_clock_ms(const struct client *client)
{
	return clock_wall_ms() + client->ahead_ms;
}
