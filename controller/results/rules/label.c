/* label.c - removes the prefixes that launchers put before a line.
 */
#include "controller/results/rules/rules.h"

#include <ctype.h>
#include <string.h>

#define LABEL_MAX 80 /* bytes of a label */

static size_t digits(const char *text, size_t size)
{
	size_t n = 0;

	while (n < size && isdigit((unsigned char)text[n]))
		n++;
	return n;
}

/* srun --label: blanks, the task's number, a colon and a blank. */
static size_t number_label(const char *text, size_t size)
{
	size_t blanks = 0, n;

	while (blanks < size && blanks < 6 && text[blanks] == ' ')
		blanks++;
	n = digits(text + blanks, size - blanks);
	if (!n || n > 6 || blanks + n + 1 >= size || text[blanks + n] != ':' ||
	    text[blanks + n + 1] != ' ')
		return 0;
	return blanks + n + 2;
}

/* The size of a label with the blank after it. */
static size_t with_blank(const char *text, size_t label, size_t size)
{
	return label + (label < size && text[label] == ' ');
}

/* "[rank3]:", "[default0]:", "[1,0]<stdout>:" */
static size_t bracket_label(const char *text, size_t size)
{
	static const char *const words[] = { "rank", "default", "" };
	const char *end = memchr(text, ']', size);
	size_t at, n;

	if (*text != '[' || !end)
		return 0;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		at = 1 + strlen(words[i]);
		if (at >= size || memcmp(text + 1, words[i], at - 1) != 0)
			continue;
		n = digits(text + at, size - at);
		if (!n)
			continue;
		at += n;
		if (!*words[i] && (at >= size || text[at] != ','))
			continue;
		if (!*words[i])
			at += 1 + digits(text + at + 1, size - at - 1);
		if (text + at != end)
			continue;
		at++;
		if (!*words[i] && size - at > 9 && text[at] == '<')
			at += 8; /* <stdout>, <stderr> */
		return at < size && text[at] == ':'
			       ? with_blank(text, at + 1, size)
			       : 0;
	}
	return 0;
}

/* Ray: "(TaskRunner pid=20713, ip=10.0.0.5) " */
static size_t actor_label(const char *text, size_t size)
{
	const char *end = memchr(text, ')', size);

	if (*text != '(' || !end ||
	    !memmem(text, (size_t)(end - text), " pid=", 5))
		return 0;
	return with_blank(text, (size_t)(end - text) + 1, size);
}

const char *rules_unlabelled(const char *text, size_t *size)
{
	typedef size_t label_fn(const char *, size_t);
	static label_fn *const forms[] = { number_label, bracket_label,
					   actor_label };

	for (bool found = true; found && *size;) {
		size_t window = *size < LABEL_MAX ? *size : LABEL_MAX;

		found = false;
		for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
			size_t n = *size ? forms[i](text, window) : 0;

			if (!n)
				continue;
			text += n;
			*size -= n;
			found = true;
			break;
		}
	}
	return text;
}
