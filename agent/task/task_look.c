/* task_look.c - what a task's processes do, when somebody asks, and before a
 * task that hangs is stopped.
 */
#include "agent/task/task_internal.h"
#include "protocol/base/log.h"
#include "protocol/message/evidence.h"

#include <inttypes.h>

static void look_done(void *arg);

static int begin(struct task *task, uint64_t round, struct error *err)
{
	const struct task_room *room = task->room;
	struct evidence_source source = {
		.loop = room->loop,
		.tools = room->stack_tools,
		.cpus = room->preflight.cpus,
		.root = spool_holder(room->spool, &task->id),
		.first_rank = task->spec.first_rank,
		.round = round,
		.stops = task->look_stops,
	};
	char name[EVIDENCE_STREAM_SIZE];

	evidence_stream(task->id.rank, name);
	source.fd = spool_append_stream(room->spool, &task->id, name, err);
	if (source.fd < 0 || streams_add_evidence(&task->streams, err) < 0)
		return -1;
	task->look = evidence_round_begin(&source, look_done, task, err);
	log_sender_wake(room->sender);
	return task->look ? 0 : -1;
}

static void begin_next(struct task *task)
{
	uint64_t round = task->look_next;
	struct error err;

	task->look_next = 0;
	if (round && begin(task, round, &err) < 0)
		log_warning("no evidence job=%" PRIu64 " rank=%u: %s",
			    task->id.job, task->id.rank, err.text);
}

/* evidence_round_fn */
static void look_done(void *arg)
{
	struct task *task = arg;

	task->look = NULL;
	log_sender_wake(task->room->sender);
	begin_next(task);
}

void task_look(struct task *task, uint64_t round, bool stops)
{
	if (task->step != STEP_RUN)
		return;
	task->look_next = round;
	task->look_stops = stops;
	if (!task->look)
		begin_next(task);
}

void look_drop(struct task *task)
{
	task->look_next = 0;
	evidence_round_cancel(take(task->look));
	evidence_abort_cancel(take(task->abort));
}

/* evidence_abort_fn */
static void abort_done(void *arg)
{
	struct task *task = arg;

	task->abort = NULL;
	step_stop(task);
}

bool look_abort(struct task *task)
{
	pid_t root = spool_holder(task->room->spool, &task->id);

	if (task->ordered != FAILURE_HANG || task->aborted || root <= 0)
		return false;
	task->aborted = true;
	task->abort =
		evidence_abort_begin(task->room->loop, root, abort_done, task);
	return task->abort != NULL;
}
