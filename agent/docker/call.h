/* call.h - one call to the engine: version, deadline, answer, error.
 *
 * What all calls of engine.h have in common; engine.c fills a plan for each,
 * and the engine's driver (driver.h) carries it out. call.c is the driver of
 * the real engine, which speaks HTTP.
 */
#ifndef AGENT_DOCKER_CALL_H
#define AGENT_DOCKER_CALL_H

#include "agent/docker/engine.h"

struct call_plan {
	const char *method;
	const char *path;         /* without the version; copied */
	const char *body;         /* JSON text, or NULL; copied */
	const char *header;       /* "Name: value", or NULL; copied */
	engine_source_fn *source; /* or an upload */
	void *source_arg;
	engine_data_fn *data;     /* the raw answer goes here, to arg ... */
	engine_object_fn *object; /* ... or its objects go here */
	uint32_t timeout_ms;
	uint32_t stall_ms;
	int conflict;      /* errno value of a 409; 0: EBUSY */
	int at_end;        /* errno value of the stream's end; 0: success */
	const char *ended; /* and its words, static */
	engine_done_fn *done;
	void *arg;
};

struct engine_call *call_begin(struct engine *engine,
			       const struct call_plan *plan, struct error *err);

#endif
