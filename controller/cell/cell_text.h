/* cell_text.h - the texts of a cell, with their placeholders filled in.
 *
 * A placeholder (interpolate.h) is a value of the cell, also a default or a
 * computed one, or ${model.x}, a property of the cell's model in the catalog. A
 * cell that uses ${steps} must reach that step.
 */
#ifndef CONTROLLER_CELL_CELL_TEXT_H
#define CONTROLLER_CELL_CELL_TEXT_H

#include "controller/cell/cells.h"

#define CELL_TEXT_WORD_MAX ((size_t)64 * 1024) /* argument or variable */

/* The cell with the texts, and its values by path. Borrowed. */
struct cell_texts {
	struct cells *cells;
	const struct value *const *values;
	struct cell *cell;
};

/* Fill the text into cells->scratch, which the next call overwrites. max: limit
 * of the filled text in bytes; runtime: names of a task's start are allowed.
 */
int cell_text_fill(const struct cell_texts *texts, const struct value *value,
		   size_t max, bool runtime, struct error *err);

/* The same as a heap copy; names of a task's start are not allowed. */
int cell_text_copy(const struct cell_texts *texts, const struct value *value,
		   size_t max, char **out, struct error *err);

/* Add the filled word. If the word is just the placeholder of a list, each
 * entry of the list is added as a word.
 */
int cell_text_words(const struct cell_texts *texts, const struct value *word,
		    struct strings *argv, struct error *err);

#endif
