/* message_test.c - every message: there and back, and refused field by field.
 */
#include "protocol/message/message.h"
#include "tests/tap.h"

#include <errno.h>

static cJSON *sample(const struct schema *schema);

/* A value of each kind that is not the default. */
static cJSON *sample_value(const struct field *field)
{
	cJSON *list;

	switch (field->kind) {
	case FIELD_BOOL:
		return cJSON_CreateTrue();
	case FIELD_U32:
		return cJSON_CreateNumber(UINT32_MAX);
	case FIELD_U64:
		return cJSON_CreateString("18446744073709551615");
	case FIELD_I64:
		return cJSON_CreateString("-9223372036854775808");
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
		cJSON_AddItemToArray(list, cJSON_CreateString(
						   "18446744073709551615"));
		return list;
	case FIELD_ENUM:
		return cJSON_CreateString(field->names[1]);
	case FIELD_JSON:
		return cJSON_Parse("{\"any\":[1,\"x\",null]}");
	case FIELD_STRUCT:
	case FIELD_POINTER:
		return sample(field->schema);
	case FIELD_LIST:
		list = cJSON_CreateArray();
		cJSON_AddItemToArray(list, sample(field->schema));
		cJSON_AddItemToArray(list, sample(field->schema));
		return list;
	}
	return NULL;
}

static cJSON *sample(const struct schema *schema)
{
	cJSON *object = cJSON_CreateObject();

	for (size_t i = 0; i < schema->count; i++)
		cJSON_AddItemToObject(object, schema->fields[i].name,
				      sample_value(&schema->fields[i]));
	return object;
}

/* Are the two structs equal, field by field? */
static bool same(const struct schema *schema, const void *a, const void *b);

static bool same_field(const struct field *field, const char *a, const char *b)
{
	const void *x = a + field->offset, *y = b + field->offset;
	const struct strings *s = x, *t = y;
	const struct numbers *m = x, *n = y;
	size_t count;

	switch (field->kind) {
	case FIELD_BOOL:
		return *(const bool *)x == *(const bool *)y;
	case FIELD_U32:
	case FIELD_ENUM:
		return *(const uint32_t *)x == *(const uint32_t *)y;
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
	cJSON *object = sample(message_kinds[type].schema);

	cJSON_AddStringToObject(object, "type", message_kinds[type].name);
	return object;
}

static void there_and_back(enum message_type type)
{
	const struct message_kind *kind = &message_kinds[type];
	owned(buffer_clear) struct buffer out;
	cJSON *object = sample_message(type);
	char *text = cJSON_PrintUnformatted(object);
	enum message_type first_type = MESSAGE_NONE, again_type = MESSAGE_NONE;
	void *first = NULL, *again = NULL;
	struct error err = { 0 };

	buffer_init(&out, MESSAGE_TEXT_MAX);
	ok(message_decode(text, strlen(text), &first_type, &first, &err) == 0 &&
		   first_type == type,
	   "%s is read: %s", kind->name, err.text);
	ok(first && message_encode(type, first, &out, &err) == 0,
	   "%s is written", kind->name);
	is(out.data, text, "%s is written as it was read", kind->name);
	ok(message_decode(out.data, out.size, &again_type, &again, &err) == 0 &&
		   again_type == type && first && again &&
		   same(kind->schema, first, again),
	   "%s is equal after encoding and decoding", kind->name);
	message_free(first_type, first);
	message_free(again_type, again);
	cJSON_free(text);
	cJSON_Delete(object);
}

/* Decode and delete; is the error EPROTO and does it name the field? */
static bool named(cJSON *object, const char *field, struct error *err)
{
	char *text = cJSON_PrintUnformatted(object);
	enum message_type type = MESSAGE_NONE;
	void *body = NULL;
	int rc = message_decode(text, strlen(text), &type, &body, err);

	message_free(type, body);
	cJSON_free(text);
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
		ok(named(object, field->name, &err) == !field->optional,
		   "%s without %s: %s", kind->name, field->name,
		   field->optional ? "is read" : err.text);
		object = sample_message(type);
		cJSON_AddItemToObject(object, field->name, sample_value(field));
		ok(named(object, field->name, &err), "%s with two %s: %s",
		   kind->name, field->name, err.text);
		if (field->kind == FIELD_JSON)
			continue;
		object = sample_message(type);
		cJSON_ReplaceItemInObject(object, field->name,
					  field->kind == FIELD_BOOL
						  ? cJSON_CreateNumber(1)
						  : cJSON_CreateTrue());
		ok(named(object, field->name, &err), "%s with a wrong %s: %s",
		   kind->name, field->name, err.text);
		if (field->kind != FIELD_U32 && field->kind != FIELD_U64 &&
		    field->kind != FIELD_I64)
			continue;
		object = sample_message(type);
		cJSON_ReplaceItemInObject(object, field->name,
					  cJSON_CreateNumber(1e17));
		ok(named(object, field->name, &err), "%s with a large %s: %s",
		   kind->name, field->name, err.text);
	}
}

