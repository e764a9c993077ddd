/* cell_label.h - sets the words and the JSON values that identify a cell.
 */
#ifndef CONTROLLER_SWEEP_CELL_LABEL_H
#define CONTROLLER_SWEEP_CELL_LABEL_H

#include "controller/cell/cells.h"

/* Set spec.cell, "model=gpt-nano batch.micro=2 nodes=1" (cut below
 * CELL_WORDS_BYTES), and spec.values, {"model": "gpt-nano", "batch": {"micro":
 * 2, ...}, "nodes": 1}: the keys that vary in the sweep, always model, nodes
 * and batch, and parallel if given.
 */
int cell_label_set(struct cells *cells, const struct value *const *values,
		   struct cell *cell, struct error *err);

#endif
