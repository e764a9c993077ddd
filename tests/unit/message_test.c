/* message_test.c - every message: there and back, and refused field by field.
 */
#include "protocol/message/message.h"
#include "tests/tap.h"
#include "tests/wire_json.h"

#include <errno.h>

static cJSON *sample(const struct schema *schema, bool wire);

/* A value of each kind that is not the default: the largest, or, for the wire,
 * where they are no texts of digits, one that JSON has as a number.
 */
static cJSON *sample_value(const struct field *field, bool wire)
{
	cJSON *list;

	switch (field->kind) {
	case FIELD_BOOL:
		return cJSON_CreateTrue();
	case FIELD_U32:
		return cJSON_CreateNumber(UINT32_MAX);
	case FIELD_U64:
		return wire ? cJSON_CreateNumber(7)
			    : cJSON_CreateString("18446744073709551615");
	case FIELD_I64:
		return wire ? cJSON_CreateNumber(-7)
			    : cJSON_CreateString("-9223372036854775808");
	case FIELD_DOUBLE:
		return cJSON_CreateNumber(2.5);
	case FIELD_STRING:
		return cJSON_CreateString(field->name);
	case FIELD_STRINGS:
		return cJSON_CreateStringArray((const char *const[]){ "one",
								      "two" },
					       2);
	case FIELD_NUMBERS:
		list = cJSON_CreateArray();
		cJSON_AddItemToArray(list, cJSON_CreateNumber(7));
		if (!wire)
			cJSON_AddItemToArray(list,
					     cJSON_CreateString(
						     "18446744073709551615"));
		return list;
	case FIELD_DOUBLES:
		return cJSON_CreateDoubleArray((const double[]){ 0.5, -2 }, 2);
	case FIELD_TRUTH:
		return cJSON_CreateFalse();
	case FIELD_MAP:
		return cJSON_Parse("{\"a b\":1.5,\"c\":-1}");
	case FIELD_ENUM:
		return cJSON_CreateString(field->names[1]);
	case FIELD_PACKED:
	case FIELD_JSON:
		return cJSON_Parse("{\"any\":[1,\"x\",null]}");
	case FIELD_STRUCT:
	case FIELD_POINTER:
		return sample(field->schema, wire);
	case FIELD_LIST:
		list = cJSON_CreateArray();
		cJSON_AddItemToArray(list, sample(field->schema, wire));
		cJSON_AddItemToArray(list, sample(field->schema, wire));
		return list;
	}
	return NULL;
}

static cJSON *sample(const struct schema *schema, bool wire)
{
	cJSON *object = cJSON_CreateObject();

	for (size_t i = 0; i < schema->count; i++)
		cJSON_AddItemToObject(object, schema->fields[i].name,
				      sample_value(&schema->fields[i], wire));
	return object;
}

/* Are the two structs equal, field by field? */
static bool same(const struct schema *schema, const void *a, const void *b);

static bool same_map(const struct field *field, const char *a, const char *b)
{
	const struct named_number *x = *(void *const *)(a + field->offset);
	const struct named_number *y = *(void *const *)(b + field->offset);
	size_t count = *(const size_t *)(a + field->count_offset);

	if (count != *(const size_t *)(b + field->count_offset))
		return false;
	for (size_t i = 0; i < count; i++)
		if (strcmp(x[i].name, y[i].name) != 0 ||
		    x[i].number != y[i].number)
			return false;
	return true;
}

