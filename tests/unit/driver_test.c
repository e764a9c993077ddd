/* driver_test.c - an agent on an engine that it was given, which fails.
 */
#include "agent/agent.h"
#include "agent/docker/engine.h"
#include "agent/docker/engine_internal.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"

#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sodium.h>

/* Every call fails, or with refuse is not even begun. */
struct failing {
	struct engine base;
	struct engine_call call; /* the one that is under way */
	struct call_plan plan;
	sd_event *loop;
	sd_event_source *answer;
	bool refuse;
	int calls, cancelled;
	bool *freed;
	char path[64];
};

static struct failing *of(struct engine *engine)
{
	return (struct failing *)engine;
}

static int fail_now(sd_event_source *source, void *arg)
{
	struct failing *failing = arg;
	struct error err;

	error_set(&err, EIO, "the engine fails");
	failing->plan.done(failing->plan.arg, &err, NULL);
	return 0;
}

static struct failing *the_one; /* cancel() gets only the call */

static struct engine_call *
begin(struct engine *engine, const struct call_plan *plan, struct error *err)
{
	struct failing *failing = of(engine);

	failing->calls++;
	snprintf(failing->path, sizeof(failing->path), "%s %s", plan->method,
		 plan->path);
	if (failing->refuse) {
		error_set(err, ENOMEM, "the engine takes no call");
		return NULL;
	}
	failing->plan = *plan;
	sd_event_source_set_enabled(failing->answer, SD_EVENT_ONESHOT);
	failing->call.driver = engine->driver;
	return &failing->call;
}

static void cancel(struct engine_call *call)
{
	the_one->cancelled++;
	sd_event_source_set_enabled(the_one->answer, SD_EVENT_OFF);
}

static void failing_free(struct engine *engine)
{
	struct failing *failing = of(engine);

	*failing->freed = true;
	sd_event_source_unref(failing->answer);
	sd_event_unref(failing->loop);
	free(failing);
}

static struct engine *failing_new(sd_event *loop, bool *freed)
{
	static const struct engine_driver driver = {
		.begin = begin,
		.cancel = cancel,
		.free = failing_free,
	};
	struct failing *failing = calloc(1, sizeof(*failing));

	if (!failing)
		abort();
	*freed = false;
	failing->base = (struct engine){ .driver = &driver, .host = "nowhere" };
	failing->freed = freed;
	failing->loop = sd_event_ref(loop);
	sd_event_add_defer(loop, &failing->answer, fail_now, failing);
	sd_event_source_set_enabled(failing->answer, SD_EVENT_OFF);
	the_one = failing;
	return &failing->base;
}

static void heard(void *arg, const struct error *err, cJSON *answer)
{
	*(int *)arg = err ? err->code : 0;
}

/* What engine.h promises reaches the driver, and its answers come back. */
static void calls(sd_event *loop)
{
	bool freed;
	struct engine *engine = failing_new(loop, &freed);
	struct engine_call *call;
	struct error err = { 0 };
	int code = 0;

	is(engine_host(engine), "nowhere", "the engine's own host");
	call = engine_container_start(engine, "c1", 0, heard, &code, &err);
	ok(call, "a call is begun");
	is(the_one->path, "POST /containers/c1/start",
	   "the driver gets what is asked for");
	ok(code == 0, "nothing is heard from inside the call");
	sd_event_run(loop, 0);
	is_int(code, EIO, "its error is heard");
	code = 0;
	call = engine_info(engine, 0, heard, &code, &err);
	engine_call_cancel(call);
	engine_call_cancel(NULL);
	is_int(the_one->cancelled, 1, "a call is cancelled, no call is not");
	the_one->refuse = true;
	ok(!engine_info(engine, 0, heard, &code, &err) && err.code == ENOMEM,
	   "a call that is refused says why");
	engine_free(engine);
	ok(freed, "the driver frees its engine");
	engine_free(NULL);
}

static void configure(struct agent_config *config,
		      struct node_policy *node_policy, const char *state)
{
	struct error err;

	*config = (struct agent_config){
		.settings = {
			.state = state,
			.init = "/regatta-init",
			.controller = "tcp://127.0.0.1:1",
			.cluster = "test",
			.address = "127.0.0.1",
			.vendor = "cpu",
			.devices = 1,
		},
		.node_policy = node_policy,
	};
	if (key_generate(&config->key, "n1", ROLE_AGENT, &err) < 0)
		abort();
	config->server_public = config->key.public;
}

static void agents(sd_event *loop, const char *state)
{
	owned(node_policy_free) struct node_policy *node_policy =
		node_policy_new(NULL, false, NULL);
	struct agent_config config;
	struct agent *agent;
	struct error err = { 0 };
	bool freed;

	configure(&config, node_policy, state);
	agent = agent_new(loop, &config, failing_new(loop, &freed), &err);
	ok(agent, "an agent takes the engine that it is given");
	while (agent && the_one->calls < 1)
		sd_event_run(loop, UINT64_MAX);
	is(the_one->path, "GET /version", "it asks who the engine is");
	while (agent && the_one->calls < 2)
		sd_event_run(loop, UINT64_MAX);
	ok(true, "and asks again when that failed");
	the_one->refuse = true;
	while (agent && the_one->calls < 4)
		sd_event_run(loop, UINT64_MAX);
	ok(true, "... and when the call could not be made");
	is_int((long)agent_tasks(agent), 0, "it has no tasks");
	agent_free(agent);
	ok(freed, "the engine goes with its agent");

	config.settings.state = "/dev/null/no";
	ok(!agent_new(loop, &config, failing_new(loop, &freed), &err) && freed,
	   "... also when there cannot be one");
}

int main(void)
{
	char state[] = "/tmp/regatta-driver-XXXXXX";
	sd_event *loop;

	tap_begin(60);
	if (sodium_init() < 0 || !mkdtemp(state) || sd_event_new(&loop) < 0)
		return 1;
	signal(SIGPIPE, SIG_IGN);
	log_set_level(LOG_ERROR);
	calls(loop);
	agents(loop, state);
	sd_event_unref(loop);
	file_remove_tree(AT_FDCWD, state, NULL);
	return tap_done();
}
