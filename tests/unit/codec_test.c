/* codec_test.c - structs to JSON and back: equal, limited, refused in words.
 */
#include "protocol/message/codec.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <math.h>

struct part {
	char *name;
	uint64_t size;
};
/* clang-format off */
static const struct schema part_schema = SCHEMA(part,
	FIELD(part, name),
	FIELD(part, size));
/* clang-format on */

struct whole {
	bool flag;
	uint32_t small;
	uint64_t big;
	int64_t sign;
	double real;
	char *text;
	struct strings words;
	cJSON *any;
	struct part part;
	struct part *parts;
	size_t parts_count;
	char *note;
};
/* clang-format off */
static const struct schema whole_schema = SCHEMA(whole,
	FIELD(whole, flag),
	FIELD(whole, small),
	FIELD(whole, big),
	FIELD(whole, sign),
	FIELD(whole, real),
	FIELD(whole, text),
	FIELD(whole, words),
	FIELD(whole, any),
	FIELD_EMBED(whole, part, part_schema),
	FIELD_MANY(whole, parts, part_schema),
	FIELD_OPTIONAL(whole, note));
/* clang-format on */

static const char whole_text[] =
	"{\"flag\":true,\"small\":4294967295,\"big\":\"18446744073709551615\","
	"\"sign\":\"-9223372036854775808\",\"real\":0.25,"
	"\"text\":\"a\\n\\\"b\\\"\",\"words\":[\"x\",\"\"],\"any\":{\"k\":[1,"
	"null]},\"part\":{\"name\":\"p\",\"size\":1},\"parts\":[{\"name\":"
	"\"q\",\"size\":2},{\"name\":\"r\",\"size\":3}],\"note\":\"n\"}";

/* What a result is made of. */
struct remarked {
	char *text;
	char *code;
	struct doubles numbers;
};
static const struct schema remarked_schema = {
	.name = "remarked",
	.size = sizeof(struct remarked),
	.shorthand = true,
	.fields = (const struct field[]){ FIELD_OPTIONAL(remarked, text),
					  FIELD_OPTIONAL(remarked, code),
					  FIELD_OPTIONAL(remarked, numbers) },
	.count = 3,
};

struct measured {
	double known, unknown, word;
	uint32_t yes, no, open;
	struct doubles list;
	struct named_number *named;
	size_t named_count;
	struct remarked *remarks;
	size_t remarks_count;
};
/* clang-format off */
static const struct schema measured_schema = SCHEMA(measured,
	FIELD_FIGURE(measured, known),
	FIELD_FIGURE(measured, unknown),
	FIELD_WORDS(measured, word),
	FIELD_KNOWN_TRUTH(measured, yes),
	FIELD_KNOWN_TRUTH(measured, no),
	FIELD_KNOWN_TRUTH(measured, open),
	FIELD_NULLABLE(measured, list),
	FIELD_NAMED_NUMBERS(measured, named),
	FIELD_ROWS(measured, remarks, remarked_schema));
/* clang-format on */

static const char measured_text[] =
	"{\"known\":0,\"unknown\":null,\"word\":\"-inf\",\"yes\":true,"
	"\"no\":false,\"open\":null,\"list\":[1.5,-2],\"named\":{\"a b\":0.5,"
	"\"c\":3},\"remarks\":[\"a "
	"sentence\",{\"code\":\"slow\",\"numbers\":[2]}"
	"]}";

static int decode(const char *text, struct whole *to, struct error *err)
{
	return codec_decode(&whole_schema, text, strlen(text), to, err);
}