static bool same_field(const struct field *field, const char *a, const char *b)
{
	const void *x = a + field->offset, *y = b + field->offset;
	const struct strings *s = x, *t = y;
	const struct numbers *m = x, *n = y;
	const struct doubles *d = x, *e = y;
	const struct packed *p = x, *q = y;
	size_t count;

	switch (field->kind) {
	case FIELD_BOOL:
		return *(const bool *)x == *(const bool *)y;
	case FIELD_U32:
	case FIELD_ENUM:
	case FIELD_TRUTH:
		return *(const uint32_t *)x == *(const uint32_t *)y;
	case FIELD_DOUBLES:
		return d->count == e->count &&
		       !memcmp(d->items, e->items,
			       d->count * sizeof(*d->items));
	case FIELD_MAP:
		return same_map(field, a, b);
	case FIELD_NUMBERS:
		return m->count == n->count &&
		       !memcmp(m->items, n->items,
			       m->count * sizeof(*m->items));
	case FIELD_POINTER:
		return same(field->schema, *(void *const *)x,
			    *(void *const *)y);
	case FIELD_U64:
	case FIELD_I64:
		return *(const uint64_t *)x == *(const uint64_t *)y;
	case FIELD_DOUBLE:
		return *(const double *)x == *(const double *)y;
	case FIELD_STRING:
		return !strcmp(*(char *const *)x, *(char *const *)y);
	case FIELD_STRINGS:
		for (size_t i = 0; i < s->count; i++)
			if (i >= t->count || strcmp(s->items[i], t->items[i]))
				return false;
		return s->count == t->count;
	case FIELD_JSON:
		return cJSON_Compare(*(cJSON *const *)x, *(cJSON *const *)y,
				     true);
	case FIELD_PACKED:
		return p->size == q->size &&
		       !memcmp(p->bytes, q->bytes, p->size);
	case FIELD_STRUCT:
		return same(field->schema, x, y);
	case FIELD_LIST:
		count = *(const size_t *)(a + field->count_offset);
		if (count != *(const size_t *)(b + field->count_offset))
			return false;
		for (size_t i = 0; i < count; i++)
			if (!same(field->schema,
				  *(char *const *)x + i * field->schema->size,
				  *(char *const *)y + i * field->schema->size))
				return false;
		return true;
	}
	return false;
}

static bool same(const struct schema *schema, const void *a, const void *b)
{
	for (size_t i = 0; i < schema->count; i++)
		if (!same_field(&schema->fields[i], a, b))
			return false;
	return true;
}

static cJSON *sample_message(enum message_type type)
{
	cJSON *object =
		sample(message_kinds[type].schema, !message_is_text(type));

	cJSON_InsertItemInArray(object, 0,
				cJSON_CreateString(message_kinds[type].name));
	object->child->string = strdup("type");
	return object;
}

/* The tree as it is on the wire, in bytes that the caller clears. */
static void on_wire(const cJSON *object, bool text, struct buffer *out)
{
	struct cbor_bytes_sink bytes;
	char *printed;

	buffer_init(out, MESSAGE_TEXT_MAX);
	if (!text) {
		json_tree_put(object, cbor_bytes_sink(&bytes, out, NULL));
		return;
	}
	printed = cJSON_PrintUnformatted(object);
	buffer_text(out, printed, NULL);
	cJSON_free(printed);
}

static void there_and_back(enum message_type type)
{
	const struct message_kind *kind = &message_kinds[type];
	owned(buffer_clear) struct buffer out = BUFFER_INIT(MESSAGE_TEXT_MAX);
	owned(buffer_clear) struct buffer more = BUFFER_INIT(MESSAGE_TEXT_MAX);
	owned_free void *first = calloc(1, kind->schema->size);
	cJSON *object = sample(kind->schema, false);
	enum message_type got_type = MESSAGE_NONE;
	void *again = NULL;
	struct error err = { 0 };

	ok(codec_from_object(kind->schema, object, first, &err) == 0 &&
		   message_encode(type, first, &out, &err) == 0,
	   "%s is written: %s", kind->name, err.text);
	ok((out.data[0] == '{') == message_is_text(type), "%s is %s",
	   kind->name, message_is_text(type) ? "JSON" : "CBOR");
	ok(message_decode(out.data, out.size, &got_type, &again, &err) == 0 &&
		   got_type == type && same(kind->schema, first, again),
	   "%s is equal after encoding and decoding: %s", kind->name, err.text);
	ok(again && message_encode(type, again, &more, &err) == 0 &&
		   more.size == out.size &&
		   !memcmp(more.data, out.data, out.size),
	   "%s is written as it was read", kind->name);
	message_free(got_type, again);
	codec_clear(kind->schema, first);
	cJSON_Delete(object);
}

/* Decode and delete; is the error EPROTO and does it name the field? */
static bool named(cJSON *object, enum message_type sample_type,
		  const char *field, struct error *err)
{
	owned(buffer_clear) struct buffer bytes;
	enum message_type type = MESSAGE_NONE;
	void *body = NULL;
	int rc;

	on_wire(object, message_is_text(sample_type), &bytes);
	rc = message_decode(bytes.data, bytes.size, &type, &body, err);
	message_free(type, body);
	cJSON_Delete(object);
	return rc < 0 && err->code == EPROTO && !body &&
	       strstr(err->text, field);
}

