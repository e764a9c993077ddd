/* task_ending.c - how a task's command ended: what its record and the engine
 * say.
 */
#include "agent/spool/exit_record.h"
#include "agent/task/task_internal.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* host/ended: empty if the record was valid, else the reason. */
#define CONCLUSION "ended"
#define CONCLUSION_MAX 4096

static void keep_ends(struct task *task, const struct exit_record *record)
{
	free(task->ends);
	task->ends = calloc(record->processes_count + 1, sizeof(*task->ends));
	task->ends_count = task->ends ? record->processes_count : 0;
	for (size_t i = 0; i < task->ends_count; i++)
		task->ends[i] = (struct rank_end){
			.rank = record->processes[i].rank,
			.exit_code = record->processes[i].exit_code,
			.signal = record->processes[i].signal,
			.ended_ms = record->processes[i].ended_ms,
		};
}

static void from_record(struct task *task, const struct exit_record *record)
{
	uint64_t written = 0, there;
	const char *cut;

	exit_status_from_record(&task->outcome, record,
				!task->spec.container.processes &&
					task->spec.processes_per_node > 1,
				task->ordered);
	strings_clear(&task->ulimits);
	strings_copy(&task->ulimits, &record->ulimits, NULL);
	keep_ends(task, record);
	for (size_t i = 0; i < record->processes_count; i++)
		written += record->processes[i].log_bytes;
	streams_look(&task->streams);
	there = streams_size(&task->streams);
	cut = streams_cut(&task->streams);
	if (cut && !*task->outcome.text)
		snprintf(task->outcome.text, sizeof(task->outcome.text),
			 "%s: the command truncated its own output; the part "
			 "that was not sent is lost",
			 cut);
	if (there < written && !task->outcome.failure) {
		task->outcome.failure = FAILURE_NODE_LOST;
		snprintf(task->outcome.text, sizeof(task->outcome.text),
			 "%" PRIu64 " of %" PRIu64
			 " bytes of output were lost on the node",
			 written - there, written);
	}
}

/* Errors of a record that regatta-init did not write. */
static bool is_damage(const struct error *err)
{
	return err->code == EPROTO || err->code == EINVAL ||
	       err->code == ELOOP || err->code == E2BIG;
}

void step_conclude(struct task *task, const cJSON *container)
{
	owned(exit_record_clear) struct exit_record record = { 0 };
	struct spool *spool = task->services->spool;
	struct error err = { 0 };
	int rc = spool_read_exit(spool, &task->id, &record, &err);

	if (rc == 0 && task->forged)
		rc = error_set(&err, EPROTO,
			       "another file was in its place while the "
			       "command ran");
	if (!task->spec.container.collect.count)
		record.packed_ms = 0;
	if (rc == 0)
		rc = exit_check(&record, container, &err);
	if (rc < 0 && !is_damage(&err)) {
		exit_status_from_engine(&task->outcome, container,
					task->ordered);
		return;
	}
	if (rc == 0)
		from_record(task, &record);
	else
		exit_status_from_ruin(&task->outcome, container, &err,
				      task->ordered);
	/* If this fails, the next agent asks the engine again. */
	spool_write(spool, &task->id, SPOOL_HOST, CONCLUSION, err.text,
		    rc < 0 ? strlen(err.text) : 0, NULL);
}

bool step_concluded(struct task *task)
{
	owned(exit_record_clear) struct exit_record record = { 0 };
	struct spool *spool = task->services->spool;
	owned(buffer_clear) struct buffer why = BUFFER_INIT(CONCLUSION_MAX);
	struct error err;

	if (spool_read(spool, &task->id, SPOOL_HOST, CONCLUSION, &why, NULL) <
	    0)
		return false;
	if (!why.size &&
	    spool_read_exit(spool, &task->id, &record, &err) == 0) {
		from_record(task, &record);
		return true;
	}
	if (why.size)
		error_set(&err, EPROTO, "%s", why.data);
	exit_status_from_ruin(&task->outcome, NULL, &err, task->ordered);
	return true;
}

/* The engine is silent: the record counts if regatta-init does not live. */
static int engine_silent(sd_event_source *source, uint64_t usec, void *arg)
{
	struct task *task = arg;
	struct spool *spool = task->services->spool;

	if ((task->step != STEP_RUN && task->step != STEP_STOP) ||
	    spool_holder(spool, &task->id))
		return 0;
	log_warning("the engine does not report the end of job=%" PRIu64
		    " rank=%u: its record counts",
		    task->id.job, task->id.rank);
	step_conclude(task, NULL);
	task_event(task, EVENT_EXITED);
	return 0;
}

/* The command has ended: ask the engine instead of waiting for it. */
static int inspect_soon(sd_event_source *source, uint64_t usec, void *arg)
{
	struct task *task = arg;

	if (task->step != STEP_RUN)
		return 0;
	engine_call_cancel(take(task->call));
	loop_timer_stop(task->retry);
	step_inspect(task);
	return 0;
}

void step_inspect_soon(struct task *task)
{
	if (!task->look_ms || task->look_ms > ENGINE_SILENT_MS)
		return;
	loop_timer(task->services->loop, &task->soon, task->look_ms,
		   inspect_soon, task, NULL);
	task->look_ms *= 2;
}

void step_record_seen(struct task *task)
{
	if (!spool_record_is_ours(task->services->spool, &task->id))
		task->forged = true;
	/* Only once: a command may make the file again and again. */
	if (!task->look_ms) {
		task->look_ms = RECORD_LOOK_MS;
		step_inspect_soon(task);
	}
	loop_timer(task->services->loop, &task->silent, ENGINE_SILENT_MS,
		   engine_silent, task, NULL);
}
