/* cell_label.h - what tells a cell from the others: in words, and as JSON.
 */
#ifndef CONTROLLER_SWEEP_CELL_LABEL_H
#define CONTROLLER_SWEEP_CELL_LABEL_H

#include "controller/sweep/cell.h"

/* Set spec.cell, "model=gpt-nano batch.micro=2 nodes=1" (cut below
 * CELL_WORDS_BYTES), and spec.values,
 * {"model": "gpt-nano", "batch": {"micro": 2, ...}, "nodes": 1}: what varies in
 * the sweep, and always model, nodes and batch, and parallel where it is given.
 */
int cell_label_set(struct cells *cells, const struct value *const *values,
		   struct cell *cell, struct error *err);

/* The value as JSON: numbers and bools are what they look like. The caller
 * deletes it; NULL: no memory.
 */
cJSON *value_json(const struct value *value);

#endif
