/* html_text.c - text into HTML, with what has a meaning there escaped.
 */
#include "controller/report/html_text.h"

#include "protocol/base/utf8.h"

#include <string.h>

static int put_text(struct buffer *out, const char *text, const char *kept,
		    struct error *err)
{
	static const char *const entities[128] = {
		['&'] = "&amp;",  ['<'] = "&lt;",   ['>'] = "&gt;",
		['"'] = "&quot;", ['\''] = "&#39;",
	};

	while (*text) {
		unsigned char c = (unsigned char)*text;
		uint32_t code = c;
		size_t size = utf8_character(text, strnlen(text, 4), &code);
		const char *put = text;

		if (c < 128 && entities[c])
			put = entities[c];
		else if ((c < 0x20 || c == 0x7f) && !strchr(kept, c))
			put = " ";
		else if (!size || utf8_turns(code))
			put = "\ufffd";
		if (buffer_append(out, put, put == text ? size : strlen(put),
				  err) < 0)
			return -1;
		text += size ? size : 1;
	}
	return 0;
}

int html_text(struct buffer *out, const char *text, struct error *err)
{
	return put_text(out, text, "", err);
}

int html_lines(struct buffer *out, const char *text, struct error *err)
{
	return put_text(out, text, "\n\t", err);
}
