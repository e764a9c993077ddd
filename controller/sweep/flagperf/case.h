/* case.h - one case of a FlagPerf tree to the keys of a cell.
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_CASE_H
#define CONTROLLER_SWEEP_FLAGPERF_CASE_H

#include "controller/catalog/catalog.h"
#include "protocol/message/codec.h"

#include <cjson/cJSON.h>

/* What all cases of a sweep share; borrowed. */
struct flagperf_site {
	const struct value *root;  /* of the sweep file */
	const struct value *block; /* its flagperf: */
	const struct catalog *catalog;
	const char *tree;   /* on the nodes; "": it is in the workspace */
	const char *inside; /* and in the container */
};

/* One of the three suites, as the block has it. */
struct flagperf_section {
	const char *name;
	const struct value *book;  /* of images/flagperf.yaml */
	const struct value *map;   /* where it has its keys */
	const struct value *cases; /* a map, or NULL */
};

struct flagperf_case {
	const struct value *map; /* of the cases */
	size_t index;
	char *reason;         /* why it is left out, or NULL */
	struct strings needs; /* files, from the tree on */
	char *docker; /* how run.py would start its container, or NULL */
};

/* Add to the object what the case becomes, to item->needs, and item->docker.
 * EINVAL names file, line and case.
 */
int case_fill(const struct flagperf_site *site,
	      const struct flagperf_section *section,
	      struct flagperf_case *item, cJSON *cell, struct error *err);

#endif
