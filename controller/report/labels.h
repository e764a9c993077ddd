/* labels.h - short names of rows, and what all rows of a table share.
 *
 * A cell's name is a list of words "key=value" with blanks between them; a
 * value may hold blanks. What all rows share is said once; a row is named by
 * the words in which it differs. Where room is short, words are left out that
 * follow from the others: each cell is still told from all others. What was run
 * (label_subjects) is never left out.
 */
#ifndef CONTROLLER_REPORT_LABELS_H
#define CONTROLLER_REPORT_LABELS_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#define LABEL_SIZE 400 /* bytes of a label, with the 0; longer ones are cut */

struct labels {
	char common[LABEL_SIZE];  /* words of all rows; "": none, or one row */
	char implied[LABEL_SIZE]; /* keys that tell no cell from another */
};

/* Bytes of the word that text begins with: it ends before a blank behind which
 * a further "key=" stands.
 */
size_t labels_word(const char *text);

/* Find what these rows (report.h) share. */
void labels_find(const cJSON *rows, struct labels *labels);

/* The row's own words, and "#2" of its second repeat; "all" where it has no
 * words of its own. Returns text.
 */
const char *labels_row(const struct labels *labels, const cJSON *row,
		       char text[LABEL_SIZE]);

/* The same where room is short, "model=gpt-nano tp=4": without implied words,
 * and of a key what stands behind its last dot.
 */
const char *labels_brief(const struct labels *labels, const cJSON *row,
			 char text[LABEL_SIZE]);

/* The same for a chart: only the values of the words, "gpt-nano, 4";
 * labels_keys() says of what they are.
 */
const char *labels_short(const struct labels *labels, const cJSON *row,
			 char text[LABEL_SIZE]);

/* "model, batch.micro": the keys of a row's own words. Returns text. */
const char *labels_keys(const struct labels *labels, const cJSON *row,
			char text[LABEL_SIZE]);

/* Does the cell's name have all of these words? */
bool labels_hold(const char *cell, const char *words);

/* The distinct texts that the rows have at the path, in their order, with
 * " / " between them: at most four, then "...". "": none. Returns text.
 */
const char *labels_values(const cJSON *rows, const char *path,
			  char text[LABEL_SIZE]);

/* What was run, in the order in which tables tell it: a name to show and the
 * path for labels_values(). NULL ends it.
 */
extern const struct label_subject {
	const char *name;
	const char *path;
} label_subjects[];

#endif
