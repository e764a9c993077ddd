/* sweep_internal.h - struct sweep, for the files of its module: expand.c reads
 * the file, sweep.c builds the cells, sweep_jobs.c makes their jobs.
 */
#pragma once

#include "controller/cell/cell.h"
#include "controller/sweep/flagperf/flagperf.h"
#include "controller/sweep/sweep.h"

#define CELL_ORDER_SCAN_MAX 20000 /* cells compared with one include */

/* A cell, and a cell that it follows; numbers of cells. */
struct cell_order {
	uint32_t cell;
	uint32_t before;
};

/* One key of the matrix and its entries. */
struct axis {
	const char *key;
	struct overlay *layers;
	size_t count;
};

/* A cell of an include. With a list of vendors at the top level there is one
 * per vendor, unless the include names a vendor; with `batch.micro: fit`, one
 * per rung.
 */
struct included {
	const struct overlay *vendor; /* applied before the include, or NULL */
	const struct overlay *include;
	const struct overlay *rung; /* applied after it, or NULL */
};

enum why {
	WHY_NOT, /* it is kept */
	WHY_SHAPE,
	WHY_EXCLUDED,
	WHY_TWIN,
	WHY_AFTER,
	WHY_CASE,
};

struct drop {
	uint32_t cell;
	uint32_t other; /* number of the exclude, or of the equal cell */
	enum why why;
};

/* There may be a million. */
struct kept {
	uint32_t cell;
	uint32_t job; /* its first one, once numbered; before, its repeats */
	uint32_t kind;
	uint32_t timeout_s; /* of each repeat, rounded up; 0: none */
};

struct sweep {
	struct document *document;
	const struct catalog *catalog;
	struct catalog *own; /* the catalog with `described`, or NULL */
	cJSON *described;    /* the descriptions in the file, or NULL */
	const char *name;
	cJSON *about; /* NULL: not given */
	struct secret_sources secrets;
	struct paths *paths;
	struct overlay base;
	struct overlay variables; /* variables at the top level */
	struct axis *axes;        /* the first one may be the list of vendors */
	size_t axis_count;
	struct overlay *includes;
	size_t include_count;
	struct flagperf *flagperf; /* NULL: no such block */
	size_t flagperf_first;     /* index of its first include */
	struct included *included; /* the cells of the includes */
	size_t included_count;
	struct overlay *excludes;
	const struct value **exclude_values;
	size_t exclude_count;
	const struct sweep_site *site; /* NULL: not known; while it is read */
	struct document *node_axis;    /* of node_axis.c, or NULL */
	/* Of micro_ladder.c; NULL: no cell has `batch.micro: fit`. */
	struct document *ladder;
	struct overlay *rungs;
	size_t rung_count;
	size_t product; /* cells of the matrix; then come those of includes */
	struct cells cells;
	const struct value **values; /* of the current cell */
	struct kept *kept;
	struct sweep_kind *kinds;
	size_t kind_count;
	struct drop *drops;        /* room for all cells, as in `kept` */
	struct cell_order *orders; /* by cell */
	size_t order_count;
	struct sweep_totals totals;
};

/* ENOMEM, with the file's name. */
int sweep_nomem(const struct sweep *sweep, struct error *err);

/* Why the FlagPerf case of the cell is left out; NULL: it is not, or the cell
 * has no case.
 */
const char *sweep_case_reason(const struct sweep *sweep, size_t cell);

/* Fill sweep->values with the complete values of a cell. */
int sweep_set_values(struct sweep *sweep, size_t cell, struct error *err);

/* Drop a kept cell, because a cell that it follows is missing. */
void sweep_drop_kept(struct sweep *sweep, size_t kept);

/* The layers of the file by number: the top level, the entries of the matrix,
 * the includes. NULL: past the last.
 */
const struct overlay *sweep_layer(const struct sweep *sweep, size_t index);

/* The value of the path in the layer; NULL: none. */
const struct value *layer_value(const struct overlay *layer, size_t path);

/* Are the two values (or NULL) different? Lists and maps are equal only if they
 * are the same object.
 */
bool values_differ(const struct value *a, const struct value *b);

/* The steps of reading a file, in this order: name, about, base and matrix;
 * include; exclude, which may name paths that come from frameworks; then find
 * the paths whose values vary.
 */
int expand_matrix(struct sweep *sweep, struct error *err);
int expand_includes(struct sweep *sweep, struct error *err);
int expand_excludes(struct sweep *sweep, struct error *err);
int expand_varying(struct sweep *sweep, struct error *err);

/* node_axis.c */

/* Is this value of `nodes` no number, but a set of nodes? */
bool node_axis_asks(const struct value *nodes);

/* A map of one list, `nodes`, the entries of an axis. NULL: an error. */
const struct value *node_axis_read(struct sweep *sweep,
				   const struct value *nodes,
				   struct error *err);

/* micro_ladder.c */

/* After the layers are read: make the rungs, and an axis of them if the matrix
 * asks for it.
 */
int micro_ladder_expand(struct sweep *sweep, struct error *err);

/* How many rungs an include has; 0: it does not ask for them. */
size_t micro_ladder_rungs(const struct sweep *sweep,
			  const struct overlay *include);

/* cell_order.c */

/* Fill sweep->orders, sorted by cell, and drop cells that cannot run. */
int cell_order_cells(struct sweep *sweep, struct error *err);

/* The orders of a cell: the first of *count; none: *count is 0. */
const struct cell_order *cell_order_of(const struct sweep *sweep, uint32_t cell,
				       size_t *count);

/* The kept cell of this number, or NULL. */
const struct kept *cell_order_kept(const struct sweep *sweep, uint32_t cell);
