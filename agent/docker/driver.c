/* driver.c - what carries out the calls of engine.h.
 */
#include "agent/docker/engine_internal.h"

struct engine_call *call_begin(struct engine *engine,
			       const struct call_plan *plan, struct error *err)
{
	return engine->driver->begin(engine, plan, err);
}

void engine_call_cancel(struct engine_call *call)
{
	if (call)
		call->driver->cancel(call);
}

void engine_call_resume(struct engine_call *call)
{
	call->driver->resume(call);
}

void engine_free(struct engine *engine)
{
	if (engine)
		engine->driver->free(engine);
}

const char *engine_host(const struct engine *engine)
{
	return engine->host;
}
