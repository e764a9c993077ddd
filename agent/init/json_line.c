/* json_line.c - strings in a line of JSON.
 */
#include "agent/init/json_line.h"

#include "protocol/base/utf8.h"

int json_line_string(struct buffer *line, const char *text, struct error *err)
{
	int rc = buffer_text(line, "\"", err);

	while (rc == 0 && *text) {
		unsigned char c = (unsigned char)*text;
		size_t length = utf8_character(text, 4, NULL);

		if (!length)
			rc = buffer_text(line, "?", err);
		else if (c == '"' || c == '\\')
			rc = buffer_printf(line, err, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			rc = buffer_printf(line, err, "\\u%04x", c);
		else
			rc = buffer_append(line, text, length, err);
		text += length ? length : 1;
	}
	return rc == 0 ? buffer_text(line, "\"", err) : -1;
}