static void odd_fields(enum message_type type)
{
	const char *name = message_kinds[type].name;
	cJSON *object = sample_message(type);
	struct error err = { 0 };

	cJSON_AddTrueToObject(object, "surprise");
	ok(named(object, "surprise", &err), "%s with an unknown field: %s",
	   name, err.text);
	object = sample_message(type);
	cJSON_AddStringToObject(object, "type", name);
	ok(named(object, "type", &err), "%s with two types: %s", name,
	   err.text);
	object = sample_message(type);
	cJSON_DeleteItemFromObject(object, "type");
	ok(named(object, "type", &err), "%s without its type: %s", name,
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

/* Every reply: there and back, within its bound. */
static void test_reply(const struct schema *schema)
{
	cJSON *object = sample(schema), *again;
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
		cJSON *object = sample(schema);
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
		{ "", "message: not JSON, at byte 0" },
		{ "[]", "type: 'nothing', not a message" },
		{ "[{\"type\":\"hello\"}]", "type: 'nothing', not a message" },
		{ "7", "type: 'nothing', not a message" },
		{ "{\"type\":7}", "type: 'nothing', not a message" },
		{ "{\"type\":\"Hello\"}", "type: 'Hello', not a message" },
		{ "{\"type\":\"hello\\u0000\"}",
		  "message: a NUL character, at byte 14" },
		{ "{\"type\":\"heartbeat\",\"time_ms\":1} x",
		  "message: something behind the JSON, at byte 33" },
		{ "{\"type\":\"\\u001b[2J\"}", "type: '?[2J', not a message" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		not_a_message(cases[i].text, strlen(cases[i].text),
			      cases[i].want);
	not_a_message("\xff\xfe", 2, "message: not JSON, at byte 0");
}

/* A message of exactly this many bytes: blanks count. */
static void padded(const char *text, size_t size, bool good, const char *want)
{
	owned_free char *space = malloc(size + 1);
	enum message_type type = MESSAGE_NONE;
	void *body = NULL;
	struct error err = { 0 };
	int rc;

	memset(space, ' ', size);
	space[size] = 0;
	memcpy(space, text, strlen(text));
	rc = message_decode(space, size, &type, &body, &err);
	ok(good == (rc == 0), "%.20s of %zu bytes is %s", text, size,
	   good ? "read" : "refused");
	is(err.text, want, "with the right words");
	message_free(type, body);
}

static void test_limits(void)
{
	const char *beat = "{\"type\":\"heartbeat\",\"time_ms\":1}";
	const char *reply = "{\"type\":\"reply\",\"request\":1,\"body\":{}}";

	padded(beat, MESSAGE_TEXT_MAX, true, "");
	padded(beat, MESSAGE_TEXT_MAX + 1, false,
	       "heartbeat of 1048577 bytes; expected at most 1048576");
	padded(reply, MESSAGE_REPLY_MAX, true, "");
	padded(reply, MESSAGE_REPLY_MAX + 1, false,
	       "message of 4194305 bytes; expected at most 4194304");
}

static void test_encode_errors(void)
{
	owned(buffer_clear) struct buffer out;
	struct message_stop stop = { .job = 1, .attempt = 1 };
	struct error err = { 0 };

	buffer_init(&out, 30);
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
	test_limits();
	test_encode_errors();
	return tap_done();
}
