/* utf8_test.c - each character is read as it is written, and nothing else is.
 */
#include "protocol/base/utf8.h"

#include "tests/tap.h"

#include <string.h>

static void every_character(void)
{
	uint32_t wrong = 0, code, count = 0;

	for (uint32_t want = 0; want <= 0x110000; want++) {
		char text[5] = { 0 };
		size_t size = utf8_encode(want, text);
		bool none =
			want > 0x10ffff || (want >= 0xd800 && want < 0xe000);

		count += size != 0;
		if ((size == 0) != none ||
		    (size && (utf8_character(text, 4, &code) != size ||
			      code != want || utf8_cut(text, size) != size)))
			wrong++;
	}
	ok(count == 0x110000 - 0x800, "all but surrogates can be written");
	ok(!wrong, "and are read again: %u wrong", wrong);
}

static void what_is_none(void)
{
	static const char *const bad[] = {
		"\x80",
		"\xc0\x80",
		"\xc1\xbf",
		"\xe0\x9f\xbf",
		"\xed\xa0\x80",
		"\xf0\x8f\xbf\xbf",
		"\xff",
		"\xf4\x90\x80\x80",
		"\xf5\x80\x80\x80",
		"\xe4\xb8",
		"\xc3(",
		"\xe4(\xad",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(!utf8_character(bad[i], 4, NULL), "no character: %zu", i);
	ok(!utf8_character("\xe4\xb8\xad", 2, NULL), "nor one that is cut off");
}

static void where_to_cut(void)
{
	static const char text[] = "a\xe4\xb8\xad\xf0\x9f\x9a\xa3";

	ok(utf8_cut(text, 1) == 1 && utf8_cut(text, 4) == 4,
	   "between characters it stays");
	ok(utf8_cut(text, 2) == 1 && utf8_cut(text, 3) == 1 &&
		   utf8_cut(text, 7) == 4,
	   "inside one it goes back");
	ok(utf8_cut("\x80\x80\x80", 2) == 0, "at most to the beginning");
	ok(utf8_width(text) == 5 && utf8_width("") == 0, "columns are counted");
}

static void how_wide(void)
{
	ok(utf8_width("\u6a21\u578b-1") == 6, "ideographs take two columns");
	ok(utf8_width("e\u0301x") == 2, "a mark over a letter takes none");
	ok(utf8_width("a\xff\xe6z") == 4, "a broken byte takes one");
	ok(utf8_fit("\u6a21\u578b-1", 5) == 7 &&
		   utf8_fit("\u6a21\u578b-1", 3) == 3 &&
		   utf8_fit("\u6a21", 1) == 0,
	   "a character fits as a whole or not at all");
	ok(utf8_fit("e\u0301x", 1) == 3 && utf8_fit("", 1) == 0 &&
		   utf8_fit("ab", 9) == 2,
	   "with the marks over it");
}

static void what_turns(void)
{
	ok(utf8_turns(0x9b) && utf8_turns(0x202e) && utf8_turns(0x2066) &&
		   utf8_turns(0x2028) && utf8_turns(0x200f),
	   "controls, line ends, and what turns text");
	ok(!utf8_turns('a') && !utf8_turns(0xe9) && !utf8_turns(0x4e2d) &&
		   !utf8_turns(0x05d0) && !utf8_turns(0x1f6a3),
	   "letters of any script do not");
}

int main(void)
{
	tap_begin(40);
	what_turns();
	how_wide();
	every_character();
	what_is_none();
	where_to_cut();
	return tap_done();
}
