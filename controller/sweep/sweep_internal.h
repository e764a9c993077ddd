/* sweep_internal.h - the fields of a sweep, for the files that make it up:
 * expand.c reads the file, sweep.c builds the cells, sweep_jobs.c tells their
 * jobs.
 */
#ifndef CONTROLLER_SWEEP_SWEEP_INTERNAL_H
#define CONTROLLER_SWEEP_SWEEP_INTERNAL_H

#include "controller/cell/cell.h"
#include "controller/sweep/flagperf/flagperf.h"
#include "controller/sweep/sweep.h"

#define CELL_ORDER_SCAN_MAX                                                    \
	20000 /* cells that an include may be compared with */

/* A cell, and one that it goes after; by numbers of cells. */
struct cell_order {
	uint32_t cell;
	uint32_t before;
};

/* One key of the matrix: a list of layers. */
struct axis {
	const struct value *list;
	const char *key;
	struct overlay *layers;
	size_t count;
};

/* A cell of an include: of each vendor one, unless the include names its own
 * or the top has no list of them.
 */
struct included {
	const struct overlay *vendor; /* below the include, or NULL */
	const struct overlay *include;
};

enum why { WHY_SHAPE, WHY_EXCLUDED, WHY_TWIN, WHY_AFTER, WHY_CASE };

struct drop {
	uint32_t cell;
	uint32_t other; /* number of the exclude, or cell it is the same as */
	enum why why;
};

struct kept {
	uint32_t cell;
	uint32_t job; /* its first; those up to the next cell's are repeats */
	uint32_t kind;
	uint32_t repeats;
	uint64_t timeout_ms; /* of each repeat; 0: none */
};

struct sweep {
	struct document *document;
	const struct catalog *catalog;
	struct catalog *own; /* with what the sweep describes itself, or NULL */
	cJSON *described;    /* which is this */
	const char *name;
	cJSON *about; /* NULL: the file says nothing */
	struct secret_sources secrets;
	struct paths *paths;
	struct overlay base;
	struct overlay variables; /* of the top: as if they stood in it */
	struct axis *axes;        /* the first one may be the list of vendors */
	size_t axis_count;
	struct overlay *includes;
	size_t include_count;
	struct flagperf *flagperf; /* NULL: the file has no such block */
	size_t flagperf_first;     /* of the includes, those of its cases */
	struct included *included; /* the cells of the includes */
	size_t included_count;
	struct overlay *excludes;
	const struct value **exclude_values;
	size_t exclude_count;
	size_t product; /* cells of the matrix; those behind are includes */
	struct cells cells;
	const struct value **values; /* of the cell at hand */
	struct kept *kept;
	struct sweep_kind *kinds;
	size_t kind_count;
	struct drop *drops;
	struct cell_order *orders; /* by cell */
	size_t order_count;
	struct sweep_totals totals;
};

/* ENOMEM, with the file's name. */
int sweep_nomem(const struct sweep *sweep, struct error *err);

/* Why the case of the cell is left out; NULL: it is none, or it is not. */
const char *sweep_case_reason(const struct sweep *sweep, size_t cell);

/* Put the values of a cell, completed, into sweep->values. */
int sweep_set_values(struct sweep *sweep, size_t cell, struct error *err);

/* Drop a cell that was kept, since what it goes after is not there. */
int sweep_drop_kept(struct sweep *sweep, size_t kept, struct error *err);

/* What the layer says of the path; NULL: nothing. */
const struct value *layer_value(const struct overlay *layer, size_t path);

/* Are the two, either of which may be NULL, different single values? Lists and
 * maps are the same only when they are one.
 */
bool values_differ(const struct value *a, const struct value *b);

/* Read name, about, base and matrix of the file; then include; exclude, which
 * may name paths that the frameworks bring, comes after them. Find the paths
 * that tell cells apart.
 */
int spread_matrix(struct sweep *sweep, struct error *err);
int spread_includes(struct sweep *sweep, struct error *err);
int spread_excludes(struct sweep *sweep, struct error *err);
int spread_varying(struct sweep *sweep, struct error *err);

/* cell_order.c */

/* Fill sweep->orders, by cell, and drop what cannot be. */
int cell_order_cells(struct sweep *sweep, struct error *err);

/* The first of the cell's orders; *count is 0 when it has none. */
const struct cell_order *cell_order_of(const struct sweep *sweep, uint32_t cell,
				       size_t *count);

/* The kept cell of this number, or NULL. */
const struct kept *cell_order_kept(const struct sweep *sweep, uint32_t cell);

#endif