static bool all_zero(const void *data, size_t size)
{
	const char *bytes = data;

	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

static void test_figures(void)
{
	static const char *const wrong[] = {
		"\"known\":\"nan\"",       "\"word\":\"none\"",
		"\"word\":null",           "\"yes\":1",
		"\"list\":[null]",         "\"named\":[1]",
		"\"named\":{\"a\":\"1\"}", "\"remarks\":[1]",
	};
	owned(buffer_clear) struct buffer out = BUFFER_INIT(4096);
	struct measured measured;
	struct error err = { 0 };

	ok(codec_decode(&measured_schema, measured_text, strlen(measured_text),
			&measured, &err) == 0,
	   "figures are read: %s", err.text);
	ok(measured.known == 0 && isnan(measured.unknown) &&
		   isinf(measured.word) && measured.word < 0,
	   "a figure is known, unknown, or no number");
	ok(measured.yes == TRUTH_YES && measured.no == TRUTH_NO &&
		   measured.open == TRUTH_UNKNOWN,
	   "what is not always known is yes, no or unknown");
	ok(measured.list.count == 2 && measured.list.items[1] == -2 &&
		   measured.named_count == 2 &&
		   !strcmp(measured.named[0].name, "a b") &&
		   measured.named[1].number == 3,
	   "lists of numbers and named numbers");
	ok(measured.remarks_count == 2 &&
		   !strcmp(measured.remarks[0].text, "a sentence") &&
		   !measured.remarks[1].text &&
		   measured.remarks[1].numbers.items[0] == 2,
	   "a struct of a list may be a string");
	ok(codec_encode(&measured_schema, &measured, &out, &err) == 0 &&
		   !strncmp(out.data, measured_text, strlen(measured_text)),
	   "and are written as they were: %s", out.data);
	codec_clear(&measured_schema, &measured);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[100];

		snprintf(text, sizeof(text), "{%s}", wrong[i]);
		owned(cJSON_Delete) cJSON *tree =
			codec_parse(text, strlen(text), NULL);

		ok(codec_from_other(&measured_schema, tree, &measured, &err) <
				   0 &&
			   err.code == EPROTO &&
			   all_zero(&measured, sizeof(measured)),
		   "refused: %s: %s", text, err.text);
	}
}

static void test_there_and_back(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(4096);
	struct whole whole;
	struct error err = { 0 };

	ok(decode(whole_text, &whole, &err) == 0, "every kind is read: %s",
	   err.text);
	ok(whole.flag && whole.small == UINT32_MAX && whole.big == UINT64_MAX &&
		   whole.sign == INT64_MIN && whole.real == 0.25,
	   "numbers arrive whole, also the largest");
	is(whole.text, "a\n\"b\"", "text arrives with its escapes resolved");
	ok(whole.words.count == 2 && whole.parts_count == 2 &&
		   whole.parts[1].size == 3,
	   "lists arrive with their items");
	ok(codec_encode(&whole_schema, &whole, &out, &err) == 0,
	   "it is written again");
	is(out.data, whole_text, "the text is the same");
	codec_clear(&whole_schema, &whole);
	ok(all_zero(&whole, sizeof(whole)), "cleared is all zero");
	codec_clear(&whole_schema, &whole);
	ok(true, "clearing twice is fine");
}

/* The text of whole with one field's value replaced; value NULL: without. */
static void with_field(struct buffer *out, const char *field, const char *value)
{
	cJSON *object = cJSON_Parse(whole_text);
	char *text;

	cJSON_DeleteItemFromObject(object, field);
	if (value)
		cJSON_AddItemToObject(object, field, cJSON_CreateRaw(value));
	text = cJSON_PrintUnformatted(object);
	buffer_clear(out);
	buffer_text(out, text, NULL);
	cJSON_free(text);
	cJSON_Delete(object);
}

static void refused(const char *field, const char *value, const char *want)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	struct whole whole;
	struct error err = { 0 };

	memset(&whole, 0x55, sizeof(whole));
	with_field(&text, field, value);
	ok(decode(text.data, &whole, &err) < 0 && err.code == EPROTO &&
		   all_zero(&whole, sizeof(whole)),
	   "%s %.30s is EPROTO and leaves nothing behind", field,
	   value ? value : "missing");
	is(err.text, want, "and the sentence says why");
}

