/* cell.h - makes the spec of a job from the merged values of its cell.
 */
#pragma once

#include "controller/cell/cells.h"

/* Store the frameworks that the values name, and allocate memory. */
int cells_prepare(struct cells *cells, const struct value *const *frameworks,
		  size_t count, struct error *err);
void cells_clear(struct cells *cells);

/* Values of a cell are an array of paths_count() pointers by path, NULL where
 * nothing is set.
 *
 * cell_complete() adds the framework's values that the cell does not set.
 */
int cell_complete(struct cells *cells, const struct value **values,
		  struct error *err);

/* Has a completed cell all values of the layer? */
bool cell_matches(const struct value *const *values,
		  const struct overlay *layer);

/* Build the spec of a completed cell. 0, or -1 with an error of the file. If
 * the cell is impossible, the result is 0, cell->reason says why, and the spec
 * is only for cell_label_set(). The key is set; label and values are not.
 */
int cell_build(struct cells *cells, const struct value *const *values,
	       uint32_t repeat, struct cell *cell, struct error *err);