static void each_field(enum message_type type)
{
	const struct message_kind *kind = &message_kinds[type];

	for (size_t i = 0; i < kind->schema->count; i++) {
		const struct field *field = &kind->schema->fields[i];
		struct error err = { 0 };
		cJSON *object = sample_message(type);

		cJSON_DeleteItemFromObject(object, field->name);
		ok(named(object, type, field->name, &err) == !field->optional,
		   "%s without %s: %s", kind->name, field->name,
		   field->optional ? "is read" : err.text);
		object = sample_message(type);
		cJSON_AddItemToObject(object, field->name,
				      sample_value(field, true));
		ok(named(object, type, field->name, &err), "%s with two %s: %s",
		   kind->name, field->name, err.text);
		if (field->kind == FIELD_JSON || field->kind == FIELD_PACKED)
			continue;
		object = sample_message(type);
		cJSON_ReplaceItemInObject(object, field->name,
					  field->kind == FIELD_BOOL
						  ? cJSON_CreateNumber(1)
						  : cJSON_CreateTrue());
		ok(named(object, type, field->name, &err),
		   "%s with a wrong %s: %s", kind->name, field->name, err.text);
		if (field->kind != FIELD_U32 && field->kind != FIELD_U64 &&
		    field->kind != FIELD_I64)
			continue;
		object = sample_message(type);
		cJSON_ReplaceItemInObject(object, field->name,
					  cJSON_CreateNumber(1e17));
		ok(named(object, type, field->name, &err),
		   "%s with a large %s: %s", kind->name, field->name, err.text);
	}
}

static void odd_fields(enum message_type type)
{
	const char *name = message_kinds[type].name;
	cJSON *object = sample_message(type);
	struct error err = { 0 };

	cJSON_AddTrueToObject(object, "surprise");
	ok(named(object, type, "surprise", &err),
	   "%s with an unknown field: %s", name, err.text);
	object = sample_message(type);
	cJSON_AddStringToObject(object, "type", name);
	ok(named(object, type, "type", &err), "%s with two types: %s", name,
	   err.text);
	object = sample_message(type);
	cJSON_DeleteItemFromObject(object, "type");
	ok(named(object, type, "type", &err), "%s without its type: %s", name,
	   err.text);
}

static void test_table(void)
{
	for (int type = 1; type < MESSAGE_TYPES; type++) {
		const struct message_kind *kind = &message_kinds[type];

		ok(kind->name && kind->schema && kind->senders &&
			   kind->schema->count <= 64,
		   "message %d is described", type);
		for (int other = 1; other < type; other++)
			if (!strcmp(message_kinds[other].name, kind->name))
				ok(false, "%s is there once", kind->name);
		there_and_back((enum message_type)type);
		each_field((enum message_type)type);
		odd_fields((enum message_type)type);
	}
}

/* The struct as the body of a reply, and back. */
static void test_reply_sent(const struct schema *schema, const void *from)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(MESSAGE_REPLY_MAX);
	owned_free void *to = calloc(1, schema->size);
	const struct message_reply reply = { .request = 7,
					     .body = { schema, from } };
	enum message_type type = MESSAGE_NONE;
	struct message_reply *got = NULL;
	struct error err = { 0 };

	ok(message_encode(MESSAGE_REPLY, &reply, &out, &err) == 0 &&
		   message_decode(out.data, out.size, &type, (void **)&got,
				  &err) == 0 &&
		   got->request == 7 &&
		   codec_unpack(schema, &got->body, to, &err) == 0 &&
		   same(schema, from, to),
	   "%s arrives in a message: %s", schema->name, err.text);
	message_free(type, got);
	codec_clear(schema, to);
}

/* Every reply: there and back, within its bound. */
static void test_reply(const struct schema *schema)
{
	cJSON *object = sample(schema, false), *again;
	char *text = cJSON_PrintUnformatted(object);
	owned_free void *first = calloc(1, schema->size);
	owned_free void *second = calloc(1, schema->size);
	struct error err = { 0 };
	char *printed;

	ok(codec_from_object(schema, object, first, &err) == 0,
	   "%s is read: %s", schema->name, err.text);
	again = codec_object(schema, first, &err);
	printed = cJSON_PrintUnformatted(again);
	is(printed, text, "%s is written as it was read", schema->name);
	ok(strlen(text) <= codec_bound(schema, first),
	   "%s is no longer than was said", schema->name);
	ok(codec_copy(schema, first, second, &err) == 0 &&
		   same(schema, first, second),
	   "a copy of %s is equal", schema->name);
	test_reply_sent(schema, first);
	codec_clear(schema, first);
	codec_clear(schema, second);
	cJSON_free(printed);
	cJSON_Delete(again);
	cJSON_AddTrueToObject(object, "surprise");
	ok(codec_from_object(schema, object, first, &err) < 0 &&
		   strstr(err.text, "surprise"),
	   "%s with an unknown field is refused: %s", schema->name, err.text);
	ok(codec_from_other(schema, object, first, &err) == 0,
	   "%s of a newer controller is read: %s", schema->name, err.text);
	codec_clear(schema, first);
	cJSON_free(text);
	cJSON_Delete(object);
	object = cJSON_CreateObject();
	ok(codec_from_other(schema, object, first, &err) == 0,
	   "%s of an older one, too", schema->name);
	codec_clear(schema, first);
	cJSON_Delete(object);
}

