/* evil.c - a party that sends what no honest one would, by the protocol's own
 * tables.
 *
 *	evil send ENDPOINT SERVER_KEY AUTHORIZED ROLE
 *	evil order ENDPOINT KEY_FILE
 *	evil tokens ENDPOINT SERVER_KEY KEY_FILE COUNT
 *
 * For each message there is one that is good, and for each of its fields some
 * that are not: missing, of another type, too long, too many, too deep, paths
 * and control characters; and bytes that are cut or changed. `send` sends each
 * to a controller in a session of its own, with a key of that role that it
 * writes into the list AUTHORIZED (of joiners: with the tokens that stand
 * there, one a line); messages that the role may not send are sent once.
 * `order` is a controller that sends each to the agent that connects. Both end
 * by a heartbeat, which somebody who lives answers. They print how many
 * attempts there were, and what became of them. Exit 1: somebody did not answer
 * any more.
 *
 * `tokens` is honest: an operator's session that prints so many new tokens.
 */
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "protocol/message/message.h"
#include "protocol/wire/join.h"
#include "tests/wire_json.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zmq.h>

#define ROOM (8 << 20)
#define ANSWER_MS 20000 /* a controller under sanitizers is slow */
#define BEAT_MS 50      /* how often an agent is to show that it lives */
#define LONG 70000
#define DEEP 150
#define MUTANTS 12  /* of the bytes of each message */
#define DEPTH_MAX 3 /* of fields in fields */
#define KEYS_MAX 20000

enum outcome { ANSWERED, REFUSED, ENDED, IGNORED, SILENT, OUTCOMES };
static const char *const outcome_names[] = { "answered", "refused",
					     "sessions ended", "ignored",
					     "without a sign of life" };

struct evil {
	void *zmq, *socket;
	const char *endpoint;
	char server[KEY_TEXT_SIZE];
	struct key *keys;
	size_t key; /* the next one */
	enum role role;
	bool orders; /* we are the controller */
	uint8_t id[256];
	int id_size; /* of the agent that is here; 0: none */
	bool hello;  /* it said hello, and was not welcomed */
	uint64_t random;
	unsigned long outcomes[OUTCOMES];
};

/* What is sent. */

static cJSON *good_object(const struct schema *schema);

static cJSON *good_value(const struct field *field)
{
	cJSON *list;

	switch (field->kind) {
	case FIELD_BOOL:
		return cJSON_CreateTrue();
	case FIELD_STRING:
		return cJSON_CreateString("x");
	case FIELD_STRINGS:
	case FIELD_NUMBERS:
		list = cJSON_CreateArray();
		cJSON_AddItemToArray(list, field->kind == FIELD_STRINGS
						   ? cJSON_CreateString("x")
						   : cJSON_CreateNumber(1));
		return list;
	case FIELD_JSON:
	case FIELD_PACKED:
		return cJSON_CreateObject();
	case FIELD_STRUCT:
	case FIELD_POINTER:
		return good_object(field->schema);
	case FIELD_LIST:
		list = cJSON_CreateArray();
		cJSON_AddItemToArray(list, good_object(field->schema));
		return list;
	case FIELD_ENUM:
		return cJSON_CreateString(field->names[1]);
	default:
		return cJSON_CreateNumber(1);
	}
}

static void good_members(cJSON *object, const struct schema *schema)
{
	for (size_t i = 0; i < schema->count; i++)
		if (!schema->fields[i].optional)
			cJSON_AddItemToObject(object, schema->fields[i].name,
					      good_value(&schema->fields[i]));
}

static cJSON *good_object(const struct schema *schema)
{
	cJSON *object = cJSON_CreateObject();

	good_members(object, schema);
	return object;
}

static cJSON *good_message(enum message_type type)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddStringToObject(object, "type", message_kinds[type].name);
	good_members(object, message_kinds[type].schema);
	/* Else an agent refuses every task for its clock alone. */
	if (type == MESSAGE_WELCOME || type == MESSAGE_HEARTBEAT)
		cJSON_ReplaceItemInObject(object, "time_ms",
					  cJSON_CreateNumber(
						  (double)clock_wall_ms()));
	if (type == MESSAGE_HELLO)
		cJSON_ReplaceItemInObject(object, "version",
					  cJSON_CreateNumber(PROTOCOL_VERSION));
	return object;
}

