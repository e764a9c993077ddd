/* bare_engine.h - the engine of a benchmark: its options, and its API alone.
 */
#pragma once

#include "protocol/base/error.h"

#include <stddef.h>

#define BARE_WIDTH_MAX 16

/* --build DIR --folder DIR --engine unix://SOCKET --image REFERENCE, all of
 * them needed: else the program ends with a word about it. They point into
 * argv.
 */
struct engine_options {
	const char *build, *folder, *engine, *image;
};
void engine_options_read(struct engine_options *options, int argc, char **argv);

/* One container, in seconds since its create was sent. */
struct bare_times {
	double created_s, started_s, removed_s;
};

/* Create, start, wait for and remove a container that does nothing, on the
 * host's network, the engine's default log driver; count times, `width` at a
 * time, with nothing between the calls. times has room for count.
 */
int bare_engine_run(const struct engine_options *options, size_t count,
		    size_t width, struct bare_times *times, struct error *err);
