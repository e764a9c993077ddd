/* error_test.c - errors carry a code, one printable line, and their place.
 */
#include "protocol/base/error.h"

#include "tests/tap.h"

#include <errno.h>

static void a_code_and_a_sentence(void)
{
	struct error err = { 0 };

	is_int(error_set(&err, EPROTO, "rank: %d, at most %d", 9, 7), -1,
	       "error_set() returns -1");
	is_int(err.code, EPROTO, "the code is kept");
	is(err.text, "rank: 9, at most 7", "the sentence is formatted");
	error_set(&err, 0, "unknown");
	is_int(err.code, EIO, "an error never has the code 0");
	is_int(error_set(NULL, EIO, "nobody listens"), -1,
	       "error_set() takes NULL");
	is_int(error_prefix(NULL, "place"), -1, "error_prefix() takes NULL");
	is_int(error_errno(NULL, "place"), -1, "error_errno() takes NULL");
	is_int(error_nomem(NULL, "place"), -1, "error_nomem() takes NULL");
}

static void places_in_front(void)
{
	struct error err = { 0 };

	error_set(&err, EPROTO, "rank: out of range");
	is_int(error_prefix(&err, "message %s", "start"), -1,
	       "error_prefix() returns -1");
	error_prefix(&err, "node %s", "n3");
	is(err.text, "node n3: message start: rank: out of range",
	   "each level puts its place in front");
	is_int(err.code, EPROTO, "places leave the code alone");

	error_nomem(&err, "job table");
	is(err.text, "job table: out of memory", "memory that runs out: words");
	is_int(err.code, ENOMEM, "memory that runs out: code");

	errno = ENOENT;
	is_int(error_errno(&err, "%s", "/a/b"), -1, "error_errno() returns -1");
	is(err.text, "/a/b: No such file or directory", "errno in words");
	is_int(err.code, ENOENT, "errno as code");
}

static void hostile_text(void)
{
	struct error err = { 0 };
	char text[4 * sizeof(err.text)];
	size_t size;

	error_set(&err, EPROTO, "a\nb\r\t\x1b[2Jc\x7f");
	is(err.text, "a?b???[2Jc?", "control characters become ?");
	error_set(&err, EPROTO, "r\xc3\xa9gate");
	is(err.text, "r\xc3\xa9gate", "UTF-8 passes");
	error_set(&err, EPROTO,
		  "a\xc2\x9b"
		  "2Jb");
	is(err.text, "a??2Jb", "C1 control characters become ?");
	error_set(&err, EPROTO,
		  "a\x9b"
		  "b\xff");
	is(err.text, "a?b?", "bytes that are not UTF-8 become ?");

	memset(text, 'x', sizeof(text));
	text[sizeof(err.text) - 1] = 0;
	error_set(&err, EPROTO, "%s", text);
	is(err.text, text, "text that just fits is whole");
	text[sizeof(err.text) - 1] = 'x';
	text[sizeof(text) - 1] = 0;
	error_set(&err, EPROTO, "%s", text);
	is_int((long long)strlen(err.text), sizeof(err.text) - 2 + 1,
	       "longer text fills the room");
	is(err.text + strlen(err.text) - 4, "x...", "and ends in dots");

	/* A two-byte character on every place, so one lies on the cut. */
	for (size_t shift = 0; shift < 2; shift++) {
		memset(text, 'x', shift);
		for (size = shift; size + 2 < sizeof(text); size += 2)
			memcpy(text + size, "\xc3\xa9", 2);
		text[size] = 0;
		error_set(&err, EPROTO, "%s", text);
		size = strlen(err.text);
		ok(size > 4 && (unsigned char)err.text[size - 4] == 0xa9,
		   "a cut never splits a character (shift %zu)", shift);
	}

	error_set(&err, EPROTO, "inner");
	for (int i = 0; i < 100; i++)
		error_prefix(&err, "level %d", i);
	ok(strlen(err.text) < sizeof(err.text) &&
		   !strncmp(err.text, "level 99: level 98: ", 20),
	   "a hundred places keep the outermost and stay bounded");
}

int main(void)
{
	tap_begin(30);
	a_code_and_a_sentence();
	places_in_front();
	hostile_text();
	return tap_done();
}