/* Whatever a field is, another type is refused and the field is named. */
static void test_reply_types(const struct schema *schema)
{
	owned_free void *to = calloc(1, schema->size);

	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];
		cJSON *object = sample(schema, false);
		struct error err = { 0 };

		if (field->kind != FIELD_JSON) {
			cJSON_ReplaceItemInObject(object, field->name,
						  field->kind == FIELD_BOOL
							  ? cJSON_CreateNumber(
								    1)
							  : cJSON_CreateTrue());
			ok(codec_from_other(schema, object, to, &err) < 0 &&
				   strstr(err.text, field->name),
			   "%s with a wrong %s: %s", schema->name, field->name,
			   err.text);
		}
		cJSON_Delete(object);
	}
}

static void test_replies(void)
{
	for (int type = 1; type < MESSAGE_TYPES; type++) {
		const struct schema *schema = message_kinds[type].reply;

		if (schema) {
			test_reply(schema);
			test_reply_types(schema);
		}
	}
	for (int kind = 1; kind < QUERY_KINDS; kind++) {
		ok(query_names[kind] && query_replies[kind],
		   "query %d has a name and a reply", kind);
		test_reply(query_replies[kind]);
		test_reply_types(query_replies[kind]);
	}
}

static void not_a_message(const char *text, size_t size, const char *want)
{
	enum message_type type = MESSAGE_NONE;
	void *body = NULL;
	struct error err = { 0 };

	ok(message_decode(text, size, &type, &body, &err) < 0 &&
		   err.code == EPROTO && !type && !body,
	   "%.24s is refused", text);
	is(err.text, want, "in words");
}

static void test_not_messages(void)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{ "", "message: not CBOR, or truncated, at byte 0" },
		{ "{", "message: not JSON, at byte 0" },
		{ "{\"a\":\"hello\"}", "type: 'nothing' is not a message" },
		{ "{\"type\":7}", "type: 'nothing' is not a message" },
		{ "{\"type\":\"Hello\"}", "type: 'Hello' is not a message" },
		{ "{\"type\":\"hello\\u0000\"}",
		  "message: a NUL character, at byte 14" },
		{ "{\"type\":\"heartbeat\",\"time_ms\":1}",
		  "heartbeat: JSON is not valid here; expected CBOR" },
		{ "{\"type\":\"hello\"} x",
		  "message: unexpected text after the JSON, at byte 17" },
		{ "{\"type\":\"\\u001b[2J\"}",
		  "type: '?[2J' is not a message" },
		{ "\x07", "type: 'nothing' is not a message" },
		{ "\xa0", "type: 'nothing' is not a message" },
		{ "\xa1\x61x\x01", "type: 'nothing' is not a message" },
		{ "\xa1\x64type\x01", "type: 'nothing' is not a message" },
		{ "\xa1\x64type\x64Stop", "type: 'Stop' is not a message" },
		{ "\xa1\x64type\x65hello",
		  "hello: CBOR is not valid here; expected JSON" },
		{ "\xa1\x64type\x64stop", "stop: job: missing" },
		{ "\xa2\x64type\x64stop\x63job",
		  "stop: not CBOR, or truncated, at byte 15" },
		{ "\xa1\x64type\x66resync\x01",
		  "message: unexpected bytes after it, at byte 13" },
		{ "\xa2\x64type\x66resync\x01\x01",
		  "resync: message_resync: a field without a name" },
		{ "\xa2\x64type\x66resync\x66unused\x41x",
		  "resync: unsupported kind of CBOR, at byte 20" },
		{ "\xbf\x64type\x66resync\xff",
		  "message: unsupported kind of CBOR, at byte 0" },
		{ "\xa2\x64type\x66report\x65tasks\x9a\xff\xff\xff\xff",
		  "report: not CBOR, or truncated, at byte 19" },
		{ "\xbb\xff\xff\xff\xff\xff\xff\xff\xff",
		  "message: not CBOR, or truncated, at byte 0" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		not_a_message(cases[i].text, strlen(cases[i].text),
			      cases[i].want);
	not_a_message("\xa2\x64type\x64stop\x66reason\x63x\0y", 24,
		      "stop: a NUL character in the text at byte 18");
}

