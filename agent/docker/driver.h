/* driver.h - what carries out the calls of engine.h.
 *
 * The agent is given an engine; engine.h is the same for all of them.
 * engine_new() makes the real one, which speaks HTTP (call.c). Benchmarks and
 * tests give the agent one that exists in memory, or one that fails.
 *
 * A driver's engine begins with a struct engine, its calls with a struct
 * engine_call. The promises of engine.h on callbacks, errors and cancelling are
 * the driver's to keep.
 */
#ifndef AGENT_DOCKER_DRIVER_H
#define AGENT_DOCKER_DRIVER_H

#include "agent/docker/call.h"

struct engine_driver {
	/* All of *plan but its callbacks' arguments is borrowed for the length
	 * of the call.
	 */
	struct engine_call *(*begin)(struct engine *engine,
				     const struct call_plan *plan,
				     struct error *err);
	void (*cancel)(struct engine_call *call);
	void (*resume)(struct engine_call *call);
	const char *(*api_version)(const struct engine *engine);
	void (*free)(struct engine *engine); /* with all its calls */
};

struct engine {
	const struct engine_driver *driver;
	const char *host; /* engine_host() */
};

struct engine_call {
	const struct engine_driver *driver;
};

#endif