static void test_refusals(void)
{
	/* clang-format off */
	static const char *const cases[][3] = {
		{ "flag", NULL, "flag: missing" },
		{ "flag", "1", "flag: the number 1 is not valid here; expected a boolean" },
		{ "small", "-1", "small: the number -1 is not valid here; expected an integer from 0 to 2^32-1" },
		{ "small", "4294967296", "small: the number 4294967296 is not valid here; expected an integer from 0 to 2^32-1" },
		{ "small", "1.5", "small: the number 1.5 is not valid here; expected an integer from 0 to 2^32-1" },
		{ "small", "\"1\"", "small: '1' is not valid here; expected an integer from 0 to 2^32-1" },
		{ "big", "9007199254740992", "big: the number 9007199254740992 is not valid here; expected an integer from 0 to 2^64-1" },
		{ "big", "-1", "big: the number -1 is not valid here; expected an integer from 0 to 2^64-1" },
		{ "big", "1e999", "big: the number inf is not valid here; expected an integer from 0 to 2^64-1" },
		{ "big", "\"18446744073709551616\"", "big: '18446744073709551616' is not valid here; expected an integer from 0 to 2^64-1" },
		{ "big", "\"-1\"", "big: '-1' is not valid here; expected an integer from 0 to 2^64-1" },
		{ "big", "\" 1\"", "big: ' 1' is not valid here; expected an integer from 0 to 2^64-1" },
		{ "big", "\"1x\"", "big: '1x' is not valid here; expected an integer from 0 to 2^64-1" },
		{ "big", "\"\"", "big: '' is not valid here; expected an integer from 0 to 2^64-1" },
		{ "sign", "\"9223372036854775808\"", "sign: '9223372036854775808' is not valid here; expected an integer from -2^63 to 2^63-1" },
		{ "sign", "\"--1\"", "sign: '--1' is not valid here; expected an integer from -2^63 to 2^63-1" },
		{ "sign", "-9007199254740992", "sign: the number -9007199254740992 is not valid here; expected an integer from -2^63 to 2^63-1" },
		{ "real", "\"1\"", "real: '1' is not valid here; expected a finite number" },
		{ "real", "1e999", "real: the number inf is not valid here; expected a finite number" },
		{ "real", "null", "real: null is not valid here; expected a finite number" },
		{ "text", "7", "text: the number 7 is not valid here; expected a string" },
		{ "text", "null", "text: null is not valid here; expected a string" },
		{ "words", "{}", "words: an object is not valid here; expected a list of strings" },
		{ "words", "[\"x\",[]]", "words: a list is not valid here; expected a list of strings" },
		{ "any", NULL, "any: missing" },
		{ "part", "[]", "part: part: not an object" },
		{ "part", "{\"name\":\"p\"}", "part: size: missing" },
		{ "parts", "{}", "parts: an object is not valid here; expected a list" },
		{ "parts", "[{\"name\":\"q\",\"size\":2},{\"name\":true,\"size\":2}]", "parts[1]: name: a boolean is not valid here; expected a string" },
		{ "parts", "[{\"name\":\"q\",\"size\":2,\"name\":\"q\"}]", "parts[0]: name: given twice" },
		{ "note", "false", "note: a boolean is not valid here; expected a string" },
		{ "extra", "1", "extra: unknown field" },
		{ "Flag", "true", "Flag: unknown field" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		refused(cases[i][0], cases[i][1], cases[i][2]);
}

static void test_absent(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	struct whole whole;
	struct error err = { 0 };

	with_field(&text, "note", NULL);
	ok(decode(text.data, &whole, &err) == 0 && !whole.note,
	   "an optional field may be absent");
	text.size = 0;
	codec_encode(&whole_schema, &whole, &text, &err);
	ok(!strstr(text.data, "note"), "and is then not written");
	codec_clear(&whole_schema, &whole);
	with_field(&text, "parts", "[]");
	ok(decode(text.data, &whole, &err) == 0 && !whole.parts &&
		   !whole.parts_count,
	   "an empty list owns nothing");
	codec_clear(&whole_schema, &whole);
}

static void parsed(const char *text, size_t size, const char *want)
{
	struct error err = { 0 };
	cJSON *tree = codec_parse(text, size, &err);

	is(tree ? "read" : err.text, want, "%.1s of %zu bytes: %s", text, size,
	   want);
	cJSON_Delete(tree);
}

static void test_not_json(void)
{
	char deep[5001];

	parsed("", 0, "not JSON, at byte 0");
	parsed("{", 1, "not JSON, at byte 0");
	parsed("{\"a\":1", 6, "not JSON, at byte 5");
	parsed("{} x", 4, "unexpected text after the JSON, at byte 3");
	parsed("{}{}", 4, "unexpected text after the JSON, at byte 2");
	parsed("{}\0", 3, "a NUL character, at byte 2");
	parsed("[\"a\0b\"]", 7, "a NUL character, at byte 3");
	parsed("[\"a\\u0000b\"]", 12, "a NUL character, at byte 3");
	parsed("[\"a\\", 4, "not JSON, at byte 2");
	memset(deep, '[', sizeof(deep));
	parsed(deep, sizeof(deep), "not JSON, at byte 1000");
	parsed("[\"\\\\u0000\"]", 11, "read");
	parsed(" {} \r\n\t", 7, "read");
}

/* Each bound, there and back through text. */
static void test_borders(void)
{
	static const uint64_t values[] = {
		0,
		UINT32_MAX,
		999999999999999,
		1000000000000000,
		1000000000000001,
		(UINT64_C(1) << 52) - 1,
		(UINT64_C(1) << 52) + 1,
		(UINT64_C(1) << 53) - 1,
		UINT64_C(1) << 53,
		(UINT64_C(1) << 53) + 1,
		INT64_MAX,
		UINT64_MAX,
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		owned(buffer_clear) struct buffer text = BUFFER_INIT(256);
		struct part part = { .name = (char *)"n", .size = values[i] };
		struct part got = { 0 };

		codec_encode(&part_schema, &part, &text, NULL);
		ok(codec_decode(&part_schema, text.data, text.size, &got,
				NULL) == 0 &&
			   got.size == values[i],
		   "%llu survives, as %s", (unsigned long long)values[i],
		   text.data);
		codec_clear(&part_schema, &got);
	}
}

static void test_signed_borders(void)
{
	static const int64_t values[] = {
		0,
		-1,
		-1000000000000000,
		-1000000000000001,
		-(INT64_C(1) << 53) - 1,
		(INT64_C(1) << 53) + 1,
		INT64_MAX,
		INT64_MIN,
	};
	struct whole whole;

	decode(whole_text, &whole, NULL);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
		struct whole got = { 0 };

		whole.sign = values[i];
		codec_encode(&whole_schema, &whole, &text, NULL);
		ok(decode(text.data, &got, NULL) == 0 && got.sign == values[i],
		   "%lld survives", (long long)values[i]);
		codec_clear(&whole_schema, &got);
	}
	codec_clear(&whole_schema, &whole);
}

static void test_numbers_read(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	struct whole whole;

	with_field(&text, "big", "9007199254740991");
	ok(decode(text.data, &whole, NULL) == 0 &&
		   whole.big == (UINT64_C(1) << 53) - 1,
	   "2^53-1 is read as a number");
	codec_clear(&whole_schema, &whole);
	with_field(&text, "big", "\"12\"");
	ok(decode(text.data, &whole, NULL) == 0 && whole.big == 12,
	   "a small integer is read from a string too");
	codec_clear(&whole_schema, &whole);
}

static void encode_refused(struct whole *whole, int code, const char *want,
			   size_t limit)
{
	owned(buffer_clear) struct buffer out;
	struct error err = { 0 };

	buffer_init(&out, limit);
	ok(codec_encode(&whole_schema, whole, &out, &err) < 0 &&
		   err.code == code && !out.size,
	   "writing fails and appends nothing");
	is(err.text, want, "and says why");
}

static void test_what_is_not_written(void)
{
	owned_free char *large = malloc(CODEC_STRING_MAX + 2);
	struct whole whole;
	char *text;
	size_t count;

	memset(large, 'x', CODEC_STRING_MAX + 1);
	large[CODEC_STRING_MAX + 1] = 0;
	decode(whole_text, &whole, NULL);
	encode_refused(&whole, E2BIG, "whole: small: more than 20 bytes", 20);
	text = whole.text;
	whole.text = NULL;
	encode_refused(&whole, EINVAL, "whole: text: missing", 4096);
	whole.text = large;
	encode_refused(&whole, E2BIG,
		       "whole: text: 262145 bytes; expected at most 262144",
		       1 << 20);
	whole.text = text;
	text = whole.parts[1].name;
	whole.parts[1].name = NULL;
	encode_refused(&whole, EINVAL, "whole: parts: [1]: name: missing",
		       4096);
	whole.parts[1].name = text;
	whole.real = NAN;
	encode_refused(&whole, EINVAL, "whole: real: not a finite number",
		       4096);
	whole.real = -INFINITY;
	encode_refused(&whole, EINVAL, "whole: real: not a finite number",
		       4096);
	whole.real = 1;
	count = whole.words.count;
	whole.words.count = CODEC_ITEMS_MAX + 1;
	encode_refused(&whole, E2BIG,
		       "whole: words: 65537 items; expected at most 65536",
		       4096);
	whole.words.count = count;
	codec_clear(&whole_schema, &whole);
}

static void test_long_values(void)
{
	owned(buffer_clear) struct buffer value = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	struct whole whole;
	struct error err = { 0 };

	buffer_reserve(&value, CODEC_STRING_MAX + 10, NULL);
	memset(value.data, 'x', CODEC_STRING_MAX + 2);
	value.data[0] = value.data[CODEC_STRING_MAX + 1] = '"';
	value.data[CODEC_STRING_MAX + 2] = 0;
	with_field(&text, "text", value.data);
	ok(decode(text.data, &whole, &err) == 0 &&
		   strlen(whole.text) == CODEC_STRING_MAX,
	   "a string of the largest size is read");
	codec_clear(&whole_schema, &whole);
	value.data[CODEC_STRING_MAX + 1] = 'x';
	value.data[CODEC_STRING_MAX + 2] = '"';
	value.data[CODEC_STRING_MAX + 3] = 0;
	refused("text", value.data, "text: longer than 262144 bytes");
	value.data[0] = '[';
	for (size_t i = 0; i <= CODEC_ITEMS_MAX; i++)
		memcpy(value.data + 1 + 3 * i, "\"\",", 3);
	memcpy(value.data + 3 * (CODEC_ITEMS_MAX + 1UL), "]", 2);
	refused("words", value.data, "words: more than 65536 items");
	for (size_t i = 0; i <= CODEC_ITEMS_MAX; i++)
		memcpy(value.data + 1 + 3 * i, "{},", 3);
	memcpy(value.data + 3 * (CODEC_ITEMS_MAX + 1UL), "]", 2);
	refused("parts", value.data, "parts: more than 65536 items");
}

static void test_every_allocation(void)
{
	struct whole whole, good;
	long n;

	fault_hook_cjson();
	for (n = 1;; n++) {
		struct error err = { 0 };
		bool failed;
		int rc;

		fault_arm(n);
		rc = decode(whole_text, &whole, &err);
		failed = fault_disarm();
		if (!failed)
			break;
		if (rc < 0 && all_zero(&whole, sizeof(whole)) && err.code)
			continue;
		ok(false, "decoding: allocation %ld fails, and so does it", n);
	}
	ok(n > 40, "decoding: all of %ld allocations failed, in turn", n - 1);
	codec_clear(&whole_schema, &whole);
	decode(whole_text, &good, NULL);
	for (n = 1;; n++) {
		owned(buffer_clear) struct buffer out = BUFFER_INIT(4096);
		struct error err = { 0 };
		bool failed;
		int rc;

		fault_arm(n);
		rc = codec_encode(&whole_schema, &good, &out, &err);
		failed = fault_disarm();
		if (!failed)
			break;
		if (rc < 0 && !out.size && err.code == ENOMEM)
			continue;
		ok(false, "encoding: allocation %ld fails, and so does it: %s",
		   n, err.text);
	}
	ok(n > 1, "encoding: all of %ld allocations failed, in turn", n - 1);
	for (n = 1;; n++) {
		struct error err = { 0 };
		bool failed;
		int rc;

		fault_arm(n);
		rc = codec_copy(&whole_schema, &good, &whole, &err);
		failed = fault_disarm();
		if (!failed)
			break;
		if (rc < 0 && all_zero(&whole, sizeof(whole)) &&
		    err.code == ENOMEM)
			continue;
		ok(false, "copying: allocation %ld fails, and so does it", n);
	}
	ok(n > 15 && whole.sign == INT64_MIN && whole.parts[1].size == 3,
	   "copying: all of %ld allocations failed, in turn", n - 1);
	codec_clear(&whole_schema, &whole);
	codec_clear(&whole_schema, &good);
	cJSON_InitHooks(NULL);
}

/* A tree is printed as cJSON prints it. */
static void test_print(void)
{
	static const char *const texts[] = {
		"[]",
		"{}",
		"null",
		"[[],{\"a\":{}},[{\"b\":[true,false,null]}],\"\"]",
		("[0,-1,0.1,-2.5e-7,1e+20,123456789012345,"
		 "0.30000000000000004,16777217.25,1.5e+300]"),
		"[\"\\u0001 \\\"\\\\ \\b\\f\\n\\r\\t / \xc3\xa9\"]",
		"[1e999]",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		owned(buffer_clear) struct buffer out = BUFFER_INIT(1000);
		struct error err = { 0 };
		cJSON *tree = codec_parse(texts[i], strlen(texts[i]), &err);
		char *want = cJSON_PrintUnformatted(tree);

		ok(codec_print(tree, &out, &err) == 0, "%s is printed: %s",
		   texts[i], err.text);
		is(out.data, want, "as cJSON does it");
		out.limit = out.size + 1;
		ok(codec_print(tree, &out, &err) < 0 && !strcmp(out.data, want),
		   "past the limit nothing is added");
		cJSON_free(want);
		cJSON_Delete(tree);
	}
}

static void test_strings(void)
{
	owned(strings_clear) struct strings list = { 0 };
	owned(strings_clear) struct strings copy = { 0 };
	struct error err = { 0 };

	for (int i = 0; i < 100; i++)
		strings_printf(&list, &err, "item %d", i);
	is_int((long long)list.count, 100, "a list grows as it must");
	is(list.items[99], "item 99", "and keeps its order");
	strings_add(&copy, "old", NULL);
	ok(strings_copy(&copy, &list, &err) == 0 && copy.count == 100,
	   "a copy replaces what was there");
	ok(copy.items[0] != list.items[0], "and is its own");
	ok(strings_printf(&copy, &err, "%*d", CODEC_STRING_MAX + 1, 1) < 0 &&
		   err.code == E2BIG && copy.count == 100,
	   "an item past the limit is refused: %s", err.text);
	for (long n = 1;; n++) {
		bool failed;
		int rc;

		fault_arm(n);
		rc = strings_copy(&copy, &list, &err);
		failed = fault_disarm();
		if (!failed) {
			ok(n > 100, "all allocations of a copy failed in turn");
			break;
		}
		if (rc == 0 || copy.count != 100 || err.code != ENOMEM)
			ok(false, "allocation %ld: the old list stays", n);
	}
}

/* Texts are looked at in pieces of eight bytes: what needs an escape is found
 * at each place of them, and so is what does not.
 */
static void test_escapes(void)
{
	static const unsigned char marks[] = { 1,   31,  '"', '\\', ' ', '!',
					       '#', '[', ']', 127,  128, 255 };
	char text[20], *want;
	int wrong = 0;

	for (size_t i = 0; i < sizeof(marks); i++)
		for (size_t at = 0; at < sizeof(text) - 1; at++) {
			owned(buffer_clear) struct buffer out =
				BUFFER_INIT(100);
			cJSON *tree;

			memset(text, 'a', sizeof(text) - 1);
			text[at] = (char)marks[i];
			text[sizeof(text) - 1] = 0;
			tree = cJSON_CreateString(text);
			want = cJSON_PrintUnformatted(tree);
			wrong += codec_print(tree, &out, NULL) < 0 ||
				 strcmp(out.data, want) != 0;
			cJSON_free(want);
			cJSON_Delete(tree);
		}
	is_int(wrong, 0, "a text has the escapes that it needs, at each place");
}

int main(void)
{
	tap_begin(60);
	test_figures();
	test_there_and_back();
	test_refusals();
	test_absent();
	test_not_json();
	test_borders();
	test_signed_borders();
	test_numbers_read();
	test_what_is_not_written();
	test_long_values();
	test_every_allocation();
	test_print();
	test_escapes();
	test_strings();
	return tap_done();
}
