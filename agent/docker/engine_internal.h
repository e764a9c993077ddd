/* engine_internal.h - the interface between engine.h and the driver that
 * carries out its calls.
 *
 * engine_new() makes an engine with the HTTP driver (http_driver.c). Benchmarks
 * and tests give the agent an engine with another driver, which works in memory
 * or fails on purpose.
 *
 * The struct of a driver's engine begins with a struct engine, that of its
 * calls with a struct engine_call. The driver must keep the promises of
 * engine.h on callbacks, errors and cancelling.
 */
#pragma once

#include "agent/docker/engine.h"

/* The description of one call, filled by engine.c. */
struct call_plan {
	const char *method;
	const char *path;         /* without the version; copied */
	const char *path_podman;  /* for Podman; NULL: the same path */
	bool newest;              /* with the engine's own version of the API */
	const char *body;         /* JSON text, or NULL; copied */
	const char *header;       /* "Name: value", or NULL; copied */
	engine_source_fn *source; /* an upload instead of body; or NULL */
	void *source_arg;
	engine_data_fn *data;     /* gets the bytes of the answer */
	engine_object_fn *object; /* gets the JSON objects of the answer */
	bool lists;               /* images or containers */
	uint32_t timeout_ms;
	uint32_t stall_ms;
	int conflict; /* errno value of a 409; 0: EBUSY */
	engine_done_fn *done;
	void *arg;
};

struct engine_driver {
	/* *plan is borrowed until begin() returns, except the arguments of its
	 * callbacks.
	 */
	struct engine_call *(*begin)(struct engine *engine,
				     const struct call_plan *plan,
				     struct error *err);
	void (*cancel)(struct engine_call *call);
	void (*resume)(struct engine_call *call); /* NULL: it never pauses */
	void (*free)(struct engine *engine);      /* cancels all calls */
};

struct engine {
	const struct engine_driver *driver;
	const char *host; /* engine_host() */
	bool podman;      /* engine_podman() */
};

struct engine_call {
	const struct engine_driver *driver;
};
