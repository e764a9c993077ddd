/* case.h - converts a case of a FlagPerf tree to the keys of a cell.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "protocol/message/codec.h"

#include <cjson/cJSON.h>

/* Common to all cases of a sweep; borrowed. */
struct flagperf_site {
	const struct value *root;  /* of the sweep file */
	const struct value *block; /* its flagperf: */
	const struct catalog *catalog;
	const char *tree;   /* path on the nodes; "": the workspace */
	const char *inside; /* path in the container */
};

/* A suite in the block. */
struct flagperf_section {
	const char *name;
	const struct value *book;  /* its section of images/flagperf.yaml */
	const struct value *map;   /* the map with its keys */
	const struct value *cases; /* a map, or NULL */
};

struct flagperf_case {
	const struct value *map; /* of the cases */
	size_t index;
	char *reason;         /* why the case is left out, or NULL */
	struct strings needs; /* needed files, relative to the tree */
	char *docker;         /* the docker command of run.py, or NULL */
};

/* Add the keys of the case to the object, and fill item->needs and
 * item->docker. EINVAL: the text names file, line and case.
 */
int case_fill(const struct flagperf_site *site,
	      const struct flagperf_section *section,
	      struct flagperf_case *item, cJSON *cell, struct error *err);
