/* terminal_text_test.c - a job's output on a terminal: shown, not obeyed. */
#include "controller/cli/terminal_text.h"
#include "tests/tap.h"

/* As one piece, and byte by byte. */
static void check(const char *given, size_t size, const char *want,
		  const char *what)
{
	for (size_t piece = size ? size : 1;; piece = 1) {
		struct terminal_text text = { 0 };
		char *got = NULL;
		size_t got_size = 0;
		FILE *out = open_memstream(&got, &got_size);

		for (size_t i = 0; i < size; i += piece)
			terminal_text_write(&text, out, given + i, piece);
		terminal_text_end(&text, out);
		fclose(out);
		is(got, want, "%s%s", what, piece == 1 ? ", in pieces" : "");
		free(got);
		if (piece == 1)
			break;
	}
}

#define CHECK(given, want, what) check(given, sizeof(given) - 1, want, what)

int main(void)
{
	tap_begin(10);
	CHECK("step 1\tloss 2.5\r\n", "step 1\tloss 2.5\r\n", "plain text");
	CHECK("\xe6\xad\xa5 caf\xc3\xa9", "\xe6\xad\xa5 caf\xc3\xa9", "UTF-8");
	CHECK("\033[1;32mok\033[0m\033[m", "\033[1;32mok\033[0m\033[m",
	      "colours");
	CHECK("\033]0;title\007", "^[]0;title^G", "a title");
	CHECK("\033]52;c;ZXZpbA==\007", "^[]52;c;ZXZpbA==^G", "the clipboard");
	CHECK("\033[2J\033[H\033[?1049h", "^[[2J^[[H^[[?1049h",
	      "clearing and moving");
	CHECK("\033[6n\033[c\033P+q\033\\", "^[[6n^[[c^[P+q^[\\",
	      "what a terminal answers to");
	CHECK("\033\033[31mx", "^[\033[31mx", "a colour behind an escape");
	CHECK("\033[1", "^[[1", "a colour that ends early");
	CHECK("\033[1111111111111111111111111111111111111m",
	      "^[[1111111111111111111111111111111111111m",
	      "a colour without end");
	CHECK("a\0b\b\v\f\016\x7f", "a^@b^H^K^L^N^?", "controls");
	CHECK("\x9b"
	      "31m\xc2\x9b"
	      "2J",
	      "?31m?2J", "controls beyond ASCII");
	CHECK("\xe2\x80\xae"
	      "cba\xe2\x81\xa6",
	      "?cba?", "turned text");
	CHECK("\xff\xe6\xad\xc3(\xf5", "\?\?\?\?(?", "what is no UTF-8");
	CHECK("\xe6\xad\033[2J", "\?\?^[[2J", "an escape in a character");
	CHECK("", "", "nothing");
	return tap_done();
}
