/* cell.h - the merged values of one cell to the spec of its job.
 */
#ifndef CONTROLLER_SWEEP_CELL_H
#define CONTROLLER_SWEEP_CELL_H

#include "controller/sweep/catalog.h"
#include "controller/sweep/cell_data.h"
#include "controller/sweep/keys.h"
#include "controller/sweep/overlay.h"

/* A folder that cells take with them, each once. */
struct workspace {
	char *path;
	const struct value *ignore; /* a list of patterns, or NULL */
	char *content;              /* its hash; NULL: not known yet */
};

void cell_clear(struct cell *cell);
OWNED_VALUE(struct cell, cell_clear)

/* What all cells of a sweep share. The sweep fills in the upper part, then
 * calls cells_prepare() once, when every layer of it is in paths.
 */
struct cells {
	const struct catalog *catalog; /* borrowed, as all of this part */
	const struct value *root;      /* of the sweep file, for errors */
	const char *name;              /* of the sweep */
	struct paths *paths;
	size_t *varying; /* paths that tell cells apart, in order */
	size_t varying_count;

	const struct framework **frameworks; /* those that the sweep names */
	struct overlay *layers;              /* what each of them brings */
	size_t framework_count;
	struct vendor_image {
		const struct vendor *vendor;
		const struct framework *framework;
		const struct value *image;
	} * images; /* those that were looked up */
	size_t image_count;
	size_t *env; /* paths below env, and below ulimits */
	size_t env_count;
	size_t *ulimits;
	size_t ulimit_count;
	struct workspace *workspaces; /* those that cells take with them */
	size_t workspace_count;
	bool *used;            /* by path: a placeholder named it */
	struct buffer scratch; /* any call may use it */
};

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

/* The number that a key of the shape came to, given or computed; 0: none, or
 * not a key of the shape.
 */
uint64_t cell_number(const struct cell *cell, size_t key);

/* Replace *out by a copy of text. */
int cell_set_text(char **out, const char *text, struct error *err);

#endif
