/* cells.h - the data that all cells of a sweep share.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/cell/cell_data.h"
#include "controller/cell/keys.h"
#include "controller/cell/overlay.h"
#include "protocol/base/buffer.h"

/* A folder that is uploaded with cells; each folder once. */
struct workspace {
	char *path;
	const struct value *ignore; /* a list of patterns, or NULL */
	char *content;              /* its hash; NULL: not known yet */
};

/* The sweep fills in the upper part, and calls cells_prepare() once, when
 * `paths` has the paths of all layers.
 */
struct cells {
	const struct catalog *catalog; /* borrowed, as all of this part */
	const cJSON *described;   /* the sweep's own descriptions, or NULL */
	const struct value *root; /* of the sweep file, for errors */
	const char *name;         /* of the sweep */
	struct paths *paths;
	const struct value *rungs; /* a list: the micro batches that `fit`
				      stands for; NULL: no cell has it */
	size_t *varying; /* paths whose values differ between cells, in order */
	size_t varying_count;

	const struct framework **frameworks; /* that the sweep names */
	struct overlay *layers;              /* their values */
	size_t framework_count;
	struct vendor_image {
		const struct vendor *vendor;
		const struct framework *framework;
		const struct value *image;
	} * images; /* found so far */
	size_t image_count;
	size_t *env; /* paths below env, and below ulimits */
	size_t env_count;
	size_t *ulimits;
	size_t ulimit_count;
	struct workspace *workspaces; /* of all cells */
	size_t workspace_count;
	struct own_rules {
		const struct value *log;
		char name[24]; /* of the format made from them */
		char *text;    /* description of that format */
	} * own_rules;         /* of cells with log rules in `log` */
	size_t own_rules_count;
	bool *used;            /* by path: a placeholder uses it */
	struct buffer scratch; /* overwritten by any call */
};
