/* terminal_text.c - any bytes as output for a terminal: what is shown has no
 * control character but line ends, tabs and colours, and is the same however
 * it was cut.
 *
 * The first byte of the input is the length of the pieces.
 */
#include "controller/cli/terminal_text.h"
#include "tests/fuzz/fuzz.h"

static char *show(const char *data, size_t size, size_t piece)
{
	struct terminal_text text = { 0 };
	char *shown = NULL;
	size_t length;
	FILE *out = open_memstream(&shown, &length);

	must(out != NULL);
	for (size_t at = 0; at < size; at += piece)
		terminal_text_write(&text, out, data + at,
				    piece < size - at ? piece : size - at);
	terminal_text_end(&text, out);
	fclose(out);
	must(strlen(shown) == length);
	return shown;
}

/* Behind a colour's ESC. */
static const char *colour_end(const char *at)
{
	must(*at == '[');
	at += 1 + strspn(at + 1, "0123456789;");
	must(*at == 'm');
	return at;
}

static void check(const char *shown)
{
	const char *at = shown;
	uint32_t code;

	while (*at) {
		size_t size = utf8_character(at, strlen(at), &code);

		must(size > 0);
		if (code == 0x1b)
			at = colour_end(at + 1);
		else
			must(code == '\n' || code == '\t' || code == '\r' ||
			     (code >= 0x20 && code != 0x7f));
		must(!(code >= 0x80 && code <= 0x9f) &&
		     !(code >= 0x202a && code <= 0x202e) &&
		     !(code >= 0x2066 && code <= 0x2069));
		at += size;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *whole, *cut;

	if (!size)
		return 0;
	whole = show((const char *)data + 1, size - 1, size);
	cut = show((const char *)data + 1, size - 1, data[0] % 9 + 1);
	check(whole);
	must(!strcmp(whole, cut));
	free(whole);
	free(cut);
	return 0;
}
