/* document_test.c - documents are read with lines, and refused with reasons.
 */
#include "protocol/yaml/document.h"

#include "protocol/base/file.h"
#include "protocol/base/nearest_word.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

static struct document *parse(const char *text, struct error *err)
{
	return document_parse(text, strlen(text), "f", NULL, err);
}

static void test_tree(void)
{
	struct error err = { 0 };
	char path[100];
	owned(document_free) struct document *document =
		parse("# a comment\n"
		      "name: demo\n"
		      "empty:\n"
		      "batch: {micro: 2, 'odd key': \"a\\tb\"}\n"
		      "list:\n"
		      "  - one\n"
		      "  - {deep: [1, 2]}\n",
		      &err);
	const struct value *root, *list, *deep;

	if (!ok(document != NULL, "a document is read (%s)", err.text))
		return;
	root = document_root(document);
	is_int(value_kind(root), VALUE_MAP, "its root is a map");
	is_int((long long)value_count(root), 4, "with four entries");
	is(value_key(root, 2), "batch", "in the order of the text");
	is_int(value_key_line(root, 2), 4, "each key with its line");
	is(value_text(value_get(root, "name")), "demo", "a key is found");
	ok(!value_get(root, "nam"), "a key that is not there is NULL");
	is_int(value_kind(value_get(root, "empty")), VALUE_NULL,
	       "a key without a value has nothing");
	is(value_text(value_get(value_get(root, "batch"), "odd key")), "a\tb",
	   "escapes in quotes are resolved");
	list = value_get(root, "list");
	is_int((long long)value_count(list), 2, "a list has its items");
	ok(!value_at(list, 2), "and nothing behind the last");
	deep = value_at(value_get(value_at(list, 1), "deep"), 1);
	is_int(value_line(deep), 7, "a deep value knows its line");
	value_path(deep, path, sizeof(path));
	is(path, "list[1].deep[1]", "and its path");
	value_path(deep, path, 9);
	is(path, "list[1].", "which is cut to fit");
	value_error(deep, &err, "%d", 3);
	is(err.text, "f:7: list[1].deep[1]: 3", "an error says where");
	value_key_error(value_get(root, "batch"), 1, &err, "why");
	is(err.text, "f:4: batch.odd key: why", "also for a key");
	is(document_file(document), "f", "a document knows its file");
	is(value_file(deep), "f", "and so does a value");
}

static void test_empty(void)
{
	/* clang-format off */
	static const char *const texts[] = { "", "\n\n", "# nothing\n", "~",
					     "null", "---\n...\n" };
	/* clang-format on */
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		owned(document_free) struct document *document =
			parse(texts[i], NULL);

		ok(document &&
			   value_kind(document_root(document)) == VALUE_NULL,
		   "empty text %zu is a null", i);
	}
}

static void test_json(void)
{
	struct error err = { 0 };
	owned(document_free) struct document *document =
		parse("{\"a\":1,\n\t\"b\":[true,null,\"x\\/\\u00e9\"],"
		      "\"c\":{\"d\":-1.5e3}}\n",
		      &err);
	const struct value *root, *b;
	double d = 0;
	bool t = false;

	if (!ok(document != NULL, "JSON is read too (%s)", err.text))
		return;
	root = document_root(document);
	b = value_get(root, "b");
	ok(!value_bool(value_at(b, 0), &t, &err) && t, "its true is true");
	is_int(value_kind(value_at(b, 1)), VALUE_NULL, "its null is null");
	is(value_text(value_at(b, 2)), "x/\xc3\xa9", "its escapes are known");
	ok(!value_double(value_get(value_get(root, "c"), "d"), -1e6, 0, &d,
			 &err) &&
		   d == -1500,
	   "its numbers are numbers");
}

