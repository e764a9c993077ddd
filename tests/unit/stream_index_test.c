/* stream_index_test.c - the index of followed files: lines, names, and what is
 * refused.
 */
#include "protocol/message/stream_index.h"

#include "tests/tap.h"

#include <errno.h>

static void test_lines(void)
{
	struct stream_index file = { 0 };
	struct error err = { 0 };
	char name[120];
	/* clang-format off */
	static const char good[] = "{\"stream\": \"node-3.a-b.log\", "
				   "\"path\": \"/w/a/B.log\", \"part\": 2}";
	static const char kept[] = "{\"stream\": \"rank-24\", \"kept\": 4096}";
	static const char *const bad[] = {
		"", "{", "[]", "{\"stream\": \"node-3.a\"}",
		"{\"stream\": \"node-4.a\", \"path\": \"/a\"}",
		"{\"stream\": \"node-30.a\", \"path\": \"/a\"}",
		"{\"stream\": \"node-3\", \"path\": \"/a\"}",
		"{\"stream\": \"node-3.A\", \"path\": \"/a\"}",
		"{\"stream\": \"node-3./a\", \"path\": \"/a\"}",
		"{\"stream\": \"rank-0\", \"path\": \"/a\"}",
		"{\"stream\": \"exit\", \"kept\": 1}",
		"{\"stream\": \"node-3.a\", \"path\": \"/a\", \"part\": -1}",
		"{\"stream\": \"rank-0\", \"kept\": 1, \"more\": 1}",
	};
	/* clang-format on */

	snprintf(name, sizeof(name),
		 "{\"stream\": \"node-3.%058d\", \"path\": \"/a\"}", 0);
	ok(stream_index_parse(name, strlen(name), 3, &file, &err) < 0,
	   "a name of 65 bytes is refused");
	is_int(stream_index_parse(good, strlen(good), 3, &file, &err), 0,
	       "a line of a followed file is read");
	is(file.stream, "node-3.a-b.log", "with its stream");
	is(file.path, "/w/a/B.log", "its path");
	is_int(file.part, 2, "and its part");
	stream_index_clear(&file);
	is_int(stream_index_parse(kept, strlen(kept), 3, &file, &err), 0,
	       "and one of what is kept");
	ok(!file.path && file.kept == 4096, "which has no path");
	stream_index_clear(&file);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		err.code = 0;
		ok(stream_index_parse(bad[i], strlen(bad[i]), 3, &file, &err) <
				   0 &&
			   err.code == EPROTO,
		   "refused: %s: %s", bad[i], err.text);
	}
}

static void test_names(void)
{
	char name[STREAM_INDEX_NAME_MAX + 1];

	stream_index_index(7, name);
	is(name, "node-7", "the index has a name");
	ok(stream_index_is_index(name) && stream_index_belongs(7, name),
	   "which is the node's");
	ok(!stream_index_is_index("node-") &&
		   !stream_index_is_index("node-7.a") &&
		   !stream_index_is_index("rank-7"),
	   "others are none");
	ok(stream_index_belongs(7, "node-7.a.log") &&
		   !stream_index_belongs(7, "node-70.a") &&
		   !stream_index_belongs(70, "node-7.a") &&
		   !stream_index_belongs(7, "node-7a") &&
		   !stream_index_belongs(7, "rank-7"),
	   "a stream belongs to one node");
}

struct seen {
	char text[100];
	size_t lines;
};

static void see(void *arg, const char *line, size_t size)
{
	struct seen *seen = arg;

	snprintf(seen->text + strlen(seen->text),
		 sizeof(seen->text) - strlen(seen->text), "%.*s|",
		 (int)(size < 20 ? size : 20), line);
	seen->lines++;
}

static void test_pieces(void)
{
	static char large[STREAM_INDEX_LINE_MAX + 10];
	struct seen seen = { 0 };

	is_int((long long)stream_index_lines("a\n\nbc\nd", 7, see, &seen), 6,
	       "whole lines are taken");
	is(seen.text, "a||bc|", "each as it is");
	memset(large, 'x', sizeof(large));
	large[sizeof(large) - 3] = '\n';
	large[sizeof(large) - 1] = '\n';
	seen = (struct seen){ 0 };
	is_int((long long)stream_index_lines(large, sizeof(large), see, &seen),
	       (long long)sizeof(large), "a line that is too long is passed");
	is(seen.text, "x|", "and left out");
	is_int((long long)stream_index_lines(large, 100, see, &seen), 0,
	       "what has no end waits for it");
}

int main(void)
{
	tap_begin(30);
	test_lines();
	test_names();
	test_pieces();
	return tap_done();
}
