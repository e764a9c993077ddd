/* interpolate.h - ${placeholders} in a text are replaced by what they stand
 * for.
 *
 * ${name} and ${map.name} are looked up; $$ is one $; a $ before anything else
 * stays. Names that only the start of a task knows (MASTER_ADDR, MASTER_PORT,
 * NODE_RANK, NNODES, NPROC_PER_NODE, WORLD_SIZE, NODE_ADDRESSES,
 * NODE_ENDPOINTS_JSON, HOSTFILE, NODE_ADDRESS, ROUND, START_TIME) are left as
 * they are.
 */
#ifndef CONTROLLER_CELL_INTERPOLATE_H
#define CONTROLLER_CELL_INTERPOLATE_H

#include "protocol/base/buffer.h"
#include "protocol/yaml/value.h"

#define INTERPOLATE_NAME_MAX 240 /* bytes in a name */

/* Append what the name stands for. 1: done; 0: there is no such name; -1 with
 * *err: there is, but it has no text (a list, nothing known).
 */
typedef int interpolate_lookup_fn(void *arg, const char *name,
				  struct buffer *out, struct error *err);

/* A name that is like this one, for the sentence; NULL: none. */
typedef const char *interpolate_nearest_fn(void *arg, const char *name);

struct interpolator {
	interpolate_lookup_fn *lookup;
	interpolate_nearest_fn *nearest;
	void *arg;
};

/* Append the filled text to *out. `place` is where errors point to; runtime:
 * names of the task's start are allowed here.
 */
int interpolate(const struct interpolator *filler, const char *text,
		bool runtime, const struct value *place, struct buffer *out,
		struct error *err);

#endif