static void test_merge(void)
{
	struct error err = { 0 };
	char path[100];
	owned(document_free) struct document *document =
		parse("base: &base {a: 1, b: 2}\n"
		      "other: &other {b: 3, c: 4}\n"
		      "one:\n"
		      "  <<: *base\n"
		      "  a: 9\n"
		      "two:\n"
		      "  <<: [*base, *other]\n"
		      "three:\n"
		      "  <<: {q: {r: 1}}\n"
		      "four: {'<<': 5}\n"
		      "five: *base\n",
		      &err);
	const struct value *root, *two;

	if (!ok(document != NULL, "merge keys are read (%s)", err.text))
		return;
	root = document_root(document);
	is(value_text(value_get(value_get(root, "one"), "a")), "9",
	   "an own key wins over a merged one");
	is(value_text(value_get(value_get(root, "one"), "b")), "2",
	   "the others are merged");
	two = value_get(root, "two");
	is_int((long long)value_count(two), 3, "a list of maps is merged");
	is(value_text(value_get(two, "b")), "2", "and its first map wins");
	is_int(value_line(value_get(two, "c")), 2,
	       "a merged value keeps its line");
	value_path(value_get(value_get(value_get(root, "three"), "q"), "r"),
		   path, sizeof(path));
	is(path, "three.q.r", "what is merged in place has a path there");
	is(value_text(value_get(value_get(root, "four"), "<<")), "5",
	   "a quoted << is a key like any other");
	is(value_text(value_get(value_get(root, "five"), "a")), "1",
	   "an alias is the value it names");
}

static void test_refused(void)
{
	/* clang-format off */
	static const struct {
		const char *what, *text, *error;
	} cases[] = {
		{ "a key twice", "a: 1\nb: 2\na: 3\n",
		  "f:3: duplicate key \"a\", first on line 1" },
		{ "a cycle", "a: 1\nb: &x\n  c: [*x]\n",
		  "f:3: the alias *x is inside its own value" },
		{ "a cyclic merge", "a: &x\n  <<: *x\n",
		  "f:2: the alias *x is inside its own value" },
		{ "an unknown alias", "a: *x\n",
		  "f:1: the alias *x has no anchor &x before it" },
		{ "a merge of a number", "a:\n  <<: 3\n",
		  "f:2: the value of << is not valid here; expected a map or a list of maps" },
		{ "a second document", "a: 1\n---\nb: 2\n",
		  "f:2: a second document is not valid here; expected one" },
		{ "a foreign tag", "a: !!binary aGk=\n",
		  "f:1: the tag tag:yaml.org,2002:binary is not valid here; expected !!str, !!int, !!float, !!bool, !!null, !!map and !!seq, each on its kind of value" },
		{ "a list as a key", "? [a]\n: 1\n",
		  "f:1: a list, a map or an alias as a key is not valid here; expected a word" },
		{ "an anchored key", "&a b: 1\n",
		  "f:1: an anchor on a key is not valid here; expected anchors on values" },
		{ "no key", "a: 1\n~: 1\n",
		  "f:2: missing key before \":\"" },
		{ "bad UTF-8", "a: 1\nb: \xc3(\n",
		  "f:2: the byte 0xc3 is not valid here; expected UTF-8 text" },
		{ "an overlong sequence", "\xc0\x80",
		  "f:1: the byte 0xc0 is not valid here; expected UTF-8 text" },
		{ "a surrogate", "\n\xed\xa0\x80",
		  "f:2: the byte 0xed is not valid here; expected UTF-8 text" },
		{ "a control character", "a: \033[31m\n",
		  "f:1: the control character 0x1b is not valid here; expected UTF-8 text" },
		{ "an escaped NUL", "a: 1\nb: \"x\\0y\"\n",
		  "f:2: a text contains a NUL character" },
		{ "a tab as indentation", "a:\n\tb: 1\n",
		  "f:2: a tab is not valid here; expected blanks as "
		  "indentation" },
	};
	/* clang-format on */
	struct error err = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		owned(document_free) struct document *document =
			parse(cases[i].text, &err);

		ok(!document, "%s is refused", cases[i].what);
		is(err.text, cases[i].error, "in words");
	}
	owned(document_free) struct document *marked = parse("\xef\xbb\xbf"
							     "a: 1\nb: 2\n",
							     &err);

	is(marked ? value_text(value_get(document_root(marked), "a")) : "", "1",
	   "the mark of an editor before the text is no part of it");
	ok(!document_parse("a: \0b", 5, "f", NULL, &err), "a NUL is refused");
	is(err.text,
	   "f:1: the control character 0x00 is not valid here; expected UTF-8 "
	   "text",
	   "in words");
	ok(!document_read("/nonexistent/x.yaml", NULL, &err) &&
		   err.code == ENOENT,
	   "a file that is not there is refused (%s)", err.text);
}

