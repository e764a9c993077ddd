/* printable_json.c - makes JSON with untrusted texts safe for a terminal.
 */
#include "protocol/base/printable_json.h"
#include "protocol/base/utf8.h"

#include <string.h>

int printable_json(struct buffer *out, const char *json, struct error *err)
{
	size_t size = strlen(json), plain = 0, at = 0, length;
	uint32_t code;

	while (at < size) {
		length = utf8_character(json + at, size - at, &code);
		/* Line ends are between the values. */
		if (length && code != 0x7f && !utf8_turns(code)) {
			at += length;
			continue;
		}
		if (buffer_append(out, json + plain, at - plain, err) < 0 ||
		    buffer_printf(out, err, "\\u%04x",
				  length ? (unsigned int)code : 0xfffd) < 0)
			return -1;
		at += length ? length : 1;
		plain = at;
	}
	return buffer_append(out, json + plain, at - plain, err);
}
