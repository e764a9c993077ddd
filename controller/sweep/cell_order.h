/* cell_order.h - which cells of a sweep go after which.
 *
 *	after: {step: pretrain}
 *
 * in a cell means: its jobs begin when the jobs of the cells of this sweep that
 * have these values are completed. Of several such cells those count that are
 * most like this one: of a matrix, the ones that differ from it only in the
 * keys that tell the values apart. Repeat i goes after repeat i, or after the
 * last one.
 *
 *	until: {confidence: 0.95, width: 1%, max: 10}
 *
 * repeats a cell beyond `repeat` until the confidence interval of its mean rate
 * is at most so wide, as a share of the mean, or there are max repeats.
 *
 * A cell that goes after cells that are all dropped is dropped, too. Errors of
 * the file: no cell has these values, a cell goes after itself, directly or by
 * way of others, or it needs more nodes than the one whose nodes it shares.
 */
#ifndef CONTROLLER_SWEEP_CELL_ORDER_H
#define CONTROLLER_SWEEP_CELL_ORDER_H

#include "controller/sweep/sweep.h"

#define CELL_ORDER_SCAN_MAX                                                    \
	20000 /* cells that an include may be compared with */
#define CELL_ORDER_BEFORE_MAX 64 /* cells that one cell goes after */

/* A cell, and one that it goes after; by numbers of cells. */
struct cell_order {
	uint32_t cell;
	uint32_t before;
};

/* Read after, same_nodes and until of a cell into its spec. */
int cell_order_read(const struct value *const *values, struct job_spec *spec,
		    struct error *err);

/* Fill sweep->orders, by cell, and drop what cannot be. */
int cell_order_cells(struct sweep *sweep, struct error *err);

/* The first of the cell's orders; *count is 0 when it has none. */
const struct cell_order *cell_order_of(const struct sweep *sweep, uint32_t cell,
				       size_t *count);

/* The kept cell of this number, or NULL. */
struct kept;
const struct kept *cell_order_kept(const struct sweep *sweep, uint32_t cell);

#endif
