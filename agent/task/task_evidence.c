/* task_evidence.c - collects evidence of what a task's processes do: on
 * request, and before a hanging task is stopped.
 */
#include "agent/task/task_internal.h"
#include "agent/docker/pod_driver.h"
#include "protocol/base/log.h"
#include "protocol/message/evidence.h"

#include <fcntl.h>
#include <inttypes.h>

/* Each dump of a rank is a stream, of which a task has INIT_FOLLOW_MAX, and a
 * job not many more (controller/logs/log_store.h).
 */
#define DUMPS_MAX 4
#define DUMPS_WORLD_MAX 1024

static void task_round_done(void *arg);

static int task_round_begin(struct task *task, uint64_t round,
			    struct error *err)
{
	const struct task_services *services = task->services;
	struct evidence_source source = {
		.loop = services->loop,
		.tools = services->stack_tools,
		.cpus = services->preflight.cpus,
		.inside = {
			.engine = services->engine,
			.container = task->container,
			.init = spool_holder(services->spool, &task->id),
		},
		.first_rank = task->spec.first_rank,
		.round = round,
		.stops = task->evidence_stops,
		.folder = -1,
	};
	char name[EVIDENCE_STREAM_SIZE], folder[PATH_MAX];

	if (pod_engine_named(engine_host(services->engine)))
		source.launcher = services->binding->roots->bin;
	evidence_stream(task->id.rank, name);
	source.fd = spool_append_stream(services->spool, &task->id, name, err);
	if (source.fd < 0 || streams_add_evidence(&task->streams, err) < 0)
		return -1;
	spool_path(services->spool, &task->id, SPOOL_OUT, folder);
	if (task->spec.world_size <= DUMPS_WORLD_MAX &&
	    (task->evidence_stops || task->dumps++ < DUMPS_MAX))
		source.folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	task->evidence =
		evidence_round_begin(&source, task_round_done, task, err);
	log_sender_wake(services->sender);
	return task->evidence ? 0 : -1;
}

static void begin_next(struct task *task)
{
	uint64_t round = task->evidence_next;
	struct error err;

	task->evidence_next = 0;
	if (round && task_round_begin(task, round, &err) < 0)
		log_warning("no evidence job=%" PRIu64 " rank=%u: %s",
			    task->id.job, task->id.rank, err.text);
}

/* evidence_round_fn */
static void task_round_done(void *arg)
{
	struct task *task = arg;

	task->evidence = NULL;
	log_sender_wake(task->services->sender);
	begin_next(task);
}

void task_observe(struct task *task, uint64_t round, bool stops)
{
	if (task->step != STEP_RUN)
		return;
	task->evidence_next = round;
	task->evidence_stops = stops;
	if (!task->evidence)
		begin_next(task);
}

void task_evidence_drop(struct task *task)
{
	task->evidence_next = 0;
	evidence_round_cancel(take(task->evidence));
	evidence_abort_cancel(take(task->abort));
}

/* evidence_abort_fn */
static void abort_done(void *arg)
{
	struct task *task = arg;

	task->abort = NULL;
	step_stop(task);
}

bool task_print_stacks(struct task *task)
{
	pid_t root = spool_holder(task->services->spool, &task->id);

	if (task->ordered != FAILURE_HANG || task->aborted || root <= 0)
		return false;
	task->aborted = true;
	task->abort = evidence_abort_begin(task->services->loop, root,
					   abort_done, task);
	return task->abort != NULL;
}
