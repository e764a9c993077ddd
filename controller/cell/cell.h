/* cell.h - the merged values of one cell to the spec of its job.
 */
#ifndef CONTROLLER_CELL_CELL_H
#define CONTROLLER_CELL_CELL_H

#include "controller/cell/cells.h"

/* Learn the frameworks that the values name, and make room. */
int cells_prepare(struct cells *cells, const struct value *const *frameworks,
		  size_t count, struct error *err);
void cells_clear(struct cells *cells);

/* Values of a cell are an array of paths_count() pointers by path, NULL where
 * nothing is set.
 *
 * cell_complete() adds what the framework brings where the cell is silent.
 */
int cell_complete(struct cells *cells, const struct value **values,
		  struct error *err);

/* A completed cell has all the values of the layer. */
bool cell_matches(const struct cells *cells, const struct value *const *values,
		  const struct overlay *layer);

/* Build the spec of a completed cell. 0 (also when cell->reason says why it is
 * impossible: the spec is then only good for cell_label_set()), or -1 with an
 * error of the file. The key is set, the words and values are not.
 */
int cell_build(struct cells *cells, const struct value *const *values,
	       uint32_t repeat, struct cell *cell, struct error *err);

#endif