static cJSON *many(cJSON *(*item)(void))
{
	cJSON *list = cJSON_CreateArray();

	for (int i = 0; i < LONG; i++)
		cJSON_AddItemToArray(list, item());
	return list;
}

static cJSON *deep(void)
{
	cJSON *value = cJSON_CreateArray();

	for (int i = 0; i < DEEP; i++) {
		cJSON *list = cJSON_CreateArray();

		cJSON_AddItemToArray(list, value);
		value = list;
	}
	return value;
}

/* NULL: the field is left out, or there is no such one (*end). */
static cJSON *bad_value(int which, bool *end)
{
	static const double numbers[] = { -1, 0, 1e300, 4294967296.0, 0.5 };
	static const char *const texts[] = {
		"",
		"../../../../etc/shadow",
		"/",
		"a\x01\x1b[2J\n\xff",
		"18446744073709551615",
		"-9223372036854775808",
		"x@sha256:0000",
		"$(reboot)",
		"%s%s%s%n",
	};
	const int numbers_count = sizeof(numbers) / sizeof(numbers[0]);
	const int texts_count = sizeof(texts) / sizeof(texts[0]);
	cJSON *value;
	char *text;

	*end = false;
	if (which < numbers_count)
		return cJSON_CreateNumber(numbers[which]);
	which -= numbers_count;
	if (which < texts_count)
		return cJSON_CreateString(texts[which]);
	switch (which - texts_count) {
	case 0:
		return NULL;
	case 1:
		return cJSON_CreateNull();
	case 2:
		return cJSON_CreateArray();
	case 3:
		return cJSON_CreateObject();
	case 4:
		return deep();
	case 5:
		return many(cJSON_CreateNull);
	case 6:
		return many(cJSON_CreateObject);
	case 7:
		text = calloc(1, LONG + 1);
		memset(text, 'A', LONG);
		value = cJSON_CreateString(text);
		free(text);
		return value;
	default:
		*end = true;
		return NULL;
	}
}

static void encode(const cJSON *object, struct buffer *bytes)
{
	char *text = cJSON_PrintUnformatted(object);

	buffer_init(bytes, ROOM);
	if (!wire_from_json(text, bytes)) {
		buffer_clear(bytes);
		buffer_text(bytes, text, NULL);
	}
	free(text);
}

static uint64_t next_random(struct evil *evil)
{
	evil->random ^= evil->random << 13;
	evil->random ^= evil->random >> 7;
	return evil->random ^= evil->random << 17;
}

/* Sessions. */

static int set_int(void *socket, int option, int value)
{
	return zmq_setsockopt(socket, option, &value, sizeof(value));
}

static void send_frame(struct evil *evil, const void *data, size_t size,
		       int more)
{
	if (evil->orders)
		zmq_send(evil->socket, evil->id, (size_t)evil->id_size,
			 ZMQ_SNDMORE);
	zmq_send(evil->socket, data, size, more ? ZMQ_SNDMORE : 0);
}

static void send_object(struct evil *evil, cJSON *object)
{
	struct buffer bytes;

	encode(object, &bytes);
	send_frame(evil, bytes.data, bytes.size, 0);
	buffer_clear(&bytes);
	cJSON_Delete(object);
}

static void send_hello(struct evil *evil)
{
	cJSON *hello = cJSON_CreateObject();

	cJSON_AddStringToObject(hello, "type", "hello");
	cJSON_AddNumberToObject(hello, "version", PROTOCOL_VERSION);
	cJSON_AddStringToObject(hello, "software", "evil");
	if (evil->role == ROLE_AGENT) {
		cJSON_AddStringToObject(hello, "instance", "x");
		cJSON_AddStringToObject(hello, "cluster", "regatta");
		cJSON_AddStringToObject(hello, "address", "127.0.0.1");
		cJSON_AddStringToObject(hello, "vendor", "cpu");
		cJSON_AddNumberToObject(hello, "devices", 0);
	}
	send_object(evil, hello);
}

