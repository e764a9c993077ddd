/* cell_text.h - the texts of a cell, with their placeholders filled in.
 *
 * A placeholder (interpolate.h) stands for a value of the cell, a default or a
 * computed figure too, or as ${model.x} for what the catalog says of the cell's
 * model. A cell that uses ${steps} is expected to come that far.
 */
#ifndef CONTROLLER_CELL_CELL_TEXT_H
#define CONTROLLER_CELL_CELL_TEXT_H

#include "controller/cell/cells.h"

#define CELL_TEXT_WORD_MAX ((size_t)64 * 1024) /* argument or variable */

/* The cell whose texts are filled, with its values by path. Borrowed. */
struct cell_texts {
	struct cells *cells;
	const struct value *const *values;
	struct cell *cell;
};

/* Fill the text into cells->scratch, which the next call uses again. max: its
 * bytes then; runtime: names of a task's start may stand in it.
 */
int cell_text_fill(const struct cell_texts *texts, const struct value *value,
		   size_t max, bool runtime, struct error *err);

/* The same as a copy, without names of a task's start. */
int cell_text_copy(const struct cell_texts *texts, const struct value *value,
		   size_t max, char **out, struct error *err);

/* Add the filled word. One that is only the placeholder of a list adds a word
 * for each of its entries.
 */
int cell_text_words(const struct cell_texts *texts, const struct value *word,
		    struct strings *argv, struct error *err);

#endif
