/* interpolate.h - replaces ${placeholders} in a text by their values.
 *
 * ${name} and ${map.name} are looked up; $$ is one $; any other $ stays. Names
 * that are known only when a task starts (MASTER_ADDR, MASTER_PORT,
 * NODE_RANK, NNODES, NPROC_PER_NODE, WORLD_SIZE, NODE_ADDRESSES,
 * NODE_ENDPOINTS_JSON, HOSTFILE, NODE_ADDRESS, INTERFACE, ROUND, START_TIME)
 * are left as they are.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/yaml/value.h"

#define INTERPOLATE_NAME_MAX 240 /* bytes in a name */

/* Append the value of the name. 1: done; 0: there is no such name; -1 with
 * *err: its value is not a text (a list), or not known.
 */
typedef int interpolate_lookup_fn(void *arg, const char *name,
				  struct buffer *out, struct error *err);

/* A similar name for the error text; NULL: none. */
typedef const char *interpolate_nearest_fn(void *arg, const char *name);

struct interpolator {
	interpolate_lookup_fn *lookup;
	interpolate_nearest_fn *nearest; /* or NULL */
	void *arg;
};

/* Append the filled text to *out. place: the position for errors; runtime:
 * names of the task's start are allowed.
 */
int interpolate(const struct interpolator *filler, const char *text,
		bool runtime, const struct value *place, struct buffer *out,
		struct error *err);
