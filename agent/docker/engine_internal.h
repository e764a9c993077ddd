/* engine_internal.h - what carries out the calls of engine.h.
 *
 * The agent is given an engine; engine.h is the same for all of them.
 * engine_new() makes the real one, which speaks HTTP (http_driver.c).
 * Benchmarks and tests give the agent one that exists in memory, or one that
 * fails.
 *
 * A driver's engine begins with a struct engine, its calls with a struct
 * engine_call. The promises of engine.h on callbacks, errors and cancelling are
 * the driver's to keep.
 */
#ifndef AGENT_DOCKER_ENGINE_INTERNAL_H
#define AGENT_DOCKER_ENGINE_INTERNAL_H

#include "agent/docker/engine.h"

/* What all calls of engine.h have in common: engine.c fills a plan for each. */
struct call_plan {
	const char *method;
	const char *path;         /* without the version; copied */
	const char *path_podman;  /* the same of Podman's; NULL: that one */
	const char *body;         /* JSON text, or NULL; copied */
	const char *header;       /* "Name: value", or NULL; copied */
	engine_source_fn *source; /* or an upload */
	void *source_arg;
	engine_data_fn *data;     /* the raw answer goes here, to arg ... */
	engine_object_fn *object; /* ... or its objects go here */
	uint32_t timeout_ms;
	uint32_t stall_ms;
	int conflict; /* errno value of a 409; 0: EBUSY */
	engine_done_fn *done;
	void *arg;
};

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

/* Hand the plan to the driver of the engine. */
struct engine_call *call_begin(struct engine *engine,
			       const struct call_plan *plan, struct error *err);

#endif
