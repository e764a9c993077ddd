/* printable_test.c - what a terminal may be shown passes, and nothing else.
 */
#include "protocol/base/printable.h"
#include "protocol/base/printable_json.h"

#include "tests/tap.h"

#include <stdint.h>

static const char *made(const char *text)
{
	static char copy[256];

	snprintf(copy, sizeof(copy), "%s", text);
	printable(copy, strlen(copy));
	return copy;
}

static void what_passes(void)
{
	static const char *const good[] = {
		"plain words, 123",
		"r\xc3\xa9gate",                        /* U+00E9 */
		"\xc2\xa0\xdf\xbf",                     /* U+00A0, U+07FF */
		"\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80", /* U+0800 D7FF E000 */
		"\xe4\xb8\xad\xe6\x96\x87",             /* Chinese */
		"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",     /* U+10000 10FFFF */
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		is(made(good[i]), good[i], "passes: %s", good[i]);
	is(made(""), "", "nothing stays nothing");
}

static const char *ended(const char *text)
{
	static char copy[12];

	memset(copy, 'x', sizeof(copy));
	copy_end(copy, sizeof(copy), text);
	return copy;
}

static void ends(void)
{
	is(ended(""), "", "nothing has no end");
	is(ended("/a/b/c/d/e"), "/a/b/c/d/e", "what fits is whole");
	is(ended("/a/b/c/d/ef"), "/a/b/c/d/ef", "to the last byte");
	is(ended("/a/b/c/d/efg"), ".../c/d/efg", "of what does not, the end");
	is(ended("/a/\xe4\xb8\xad/d/efg"), ".../d/efg",
	   "not from the middle of a character");
}

static void what_does_not(void)
{
	/* clang-format off */
	static const struct {
		const char *from, *to, *what;
	} cases[] = {
		{ "a\nb\t\x1b[2J\x7f", "a?b??[2J?", "C0 controls and DEL" },
		{ "\xc2\x80\xc2\x9f", "????", "C1 controls" },
		{ "a\xe2\x80\xaegnp", "a???gnp", "what turns the direction" },
		{ "\x80\x9b\xff\xfe", "????", "stray bytes" },
		{ "\xc0\x8a\xe0\x80\x8a", "?????", "overlong forms" },
		{ "\xed\xa0\x80", "???", "a surrogate" },
		{ "\xf4\x90\x80\x80", "????", "past the last character" },
		{ "\xe4\xb8", "??", "a cut sequence" },
		{ "\xe4x\xc3\xa9", "?x\xc3\xa9", "one cut by another" },
		{ "\xf0\x9f\x98x", "???x", "a sequence that ends early" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		is(made(cases[i].from), cases[i].to, "replaced: %s",
		   cases[i].what);
}

static void json(void)
{
	static const struct {
		const char *from, *to, *what;
	} cases[] = {
		{ "{\"a\": [1, \"\xe4\xb8\xad\\u0007\"],\n\"b\": 2}\n",
		  "{\"a\": [1, \"\xe4\xb8\xad\\u0007\"],\n\"b\": 2}\n",
		  "what is harmless stays" },
		{ "\"\xc2\x9b\x7f\xc2\x80\xc2\xa0\"",
		  "\"\\u009b\\u007f\\u0080\xc2\xa0\"", "C1 and DEL" },
		{ "\"\xe2\x80\xaegnp.exe\"", "\"\\u202egnp.exe\"",
		  "what turns the direction" },
		{ "\"\x9b\"", "\"\\ufffd\"", "a stray byte" },
		{ "", "", "nothing" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		owned(buffer_clear) struct buffer out = BUFFER_INIT(100);

		printable_json(&out, cases[i].from, NULL);
		is(out.data, cases[i].to, "in JSON, %s", cases[i].what);
	}
}

/* Every code point there is, and some there are not, against the definition. */
static void every_character(void)
{
	long wrong = 0;

	for (uint32_t code = 0x80; code < 0x110000; code++) {
		char text[5] = "", want[5] = "";
		size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
		uint32_t rest = code;

		for (size_t i = size; i-- > 1; rest >>= 6)
			text[i] = (char)(0x80 | (rest & 0x3f));
		text[0] = (char)(rest | (0xf00u >> size & 0xff));
		memcpy(want, text, size);
		if (code < 0xa0 || (code >= 0xd800 && code < 0xe000) ||
		    code == 0x61c || code == 0x200e || code == 0x200f ||
		    (code >= 0x2028 && code <= 0x202e) ||
		    (code >= 0x2066 && code <= 0x2069))
			memset(want, '?', size);
		printable(text, size);
		wrong += memcmp(text, want, size) != 0;
	}
	is_int(wrong, 0,
	       "every character but controls, surrogates and what turns "
	       "the direction passes");
}

int main(void)
{
	tap_begin(60);
	what_passes();
	what_does_not();
	ends();
	json();
	every_character();
	return tap_done();
}
