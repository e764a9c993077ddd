/* labels.h - makes short names for rows, and finds the words that all rows
 * share.
 *
 * A cell's name is a list of words "key=value" separated by blanks; a value may
 * contain blanks. Words that all rows share are shown once; a row is named by
 * the words in which it differs. Where space is short, words that follow from
 * the others are left out, as long as the names stay distinct; keys of
 * the subjects (figures.h) are never left out.
 */
#pragma once

#include "controller/report/figures.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a label with the NUL; longer ones are cut. */
#define LABEL_SIZE 400

struct labels {
	char common[LABEL_SIZE];  /* words of all rows; "": none, or one row */
	char implied[LABEL_SIZE]; /* keys whose values follow from other keys */
};

/* The length of the first word of text. It ends before a blank that is followed
 * by another "key=".
 */
size_t labels_word(const char *text);

/* Take the next word from the front of a name. Returns its length; 0: none. */
size_t labels_next(const char **name, const char **word);

/* Find the words that cells share: `count` texts (char *, which may be NULL)
 * that are `stride` bytes apart.
 */
void labels_find(const void *cells, size_t stride, size_t count,
		 struct labels *labels);
void labels_find_rows(const struct report_rows *rows, struct labels *labels);

/* The words in which the cell differs, and "#2" for its second repeat (1; none:
 * 0); "all" if it has none. Returns text.
 */
const char *labels_row(const struct labels *labels, const char *cell,
		       uint32_t repeat, char text[LABEL_SIZE]);

/* The same where space is short, "model=gpt-nano tp=4": without implied words,
 * and with only the last part of dotted keys.
 */
const char *labels_brief(const struct labels *labels, const char *cell,
			 uint32_t repeat, char text[LABEL_SIZE]);

/* The same for a chart: only the values, "gpt-nano, 4"; labels_keys() gives
 * their keys.
 */
const char *labels_short(const struct labels *labels, const char *cell,
			 uint32_t repeat, char text[LABEL_SIZE]);

/* "model, batch.micro": the keys of a cell's own words. Returns text. */
const char *labels_keys(const struct labels *labels, const char *cell,
			uint32_t repeat, char text[LABEL_SIZE]);

/* Shorten a name in place to so many columns of a terminal: the longest words
 * first lose the groups of their keys, then the keys, then their middle,
 * "the-fi..g-value B=x". Names that differ in other words, or at an end of a
 * word, stay different.
 */
void labels_squeeze(char *text, size_t columns);

/* Does the cell's name have all of these words? */
bool labels_hold(const char *cell, const char *words);

/* The distinct texts or numbers (not 0) that the rows have there, in their
 * order, with " / " between them: at most four, then "..."; or the names in
 * lists, in natural order with ", ", at most twelve. "": none. Returns text.
 */
const char *labels_values(const struct report_rows *rows,
			  const struct member *member, char text[LABEL_SIZE]);