/* count times text, then more times `more`. */
static char *repeated(const char *text, size_t count)
{
	size_t length = strlen(text);
	char *all = malloc(length * count + 1);

	for (size_t i = 0; i < count; i++)
		memcpy(all + i * length, text, length);
	all[length * count] = 0;
	return all;
}

static void test_limits(void)
{
	struct document_limits large = { .bytes = 64 << 20 };
	struct error err = { 0 };
	owned_free char *deep = repeated("[", 10 << 20);
	owned_free char *dashes = repeated("- ", 5 << 20);
	owned_free char *items = repeated("- 1\n", 1000);
	owned_free char *anchors = repeated("- &a 1\n", 1001);
	char bomb[1024] = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n";

	ok(!parse(deep, &err), "10 MB of nesting are too long");
	is(err.text, "f: 10485760 bytes; expected at most 1048576",
	   "and the sentence says so");
	ok(!document_parse(deep, 10 << 20, "f", &large, &err) &&
		   err.code == E2BIG,
	   "and too deep (%s)", err.text);
	ok(!document_parse(dashes, 10 << 20, "f", &large, &err) &&
		   err.code == E2BIG,
	   "in block style too (%s)", err.text);
	for (int i = 1; i < 10; i++) {
		size_t used = strlen(bomb);

		snprintf(bomb + used, sizeof(bomb) - used,
			 "a%d: &a%d [*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d,*a%d]"
			 "\n",
			 i, i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1,
			 i - 1);
	}
	ok(!parse(bomb, &err), "a bomb of aliases is refused");
	is(err.text,
	   "f:6: more than 200000 values (aliases written out), which is the "
	   "limit",
	   "at the alias that goes too far");
	ok(!parse(anchors, &err) && err.code == E2BIG,
	   "too many anchors are refused (%s)", err.text);
	large.values = 1001;
	document_free(document_parse(items, 4000, "f", &large, &err));
	owned(document_free) struct document *fits =
		document_parse(items, 4000, "f", &large, &err);
	ok(fits != NULL, "exactly as many values as allowed are fine");
	large.values = 1000;
	ok(!document_parse(items, 4000, "f", &large, &err),
	   "one more is refused (%s)", err.text);
	large.depth = 2;
	owned(document_free) struct document *two =
		document_parse("[[1]]", 5, "f", &large, &err);
	ok(two != NULL, "exactly as deep as allowed is fine");
	ok(!document_parse("[[[1]]]", 7, "f", &large, &err),
	   "one deeper is refused (%s)", err.text);
	ok(!document_parse("a: &a [1]\nb: [*a, [*a]]", 23, "f", &large, &err),
	   "also when an alias brings the depth (%s)", err.text);
}

static const char *const colours[] = { "red", "green", "blue", NULL };

/* Read text by the reader named; the number, or the error, as text. */
static void read_as(const char *reader, const char *text, char *out,
		    size_t size)
{
	struct error err = { 0 };
	owned(document_free) struct document *document = parse(text, &err);
	const struct value *value = document ? document_root(document) : NULL;
	uint64_t u = 0;
	int64_t i = 0;
	size_t word = 0;
	double d = 0;
	bool b = false;
	const char *s = "";
	int rc = -1;

	if (!value)
		;
	else if (!strcmp(reader, "u64"))
		rc = value_u64(value, 1, 100, &u, &err);
	else if (!strcmp(reader, "u64max"))
		rc = value_u64(value, 0, UINT64_MAX, &u, &err);
	else if (!strcmp(reader, "i64"))
		rc = value_i64(value, INT64_MIN, INT64_MAX, &i, &err);
	else if (!strcmp(reader, "double"))
		rc = value_double(value, 0, 1e9, &d, &err);
	else if (!strcmp(reader, "bool"))
		rc = value_bool(value, &b, &err);
	else if (!strcmp(reader, "string"))
		rc = value_string(value, 5, &s, &err);
	else if (!strcmp(reader, "duration"))
		rc = value_duration_ms(value, 1, 86400000, &u, &err);
	else if (!strcmp(reader, "size"))
		rc = value_size_bytes(value, 0, (uint64_t)1 << 50, &u, &err);
	else if (!strcmp(reader, "share"))
		rc = value_share(value, &d, &err);
	else if (!strcmp(reader, "enum"))
		rc = value_enum(value, colours, &word, &err);
	else if (!strcmp(reader, "keys"))
		rc = value_check_keys(value, colours, &err);
	if (rc < 0)
		snprintf(out, size, "%s", err.text);
	else if (*s)
		snprintf(out, size, "%s", s);
	else
		snprintf(out, size, "%.10g",
			 (double)u + (double)i + d + (double)word + b);
}