/* Several, one behind the other: each is read, and what is left. */
static void test_following(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1000);
	struct message_discard discard = { .job = 7, .attempt = 1 };
	enum message_type type = MESSAGE_NONE;
	const char *data;
	size_t size;
	void *body = NULL;

	for (int i = 0; i < 3; i++, discard.job++)
		message_encode(MESSAGE_DISCARD, &discard, &out, NULL);
	data = out.data;
	size = out.size;
	for (uint64_t job = 7; job < 10; job++) {
		ok(message_next(&data, &size, &type, &body, NULL) == 0 &&
			   type == MESSAGE_DISCARD &&
			   ((struct message_discard *)body)->job == job,
		   "message %d of three is read", (int)job - 6);
		message_free(type, body);
	}
	is_int((long long)size, 0, "and nothing is left");
	not_a_message(out.data, out.size,
		      "message: unexpected bytes after it, at byte 34");
}

/* A message of exactly this many bytes. */
static void padded(bool good, const char *want, enum message_type type,
		   size_t size)
{
	owned(buffer_clear) struct buffer out =
		BUFFER_INIT(MESSAGE_REPLY_MAX + 1000);
	cJSON *filling = cJSON_CreateString("");
	struct message_reply reply = { .body = packed_tree(filling) };
	const struct message_kind *kind = &message_kinds[type];
	struct message_hello hello = { .software = (char *)"x" };
	enum message_type got = MESSAGE_NONE;
	void *body = NULL;
	struct error err = { 0 };
	int rc;

	message_encode(type,
		       type == MESSAGE_HELLO ? (void *)&hello : (void *)&reply,
		       &out, NULL);
	while (type == MESSAGE_HELLO && out.size < size)
		buffer_text(&out, " ", NULL);
	if (type == MESSAGE_REPLY) {
		char *text = malloc(size);

		/* The text's size takes four bytes more than that of none. */
		memset(text, 'x', size);
		text[size - out.size - 4] = 0;
		cJSON_SetValuestring(filling, text);
		free(text);
		free(reply.body.bytes);
		reply.body = packed_tree(filling);
		out.size = 0;
		message_encode(type, &reply, &out, NULL);
	}
	rc = message_decode(out.data, out.size, &got, &body, &err);
	ok(out.size == size && good == (rc == 0), "%s of %zu bytes is %s",
	   kind->name, size, good ? "read" : "refused");
	is(err.text, want, "with the right words");
	message_free(got, body);
	free(reply.body.bytes);
	cJSON_Delete(filling);
}

static void test_limits(void)
{
	padded(true, "", MESSAGE_HELLO, MESSAGE_TEXT_MAX);
	padded(false, "hello of 1048577 bytes; expected at most 1048576",
	       MESSAGE_HELLO, MESSAGE_TEXT_MAX + 1);
	padded(true, "", MESSAGE_REPLY, MESSAGE_REPLY_MAX);
	padded(false, "message of 4194305 bytes; expected at most 4194304",
	       MESSAGE_REPLY, MESSAGE_REPLY_MAX + 1);
}

static void test_encode_errors(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(48);
	struct message_stop stop = { .job = 1, .attempt = 1 };
	struct error err = { 0 };

	ok(message_encode(MESSAGE_STOP, &stop, &out, &err) < 0 &&
		   err.code == EINVAL,
	   "a message without a field it needs is not written");
	is(err.text, "stop: reason: missing", "and the field is named");
	stop.reason = (char *)"cancelled";
	ok(message_encode(MESSAGE_STOP, &stop, &out, &err) < 0 &&
		   err.code == E2BIG && !out.size,
	   "a message larger than the buffer's limit is not written: %s",
	   err.text);
	message_free(MESSAGE_STOP, NULL);
	ok(true, "freeing nothing is fine");
}

int main(void)
{
	tap_begin(60);
	test_table();
	test_replies();
	test_not_messages();
	test_following();
	test_limits();
	test_encode_errors();
	return tap_done();
}
