/* likely_lines.c - finds the lines of a log that look most like metrics.
 */
#include "controller/results/likely_lines.h"

#include "protocol/base/printable.h"
#include "protocol/base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAMES_MIN 2
#define LOOKED_AT 512 /* bytes of a line */
#define FAR 24        /* most bytes from a name to its number */

struct line {
	const char *text;
	size_t size;
	int names;
};

/* Names of metrics in logs: one kind per row, ended by NULL. */
static const char *const names[][6] = {
	{ "step", "iter", "batch", "update" },
	{ "epoch" },
	{ "loss", "perplexity", "ppl" },
	{ "time", "elapsed", "sec", "ms" },
	{ "token", "tok/s", "tps" },
	{ "sample", "image", "it/s", "throughput", "speed" },
	{ "mem", "gib", "mib" },
	{ "lr", "learning" },
	{ "grad", "norm" },
	{ "mfu", "flops" },
};

/* "step 12" and "time (ms): 3.5", or "88 tokens" and "12ms". */
static bool number_near(const char *text, size_t size, size_t from, size_t to)
{
	if (from && text[from - 1] == ' ')
		from--;
	if (from && isdigit((unsigned char)text[from - 1]))
		return true;
	for (size_t i = to; i < size && i < to + FAR; i++)
		if (isdigit((unsigned char)text[i]))
			return true;
	return false;
}

/* Does the line have this word, and a number close to it? */
static bool line_has_word(const char *text, size_t size, const char *word)
{
	size_t length = strlen(word);

	for (size_t i = 0; i + length <= size; i++)
		if (!strncasecmp(text + i, word, length) &&
		    (!i || !isalpha((unsigned char)text[i - 1])) &&
		    number_near(text, size, i, i + length))
			return true;
	return false;
}

static int count_names(const char *text, size_t size)
{
	int count = 0;

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		for (size_t w = 0; names[n][w]; w++)
			if (line_has_word(text, size, names[n][w])) {
				count++;
				break;
			}
	return count;
}

static bool is_digit(const char *text, size_t size, size_t at)
{
	return at < size && (isdigit((unsigned char)text[at]) ||
			     text[at] == '.' || text[at] == ' ');
}

/* Do the lines differ only in their numbers? */
static bool same_but_numbers(const struct line *a, const struct line *b)
{
	size_t i = 0, j = 0;

	while (i < a->size || j < b->size) {
		while (is_digit(a->text, a->size, i))
			i++;
		while (is_digit(b->text, b->size, j))
			j++;
		if (i == a->size || j == b->size)
			return i == a->size && j == b->size;
		if (a->text[i++] != b->text[j++])
			return false;
	}
	return true;
}

/* Add the line if it is among the best ones; return their number. */
static size_t likely_lines_take(struct line best[LIKELY_LINES], size_t count,
				const struct line *line)
{
	size_t at = count;

	for (size_t i = 0; i < count; i++)
		if (same_but_numbers(&best[i], line))
			return count;
	while (at && best[at - 1].names < line->names)
		at--;
	if (at == LIKELY_LINES)
		return count;
	if (count < LIKELY_LINES)
		count++;
	memmove(best + at + 1, best + at, (count - at - 1) * sizeof(*best));
	best[at] = *line;
	return count;
}

size_t likely_lines(const char *text, size_t size,
		    char lines[LIKELY_LINES][LIKELY_LINE_BYTES])
{
	struct line best[LIKELY_LINES];
	const char *end = text + size;
	size_t count = 0;

	while (text < end) {
		size_t whole = (size_t)(end - text), length;
		struct line line = { .text = text };

		for (length = 0; length < whole && text[length] != '\n' &&
				 text[length] != '\r';)
			length++;
		line.size = length < LOOKED_AT ? length : LOOKED_AT;
		line.names = count_names(line.text, line.size);
		if (line.names >= NAMES_MIN)
			count = likely_lines_take(best, count, &line);
		text += length < whole ? length + 1 : length;
	}
	for (size_t i = 0; i < count; i++) {
		size_t cut = best[i].size;

		if (cut > LIKELY_LINE_BYTES - 1)
			cut = utf8_cut(best[i].text, LIKELY_LINE_BYTES - 1);
		memcpy(lines[i], best[i].text, cut);
		lines[i][cut] = 0;
		printable(lines[i], cut);
	}
	return count;
}