/* clang-format off */
static const struct {
	const char *reader, *text, *want;
} reader_cases[] = {
	{ "u64", "1", "1" }, { "u64", "100", "100" },
	{ "u64", "0x1f", "31" }, { "u64", "0o17", "15" },
	{ "u64", "+7", "7" }, { "u64", "!!int \"7\"", "7" },
	{ "u64", "0", "f:1: \"0\" is not valid here; expected an integer from 1 to 100" },
	{ "u64", "101", "f:1: \"101\" is not valid here; expected an integer from 1 to 100" },
	{ "u64", "-5", "f:1: \"-5\" is not valid here; expected an integer from 1 to 100" },
	{ "u64", "'5'", "f:1: \"5\" is not valid here; expected an integer from 1 to 100" },
	{ "u64", "!!str 5", "f:1: \"5\" is not valid here; expected an integer from 1 to 100" },
	{ "u64", "5x", "f:1: \"5x\" is not valid here; expected an integer from 1 to 100" },
	{ "u64", "1.5", "f:1: \"1.5\" is not valid here; expected an integer from 1 to 100" },
	{ "u64", "[5]", "f:1: a list of 1 entry is not valid here; expected an integer from 1 to 100" },
	{ "u64", "{a: 5}", "f:1: a map of 1 entry is not valid here; expected an integer from 1 to 100" },
	{ "u64", "", "f:1: an empty value is not valid here; expected an integer from 1 to 100" },
	{ "u64", "99999999999999999999999",
	  "f:1: \"99999999999999999999999\" is not valid here; expected an integer from 1 to 100" },
	{ "u64max", "18446744073709551615", "1.844674407e+19" },
	{ "u64max", "18446744073709551616",
	  "f:1: \"18446744073709551616\" is not valid here; expected an integer from 0" },
	{ "i64", "-9223372036854775808", "-9.223372037e+18" },
	{ "i64", "9223372036854775807", "9.223372037e+18" },
	{ "i64", "9223372036854775808",
	  "f:1: \"9223372036854775808\" is not valid here; expected an integer from -9223372036854775808 to 9223372036854775807" },
	{ "double", "1.5e3", "1500" }, { "double", ".5", "0.5" },
	{ "double", "7", "7" },
	{ "double", ".inf", "f:1: \".inf\" is not valid here; expected a number from 0 to 1e+09" },
	{ "double", "nan", "f:1: \"nan\" is not valid here; expected a number from 0 to 1e+09" },
	{ "u64max", "0x0x10", "f:1: \"0x0x10\" is not valid here; expected an integer from 0" },
	{ "u64max", "0o0x1", "f:1: \"0o0x1\" is not valid here; expected an integer from 0" },
	{ "i64", "-0x1", "f:1: \"-0x1\" is not valid here; expected an integer from -9223372036854775808 to 9223372036854775807" },
	{ "share", "2%", "0.02" }, { "share", "0.5", "0.5" }, { "share", "1", "1" },
	{ "share", "0x1p-2", "f:1: \"0x1p-2\" is not valid here; expected a share above 0 and up to 100%, such as 2% or 0.02" },
	{ "share", "nan", "f:1: \"nan\" is not valid here; expected a share above 0 and up to 100%, such as 2% or 0.02" },
	{ "double", "0x10", "f:1: \"0x10\" is not valid here; expected a number from 0 to 1e+09" },
	{ "double", "-1", "f:1: \"-1\" is not valid here; expected a number from 0 to 1e+09" },
	{ "bool", "true", "1" }, { "bool", "False", "0" },
	{ "bool", "yes", "f:1: \"yes\" is not valid here; expected true or false" },
	{ "bool", "'true'", "f:1: \"true\" is not valid here; expected true or false" },
	{ "string", "yes", "yes" }, { "string", "12", "12" },
	{ "string", "'~'", "~" },
	{ "string", "~", "f:1: an empty value is not valid here; expected a text of 1 to 5 bytes" },
	{ "string", "''", "f:1: \"\" is not valid here; expected a text of 1 to 5 bytes" },
	{ "string", "abcdef", "f:1: a text of 6 bytes; expected 1 to 5" },
	{ "duration", "500ms", "500" }, { "duration", "90s", "90000" },
	{ "duration", "1.5h", "5400000" }, { "duration", "1d", "86400000" },
	{ "duration", "'2m'", "120000" },
	{ "duration", "90", "f:1: \"90\" is not valid here; expected a time with its unit (500ms, 90s, 15m, 2h, 1d) from 1ms to 1d" },
	{ "duration", "0", "f:1: \"0\" is not valid here; expected a time with its unit (500ms, 90s, 15m, 2h, 1d) from 1ms to 1d" },
	{ "duration", "1e300d", "f:1: \"1e300d\" is not valid here; expected a time with its unit (500ms, 90s, 15m, 2h, 1d) from 1ms to 1d" },
	{ "size", "64M", "67108864" }, { "size", "1.5GiB", "1610612736" },
	{ "size", "4096", "4096" }, { "size", "2KB", "2048" },
	{ "size", "-1", "f:1: \"-1\" is not valid here; expected bytes (a number, or 64K, "
	  "32M, 1.5G, 2T) from 0 to 1024T" },
	{ "size", "lots", "f:1: \"lots\" is not valid here; expected bytes (a number, or "
	  "64K, 32M, 1.5G, 2T) from 0 to 1024T" },
	{ "enum", "green", "1" },
	{ "enum", "gren", "f:1: \"gren\" is not valid here; expected red, green or blue; did you mean \"green\"?" },
	{ "enum", "violet", "f:1: \"violet\" is not valid here; expected red, green or blue" },
	{ "keys", "{red: 1, blue: 2}", "0" },
	{ "keys", "red: 1\nbleu: 2", "f:2: bleu: unknown key; expected red, green or blue; did you mean \"blue\"?" },
	{ "keys", "[red]", "f:1: a list of 1 entry is not valid here; expected a map, {key: value} or lines of key: value" },
};
/* clang-format on */

