/* docker_line.c - a line of a file of Docker's driver json-file. */
#include "controller/prefixes/docker_line.h"

#include <stdint.h>
#include <string.h>

static const char docker_begin[] = "{\"log\":\"";
static const char docker_stream[] = "\",\"stream\":\"std";

bool docker_line_begins(const char *text, size_t size)
{
	size_t n = sizeof(docker_begin) - 1;

	return size && *text == '{' &&
	       !memcmp(text, docker_begin, size < n ? size : n);
}

static bool hex_read(const char *text, uint32_t *number)
{
	static const char digits[] = "0123456789abcdef";

	*number = 0;
	for (int i = 0; i < 4; i++) {
		const char *digit =
			text[i] ? strchr(digits, text[i] | ' ') : NULL;

		if (!digit)
			return false;
		*number = *number * 16 + (uint32_t)(digit - digits);
	}
	return true;
}

static size_t put_utf8(uint32_t code, char *to)
{
	if (code < 0x80) {
		to[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		to[0] = (char)(0xc0 | code >> 6);
		to[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	to[0] = (char)(0xe0 | code >> 12);
	to[1] = (char)(0x80 | (code >> 6 & 0x3f));
	to[2] = (char)(0x80 | (code & 0x3f));
	return 3;
}

bool docker_line_read(const char *line, size_t size, char *to, size_t *length)
{
	static const char marks[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
	const char *at = line + sizeof(docker_begin) - 1, *end = line + size;
	size_t used = 0;

	if (size < sizeof(docker_begin) + sizeof(docker_stream) ||
	    !docker_line_begins(line, size))
		return false;
	while (at < end && *at != '"') {
		const char *mark;
		uint32_t code;

		if (*at != '\\') {
			to[used++] = *at++;
			continue;
		}
		if (++at == end)
			return false;
		if (*at == 'u') {
			/* Halves of a pair become what UTF-8 has none of. */
			if (end - at < 5 || !hex_read(at + 1, &code))
				return false;
			used += put_utf8(code, to + used);
			at += 5;
			continue;
		}
		for (mark = marks; *mark && *mark != *at;)
			mark += 2;
		if (!*mark)
			return false;
		to[used++] = mark[1];
		at++;
	}
	*length = used;
	return (size_t)(end - at) >= sizeof(docker_stream) - 1 &&
	       !memcmp(at, docker_stream, sizeof(docker_stream) - 1);
}
