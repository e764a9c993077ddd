/* fault.h - a failure on purpose, for who wants to see what is told of it.
 */
#pragma once

#include "images/cpu/failure.h"
#include "images/cpu/ring.h"

#include <stdbool.h>

/* One way to fail. */
struct fault;

/* NULL: there is no such way; *failure lists all. */
const struct fault *fault_find(const char *name, struct failure *failure);

/* A line of each, for --help. */
void fault_help(FILE *to);

/* Takes the port before the ranks meet, if that is its way. */
int fault_begin(const struct fault *fault, const struct ring_place *place,
		struct failure *failure);

/* Fails within a step, if it is the way of all ranks or this is the guilty one;
 * else 0. -1: *failure says why; it may also not return at all, or spoil the
 * parameters.
 */
int fault_step(const struct fault *fault, bool guilty, float *parameters,
	       struct failure *failure);