static void test_readers(void)
{
	for (size_t i = 0; i < sizeof(reader_cases) / sizeof(reader_cases[0]);
	     i++) {
		char got[300];

		read_as(reader_cases[i].reader, reader_cases[i].text, got,
			sizeof(got));
		is(got, reader_cases[i].want, "case %zu of the readers: %s", i,
		   reader_cases[i].reader);
	}
}

static void test_found(void)
{
	owned_free char *accents = repeated("\xc3\xa9", 100);
	owned(document_free) struct document *document = parse(accents, NULL);
	char found[96];

	value_found(document_root(document), found, sizeof(found));
	is_int((long long)strlen(found), 58 + 3 + 2,
	       "a long text is shown cut, between characters");
}

static void test_nearest(void)
{
	static const char *const words[] = { "accumulate", "micro", "tp",
					     "sequence", NULL };

	is(nearest_word("acumulate", words), "accumulate", "a letter missing");
	is(nearest_word("mirco", words), "micro", "two letters swapped");
	is(nearest_word("tpp", words), "tp", "a letter too many");
	is(nearest_word("sequenz", words), "sequence", "two letters wrong");
	is(nearest_word("banana", words), NULL, "nothing is near");
	is(nearest_word("", words), NULL, "nor is it to nothing");
	is(nearest_word("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", words),
	   NULL, "nor to what nobody would type");
}

static void test_faults(void)
{
	static const char text[] = "a: &a {b: [1, 2, 'x'], c: {d: e}}\n"
				   "f:\n  <<: [*a, {g: 1}]\n  h: *a\n"
				   "i: [[], {}, ~]\n"
				   "j: {a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, "
				   "g: 7, h: 8, i: 9}\n";
	bool good = true;
	long n;

	for (n = 1;; n++) {
		struct error err = { 0 };
		struct document *document;
		bool failed;

		fault_arm(n);
		document = parse(text, &err);
		failed = fault_disarm();
		document_free(document);
		if (failed == (document != NULL) ||
		    (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %s", n, err.text);
		if (!failed)
			break;
	}
	ok(good && n > 8, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	tap_begin(60);
	test_tree();
	test_empty();
	test_json();
	test_merge();
	test_refused();
	test_limits();
	test_readers();
	test_found();
	test_nearest();
	test_faults();
	return tap_done();
}
