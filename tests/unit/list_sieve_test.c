/* list_sieve_test.c - what is left of a list of the engine's. */
#include "agent/docker/list_sieve.h"
#include "tests/tap.h"

#define OURS "\"regatta.job\":\"1\""
#define LIMIT 8192

/* In pieces of so many bytes; the caller frees. */
static char *sieved(const char *list, size_t piece)
{
	owned(list_sieve_clear) struct list_sieve sieve;
	size_t size = strlen(list);
	int rc = 0;

	list_sieve_init(&sieve, LIMIT);
	for (size_t at = 0; at < size && rc == 0; at += piece)
		rc = list_sieve_feed(&sieve, list + at,
				     size - at < piece ? size - at : piece,
				     NULL);
	return rc < 0 ? NULL : buffer_take(&sieve.text);
}

static void lists(void)
{
	static const struct {
		const char *in, *want, *what;
	} rows[] = {
		{ "[]", "[]", "no item" },
		{ "[{\"Labels\":null},{\"Labels\":[\"x\"]}]",
		  "[{\"Labels\":null},{\"Labels\":null}]", "no labels" },
		{ "{\"Labels\":{}}", "{\"Labels\":{}}", "an empty object" },
		{ "{\"Labels\":{\"a\":\"1\"},\"Id\":\"x\"}",
		  "{\"Labels\":{},\"Id\":\"x\"}", "a label of others" },
		{ "{\"Labels\":{\"a\":\"1\"," OURS ",\"b\":\"2\"}}",
		  "{\"Labels\":{" OURS "}}", "one of ours between others" },
		{ "{\"Labels\" : { " OURS " , \"regatta.x\" : \"\" } }",
		  "{\"Labels\" : {" OURS ",\"regatta.x\":\"\"} }",
		  "with blanks" },
		{ "{\"Labels\":{\"a\\\\\":\"}\\\"\",\"\\\"regatta.\":\"{\","
		  "\"c\":{\"d\":[1,{}],\"e\":2}," OURS "}}",
		  "{\"Labels\":{" OURS "}}", "quotes, brackets and objects" },
		{ "{\"a\":\"Labels\",\"b\":{\"c\":1},\"x\\\"Labels\":{\"d\":1}"
		  "}",
		  "{\"a\":null,\"b\":null,\"x\\\"Labels\":null}",
		  "other members" },
		{ "[{\"Id\":\"x\",\"Command\":\"a\\\"},{[\",\"n\":1.5e3 ,"
		  "\"State\" : \"running\",\"Status\":true}]",
		  "[{\"Id\":\"x\",\"Command\":null,\"n\":null,"
		  "\"State\" : \"running\",\"Status\":null}]",
		  "texts and numbers that nobody reads" },
		{ "[{\"Labels\":\"x\",\"Id\":null,\"Size\":7},\"y\",3]",
		  "[{\"Labels\":null,\"Id\":null,\"Size\":7},\"y\",3]",
		  "other types" },
		{ "[{\"Names\":[\"/a\",\"/b\"],\"Mounts\":[{\"a\":\"]\"},[{}]],"
		  "\"Id\":\"x\",\"RepoTags\":[\"t\"],\"Ports\":[],\"Size\":1}]",
		  "[{\"Names\":[\"/a\",\"/b\"],\"Mounts\":null,\"Id\":\"x\","
		  "\"RepoTags\":[\"t\"],\"Ports\":null,\"Size\":1}]",
		  "names are kept, mounts and ports are not" },
		{ "[{\"Labels\":{\"a\":\"1\"}},{\"Labels\":{" OURS "}}]",
		  "[{\"Labels\":{}},{\"Labels\":{" OURS "}}]", "two items" },
		{ "{\"Labels\":{]}:", "{\"Labels\":{}:", "what is no JSON" },
		{ "", "", "nothing" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t piece = 1; piece < 100; piece += 33) {
			char *text = sieved(rows[i].in, piece);

			is(text, rows[i].want, "%s, %zu bytes at a time",
			   rows[i].what, piece);
			free(text);
		}
}

/* One label of `size` bytes, and `count` of ours. */
static char *large(size_t size, int count)
{
	struct buffer list = BUFFER_INIT(64 << 20);
	char *text;

	buffer_text(&list, "{\"Labels\":{\"a\":\"", NULL);
	for (size_t i = 0; i < size; i++)
		buffer_text(&list, "x", NULL);
	buffer_text(&list, "\",\"regatta.x\":\"", NULL);
	for (size_t i = 0; i < size; i++)
		buffer_text(&list, "x", NULL);
	buffer_text(&list, "\"", NULL);
	for (int i = 0; i < count; i++)
		buffer_text(&list, "," OURS, NULL);
	buffer_text(&list, "}}", NULL);
	text = sieved(list.data, 65536);
	buffer_clear(&list);
	return text;
}

/* Containers with commands of `size` bytes, and one more. */
static char *commands(int count, size_t size)
{
	struct buffer list = BUFFER_INIT(64 << 20);
	char *text;

	buffer_text(&list, "[", NULL);
	for (int i = 0; i < count; i++) {
		buffer_text(&list, "{\"Command\":\"", NULL);
		for (size_t k = 0; k < size; k++)
			buffer_text(&list, "x", NULL);
		buffer_text(&list, "\"},", NULL);
	}
	buffer_text(&list, "{\"Id\":\"x\"}]", NULL);
	text = sieved(list.data, 65536);
	buffer_clear(&list);
	return text;
}

static void sizes(void)
{
	char *text = large(1 << 20, 1);

	is(text, "{\"Labels\":{" OURS "}}",
	   "labels of a MiB are dropped, whatever their names are");
	free(text);
	text = large(10, 100000);
	ok(text && strlen(text) < 1000, "there are few of ours");
	free(text);
	text = commands(5, 1 << 20);
	is(text,
	   "[{\"Command\":null},{\"Command\":null},"
	   "{\"Command\":null},{\"Command\":null},"
	   "{\"Command\":null},{\"Id\":\"x\"}]",
	   "commands of a MiB are dropped");
	free(text);
	text = malloc(LIMIT + 2);
	memset(text, 'x', LIMIT + 1);
	text[LIMIT + 1] = 0;
	ok(!sieved(text, 100), "the rest has a limit");
	free(text);
}

int main(void)
{
	tap_begin(60);
	lists();
	sizes();
	return tap_done();
}