/* The type of the next message that comes; "": none. */
static void hear(struct evil *evil, char type[64], bool *whole)
{
	static char bytes[ROOM];
	struct buffer text;
	int got, more = 1;
	size_t size = sizeof(more);
	cJSON *object;
	const cJSON *word;

	type[0] = 0;
	*whole = false;
	if (evil->orders) {
		got = zmq_recv(evil->socket, evil->id, sizeof(evil->id), 0);
		evil->id_size = got > 0 ? got : 0;
		if (got <= 0)
			return;
	}
	got = zmq_recv(evil->socket, bytes, sizeof(bytes), 0);
	if (got < 0)
		return;
	for (zmq_getsockopt(evil->socket, ZMQ_RCVMORE, &more, &size); more;
	     zmq_getsockopt(evil->socket, ZMQ_RCVMORE, &more, &size))
		zmq_recv(evil->socket, NULL, 0, 0);
	buffer_init(&text, ROOM);
	wire_to_json(bytes, (size_t)got, &text);
	object = cJSON_Parse(text.data);
	word = cJSON_GetObjectItemCaseSensitive(object, "type");
	snprintf(type, 64, "%s",
		 cJSON_IsString(word) ? word->valuestring : "?");
	word = cJSON_GetObjectItemCaseSensitive(object, "request");
	*whole = !cJSON_IsNumber(word) || word->valuedouble == 0;
	cJSON_Delete(object);
	buffer_clear(&text);
}

static bool hear_type(struct evil *evil, const char *wanted)
{
	char type[64];
	bool whole;

	do
		hear(evil, type, &whole);
	while (type[0] && strcmp(type, wanted) != 0);
	return type[0];
}

