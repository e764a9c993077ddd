/* cells.h - what all cells of a sweep share: plain data of cell.h.
 */
#ifndef CONTROLLER_CELL_CELLS_H
#define CONTROLLER_CELL_CELLS_H

#include "controller/catalog/catalog.h"
#include "controller/cell/cell_data.h"
#include "controller/cell/keys.h"
#include "controller/cell/overlay.h"
#include "protocol/base/buffer.h"

/* A folder that cells take with them, each once. */
struct workspace {
	char *path;
	const struct value *ignore; /* a list of patterns, or NULL */
	char *content;              /* its hash; NULL: not known yet */
};

/* What all cells of a sweep share. The sweep fills in the upper part, then
 * calls cells_prepare() once, when every layer of it is in paths.
 */
struct cells {
	const struct catalog *catalog; /* borrowed, as all of this part */
	const cJSON *described;   /* that the sweep brings along, or NULL */
	const struct value *root; /* of the sweep file, for errors */
	const char *name;         /* of the sweep */
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
	struct own_rules {
		const struct value *log;
		char name[24]; /* of the format that they make */
		char *text;    /* and what describes it */
	} * own_rules;         /* that cells have in place of a format's name */
	size_t own_rules_count;
	bool *used;            /* by path: a placeholder named it */
	struct buffer scratch; /* any call may use it */
};

#endif
