/* labels.h - makes short names for rows, and finds the words that all rows
 * share.
 *
 * A cell's name is a list of words "key=value" separated by blanks; a value may
 * contain blanks. Words that all rows share are shown once; a row is named by
 * the words in which it differs. Where space is short, words that follow from
 * the others are left out, as long as the names stay distinct; keys of
 * label_subjects are never left out.
 */
#ifndef CONTROLLER_REPORT_LABELS_H
#define CONTROLLER_REPORT_LABELS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define LABEL_SIZE                                                             \
	400 /* bytes of a label with the NUL; longer ones are cut              \
	     */

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

/* Find the words that these rows (report.h) share. */
void labels_find(const cJSON *rows, struct labels *labels);

/* The words in which the row differs, and "#2" for its second repeat; "all" if
 * it has none. Returns text.
 */
const char *labels_row(const struct labels *labels, const cJSON *row,
		       char text[LABEL_SIZE]);

/* The same where space is short, "model=gpt-nano tp=4": without implied words,
 * and with only the last part of dotted keys.
 */
const char *labels_brief(const struct labels *labels, const cJSON *row,
			 char text[LABEL_SIZE]);

/* The same for a chart: only the values, "gpt-nano, 4"; labels_keys() gives
 * their keys.
 */
const char *labels_short(const struct labels *labels, const cJSON *row,
			 char text[LABEL_SIZE]);

/* "model, batch.micro": the keys of a row's own words. Returns text. */
const char *labels_keys(const struct labels *labels, const cJSON *row,
			char text[LABEL_SIZE]);

/* Shorten a name in place to so many columns of a terminal: the longest words
 * first lose their keys, then their middle, "the-fi..g-value B=x". Names that
 * differ in other words, or at an end of a word, stay different.
 */
void labels_squeeze(char *text, size_t columns);

/* Does the cell's name have all of these words? */
bool labels_hold(const char *cell, const char *words);

/* The distinct texts that the rows have at the path, in their order, with
 * " / " between them: at most four, then "...". "": none. Returns text.
 */
const char *labels_values(const cJSON *rows, const char *path,
			  char text[LABEL_SIZE]);

/* The subjects of a sweep (model, chip ...) in the order of tables: the name to
 * show and the path for labels_values(). Ends in NULL.
 */
extern const struct label_subject {
	const char *name;
	const char *path;
} label_subjects[];

#endif