/* A new session; false: there is none. */
static bool begin(struct evil *evil)
{
	const struct key *key;
	int zero = 0;

	if (evil->orders) {
		cJSON *welcome;

		if (evil->id_size && !evil->hello)
			return true;
		if (!evil->hello && !hear_type(evil, "hello"))
			return false;
		evil->hello = false;
		welcome = good_message(MESSAGE_WELCOME);
		cJSON_ReplaceItemInObject(welcome, "version",
					  cJSON_CreateNumber(PROTOCOL_VERSION));
		cJSON_ReplaceItemInObject(welcome, "heartbeat_ms",
					  cJSON_CreateNumber(BEAT_MS));
		send_object(evil, welcome);
		return true;
	}
	if (evil->socket)
		zmq_close(evil->socket);
	key = &evil->keys[evil->key++];
	evil->socket = zmq_socket(evil->zmq, ZMQ_DEALER);
	zmq_setsockopt(evil->socket, ZMQ_CURVE_SERVERKEY, evil->server,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(evil->socket, ZMQ_CURVE_PUBLICKEY, key->public,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(evil->socket, ZMQ_CURVE_SECRETKEY, key->secret,
		       KEY_TEXT_SIZE);
	zmq_setsockopt(evil->socket, ZMQ_LINGER, &zero, sizeof(zero));
	set_int(evil->socket, ZMQ_RCVTIMEO, ANSWER_MS);
	set_int(evil->socket, ZMQ_SNDTIMEO, ANSWER_MS);
	if (zmq_connect(evil->socket, evil->endpoint) < 0)
		return false;
	send_hello(evil);
	return hear_type(evil, "welcome");
}

/* What becomes of what was sent, until a heartbeat is answered. */
static enum outcome listen_to(struct evil *evil)
{
	enum outcome outcome = IGNORED;
	char type[64];
	bool whole;

	for (;;) {
		hear(evil, type, &whole);
		if (!type[0])
			return SILENT;
		if (!strcmp(type, "heartbeat"))
			return outcome;
		if (evil->orders && !strcmp(type, "hello")) {
			/* It came anew: what came before was too much. */
			evil->hello = true;
			return ENDED;
		}
		if (!strcmp(type, "refused") && whole)
			return ENDED;
		if (!evil->orders)
			outcome = !strcmp(type, "refused") ? REFUSED : ANSWERED;
	}
}

static bool attempt(struct evil *evil, enum message_type type, const void *data,
		    size_t size, bool payload)
{
	cJSON *beat = good_message(MESSAGE_HEARTBEAT);
	enum outcome outcome = SILENT;

	if (begin(evil)) {
		send_frame(evil, data, size, payload);
		if (payload)
			zmq_send(evil->socket, data, size < 100 ? size : 100,
				 0);
		send_object(evil, beat);
		outcome = listen_to(evil);
	} else {
		cJSON_Delete(beat);
	}
	evil->outcomes[outcome]++;
	if (outcome == SILENT)
		fprintf(stderr, "evil: no answer after %s: %.*s\n",
			message_kinds[type].name, size < 200 ? (int)size : 200,
			(const char *)data);
	return outcome != SILENT;
}

static bool attempt_object(struct evil *evil, enum message_type type,
			   const cJSON *object)
{
	struct buffer bytes;
	bool good;

	encode(object, &bytes);
	good = attempt(evil, type, bytes.data, bytes.size,
		       message_kinds[type].payload);
	buffer_clear(&bytes);
	return good;
}

static bool attempt_members(struct evil *evil, enum message_type type,
			    const cJSON *message, cJSON *object,
			    const struct schema *schema, int depth);

/* Everything that the field should not be, and what is inside of it. */
static bool attempt_field(struct evil *evil, enum message_type type,
			  const cJSON *message, cJSON *object,
			  const struct field *field, int depth)
{
	cJSON *good = good_value(field);
	cJSON *inside = cJSON_IsArray(good) ? good->child : good;
	bool lives = true, end = false;

	for (int which = 0; lives && !end; which++) {
		cJSON *value = bad_value(which, &end);

		if (value)
			cJSON_AddItemToObject(object, field->name, value);
		if (!end)
			lives = attempt_object(evil, type, message);
		cJSON_DeleteItemFromObject(object, field->name);
	}
	cJSON_AddItemToObject(object, field->name, good);
	if (lives && field->schema && depth < DEPTH_MAX)
		lives = attempt_members(evil, type, message, inside,
					field->schema, depth + 1);
	if (field->optional)
		cJSON_DeleteItemFromObject(object, field->name);
	return lives;
}

static bool attempt_members(struct evil *evil, enum message_type type,
			    const cJSON *message, cJSON *object,
			    const struct schema *schema, int depth)
{
	for (size_t f = 0; f < schema->count; f++) {
		cJSON_DeleteItemFromObject(object, schema->fields[f].name);
		if (!attempt_field(evil, type, message, object,
				   &schema->fields[f], depth))
			return false;
	}
	return true;
}

static bool attempt_bytes(struct evil *evil, enum message_type type)
{
	cJSON *object = good_message(type);
	struct buffer bytes;
	bool good = true;

	encode(object, &bytes);
	cJSON_Delete(object);
	for (int i = 0; i < MUTANTS && good; i++) {
		size_t at = next_random(evil) % bytes.size;
		char old = bytes.data[at];

		bytes.data[at] = (char)next_random(evil);
		good = attempt(evil, type, bytes.data,
			       i % 3 ? bytes.size : at + 1,
			       message_kinds[type].payload != !(i % 5));
		bytes.data[at] = old;
	}
	buffer_clear(&bytes);
	return good;
}

static bool attempt_all(struct evil *evil)
{
	bool lives = true;

	for (int type = 1; type < MESSAGE_TYPES && lives; type++) {
		cJSON *message = good_message(type);

		if (type == MESSAGE_WELCOME && evil->orders) {
			cJSON_Delete(message);
			continue;
		}
		lives = attempt_object(evil, type, message);
		/* Tokens are few, and a hello is the same for all roles. */
		if (evil->role == ROLE_JOINER && type == MESSAGE_HELLO) {
			cJSON_Delete(message);
			continue;
		}
		if (lives && message_kinds[type].senders & evil->role)
			lives = attempt_members(evil, type, message, message,
						message_kinds[type].schema,
						0) &&
				attempt_bytes(evil, type);
		cJSON_Delete(message);
	}
	return lives;
}

/* Beginning. */

/* Keys without number, since a session that ends costs its key ten seconds. */
static int make_keys(struct evil *evil, const char *list)
{
	FILE *file = fopen(list, "ae");
	char name[KEY_NAME_SIZE], line[256];

	if (!file)
		return -1;
	for (size_t i = 0; i < KEYS_MAX; i++) {
		snprintf(name, sizeof(name), "evil-%s-%zu",
			 role_name(evil->role), i);
		key_generate(&evil->keys[i], name, evil->role, NULL);
		key_line(&evil->keys[i], line, sizeof(line));
		fputs(line, file);
	}
	return fclose(file);
}

static int read_tokens(struct evil *evil, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[JOIN_TOKEN_MAX + 2];
	struct join_token token;
	size_t count = 0;

	if (!file)
		return -1;
	for (; count < KEYS_MAX && fgets(line, sizeof(line), file); count++) {
		if (join_token_read(&token, line, NULL) < 0)
			break;
		memcpy(evil->keys[count].public, token.public, KEY_TEXT_SIZE);
		memcpy(evil->keys[count].secret, token.secret, KEY_TEXT_SIZE);
	}
	return fclose(file);
}

static int begin_sending(struct evil *evil, char **words)
{
	struct error err;

	evil->endpoint = words[0];
	evil->role = role_from(words[3]);
	if (key_public(words[1], evil->server, &err) < 0)
		return -1;
	if (evil->role == ROLE_JOINER)
		return read_tokens(evil, words[2]);
	return make_keys(evil, words[2]);
}

static int begin_ordering(struct evil *evil, char **words)
{
	struct error err;

	evil->orders = true;
	evil->role = ROLE_CONTROLLER;
	if (key_load(&evil->keys[0], words[1], &err) < 0)
		return -1;
	evil->socket = zmq_socket(evil->zmq, ZMQ_ROUTER);
	set_int(evil->socket, ZMQ_CURVE_SERVER, 1);
	zmq_setsockopt(evil->socket, ZMQ_CURVE_SECRETKEY, evil->keys[0].secret,
		       KEY_TEXT_SIZE);
	set_int(evil->socket, ZMQ_LINGER, 0);
	set_int(evil->socket, ZMQ_RCVTIMEO, ANSWER_MS);
	return zmq_bind(evil->socket, words[0]);
}

static void print_outcomes(const struct evil *evil)
{
	unsigned long attempts = 0;

	for (int i = 0; i < OUTCOMES; i++)
		attempts += evil->outcomes[i];
	printf("%lu attempts:", attempts);
	for (int i = 0; i < OUTCOMES; i++)
		printf(" %lu %s%s", evil->outcomes[i], outcome_names[i],
		       i + 1 < OUTCOMES ? "," : "\n");
}

/* Tokens. */

static bool make_token(struct evil *evil)
{
	struct join_token token = { 0 };
	cJSON *message = cJSON_CreateObject();
	char line[JOIN_TOKEN_MAX];

	snprintf(token.endpoint, sizeof(token.endpoint), "%s", evil->endpoint);
	memcpy(token.server_public, evil->server, KEY_TEXT_SIZE);
	zmq_curve_keypair(token.public, token.secret);
	cJSON_AddStringToObject(message, "type", "token");
	cJSON_AddNumberToObject(message, "request", 1);
	cJSON_AddStringToObject(message, "public", token.public);
	cJSON_AddStringToObject(message, "role", "agent");
	send_object(evil, message);
	if (!hear_type(evil, "reply") ||
	    join_token_text(&token, line, NULL) < 0)
		return false;
	puts(line);
	return true;
}

/* words: as after `tokens`. */
static bool make_tokens(struct evil *evil, char **words)
{
	unsigned long count = strtoul(words[3], NULL, 10), made = 0;

	evil->endpoint = words[0];
	evil->role = ROLE_OPERATOR;
	if (key_public(words[1], evil->server, NULL) < 0 ||
	    key_load(&evil->keys[0], words[2], NULL) < 0 || !begin(evil))
		return false;
	while (made < count && make_token(evil))
		made++;
	return made == count;
}

int main(int argc, char **argv)
{
	struct evil evil = { .zmq = zmq_ctx_new(),
			     .random = 88172645463325252ULL };
	bool good;
	int rc = -1;

	evil.keys = calloc(KEYS_MAX, sizeof(*evil.keys));
	if (argc == 6 && !strcmp(argv[1], "send"))
		rc = begin_sending(&evil, argv + 2);
	else if (argc == 4 && !strcmp(argv[1], "order"))
		rc = begin_ordering(&evil, argv + 2);
	else if (argc == 6 && !strcmp(argv[1], "tokens"))
		rc = 0;
	if (rc < 0) {
		fputs("usage: evil send ENDPOINT SERVER_KEY AUTHORIZED ROLE | "
		      "order ENDPOINT KEY_FILE | "
		      "tokens ENDPOINT SERVER_KEY KEY_FILE COUNT\n",
		      stderr);
		return 2;
	}
	if (!strcmp(argv[1], "tokens")) {
		good = make_tokens(&evil, argv + 2);
	} else {
		good = attempt_all(&evil);
		print_outcomes(&evil);
	}
	if (evil.socket)
		zmq_close(evil.socket);
	zmq_ctx_term(evil.zmq);
	free(evil.keys);
	return !good;
}
