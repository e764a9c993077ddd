/* cause_line.c - a line of a program's output, without its prefixes. */
#include "controller/causes/cause_line.h"

#include "protocol/base/utf8.h"

#include <stdlib.h>

size_t cause_line_plain(char *text, size_t size)
{
	size_t to = 0, plain = 0;

	while (plain < size && (unsigned char)text[plain] >= ' ')
		plain++;
	to = plain;
	for (size_t i = plain; i < size; i++) {
		if (text[i] != '\033') {
			if ((unsigned char)text[i] >= ' ' || text[i] == '\t')
				text[to++] = text[i];
			continue;
		}
		if (i + 1 < size && text[i + 1] == '[')
			for (i += 2;
			     i < size && (text[i] < '@' || text[i] > '~');)
				i++;
	}
	while (to && (text[to - 1] == ' ' || text[to - 1] == '\t'))
		to--;
	return to;
}

/* Only a line with the first and the last pair of the text is searched. */
bool cause_line_has(const struct cause_line *line, const char *text)
{
	size_t size = strlen(text);
	const uint16_t ends[] = { (uint16_t)line_pair(text),
				  (uint16_t)line_pair(text + size - 2) };

	return line_pairs_have(&line->pairs, ends, 2) &&
	       memmem(line->text, line->size, text, size);
}

bool cause_line_indented(const struct cause_line *line)
{
	/* The bar stands before the frames of a group of exceptions. */
	return line->size &&
	       (*line->text == ' ' || *line->text == '\t' ||
		(line->size > 2 && !memcmp(line->text, "|  ", 3)));
}

uint64_t cause_line_shape(const struct cause_line *line)
{
	uint64_t sum = 1;

	for (size_t i = 0; i < line->size; i++)
		if (!byte_digit(line->text[i]))
			sum = sum * 31 + (unsigned char)line->text[i];
	return sum;
}

char *cause_line_quoted(const char *text, size_t size)
{
	size_t to = 0;
	char *line;

	while (size && (*text == ' ' || *text == '\t')) {
		text++;
		size--;
	}
	line = malloc(CAUSE_LINE_MAX + 4);
	if (!line)
		return NULL;
	while (size) {
		size_t step = (unsigned char)*text < 0x80
				      ? 1
				      : utf8_character(text, size, NULL);

		if (to + (step ? step : 1) > CAUSE_LINE_MAX)
			break;
		if (step > 1)
			memcpy(line + to, text, step);
		else
			line[to] = !step ? '?' : *text == '\t' ? ' ' : *text;
		to += step ? step : 1;
		text += step ? step : 1;
		size -= step ? step : 1;
	}
	line[to] = '\0';
	return line;
}
