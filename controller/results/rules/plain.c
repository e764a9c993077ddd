/* plain.c - removes ANSI escape sequences.
 */
#include "controller/results/rules/rules.h"

#include <string.h>

/* The size of the escape sequence at text[0] (ESC): a control sequence, a
 * string up to its end mark, or a short one. If it does not end in the record,
 * only its first two bytes count. Source: ECMA-48, section 5.
 */
static size_t escape_size(const char *text, size_t size)
{
	size_t i = 1;

	if (size < 2)
		return size;
	if (text[1] == '[') {
		for (i = 2; i < size && text[i] >= 0x20 && text[i] <= 0x3f;)
			i++;
		return i < size && text[i] >= 0x40 && text[i] <= 0x7e ? i + 1
								      : i;
	}
	if (strchr("]PX^_", text[1]) && text[1]) {
		for (i = 2; i < size; i++) {
			if (text[i] == '\a')
				return i + 1;
			if (text[i] == '\033' && i + 1 < size &&
			    text[i + 1] == '\\')
				return i + 2;
		}
		return 2;
	}
	while (i < size && text[i] >= 0x20 && text[i] <= 0x2f)
		i++;
	return i < size && text[i] >= 0x30 && text[i] <= 0x7e ? i + 1 : i;
}

const char *rules_plain(struct extract_rules *rules, const char *text,
			size_t *size)
{
	const char *end = text + *size;
	const char *escape = memchr(text, '\033', *size);
	size_t used = 0;

	if (!escape)
		return text;
	while (text < end) {
		size_t n =
			escape ? (size_t)(escape - text) : (size_t)(end - text);

		memcpy(rules->plain + used, text, n);
		used += n;
		text += n;
		if (text == end)
			break;
		text += escape_size(text, (size_t)(end - text));
		escape = memchr(text, '\033', (size_t)(end - text));
	}
	*size = used;
	return rules->plain;
}
