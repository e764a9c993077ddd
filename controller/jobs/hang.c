/* hang.c - detects running jobs that show no sign of life.
 */
#include "controller/jobs/hang.h"
#include "controller/causes/failure_patterns.h"
#include "controller/jobs/core.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/hang_evidence.h"
#include "controller/jobs/job_reason.h"
#include "controller/jobs/node_commands.h"
#include "controller/logs/log_reader.h"
#include "controller/logs/task_streams.h"
#include "controller/nodes/node.h"
#include "controller/logs/sampling.h"
#include "controller/results/extract.h"
#include "controller/results/straggler.h"
#include "controller/stacks/stacks.h"
#include "protocol/base/log.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_MS INT64_C(1000)
#define SUSPECT_MS (120 * SECOND_MS)
#define SUSPECT_STEPS 10
#define LIMIT_MS (900 * SECOND_MS)
#define LIMIT_STEPS 30
#define FIRST_STEP_MS (2700 * SECOND_MS)
#define AGE_STEPS 3
#define PACE_STEPS 65 /* the median is of so many of the last steps */
#define ROUND_MS (40 * SECOND_MS) /* for all nodes to observe */
#define REST_MS (60 * SECOND_MS)  /* between checks of a job */
#define POLL_MS (SECOND_MS / 2)

/* All ranks are silent for so long after a launcher gave up. torchrun gives its
 * other processes 30 s to end, and prints more then.
 */
#define LAUNCHER_GRACE_MS (45 * SECOND_MS)
#define LAUNCHER_TAIL_BYTES 16384 /* of each stream, with its report */
#define COMMAND_BYTES 8192

struct hang_watch {
	int64_t life_ms;          /* the last sign of life, monotonic */
	int64_t next_ms;          /* of the next check */
	int64_t until_ms;         /* of the last round; 0: it has not begun */
	uint64_t suspicion, last; /* rounds of evidence; 0: none */
	bool launchers_asked;     /* since the last sign of life */
	struct hang_look {
		uint64_t round; /* that is not read yet; 0: none */
		int64_t until_ms, next_ms;
		int64_t straggler_ms; /* of the next check for one */
		bool straggler;       /* there was one */
		char found[STACKS_TEXT_SIZE];
	} look;
};

bool hang_suspected(const struct gang *gang)
{
	return gang->hang && gang->hang->suspicion;
}

const char *hang_found(const struct gang *gang)
{
	return gang->hang ? gang->hang->look.found : "";
}

int hang_straggler(const struct gang *gang, struct straggler **to,
		   struct error *err)
{
	const struct samplings *samplings = log_reader_samplings(gang);
	owned_free const struct usage **list = NULL;

	*to = NULL;
	if (!samplings)
		return 0;
	list = samplings_list(samplings, err);
	return list ? straggler_find(list, gang->spec.nodes, NULL, to, err)
		    : -1;
}

/* The pace of a job's steps. */

static int intervals_compare(const void *a, const void *b)
{
	double one = *(const double *)a, other = *(const double *)b;

	return (one > other) - (one < other);
}

/* The median step, by times in the log, else by the times at which its lines
 * arrived; 0: not known.
 */
static double step_ms(const struct record *records, size_t count)
{
	size_t first = count > PACE_STEPS ? count - PACE_STEPS : 0;
	double times[PACE_STEPS];
	size_t found = 0;

	for (size_t i = first; i < count; i++)
		if (record_has(&records[i], RECORD_ITERATION_MS))
			times[found++] = records[i].iteration_ms;
		else if (i > first && records[i].came_ms &&
			 records[i - 1].came_ms)
			times[found++] = (double)(records[i].came_ms -
						  records[i - 1].came_ms);
	if (!found)
		return 0;
	qsort(times, found, sizeof(*times), intervals_compare);
	return times[found / 2];
}

static const struct record *steps_of(const struct gang *gang, size_t *count)
{
	const struct extract *extract = log_reader_extract(gang);

	*count = 0;
	return extract ? extract_records(extract, count) : NULL;
}

uint64_t hang_step_age(const struct gang *gang)
{
	const struct job_effects *effects = gang->job->jobs->effects;
	size_t count;
	const struct record *records = steps_of(gang, &count);
	int64_t came = count ? records[count - 1].came_ms : 0;
	int64_t age = effects_wall_ms(effects) - came;

	if (!came || age < SECOND_MS ||
	    (double)age <= AGE_STEPS * step_ms(records, count))
		return 0;
	return (uint64_t)(age / SECOND_MS);
}

bool hang_limits(const struct hang_pace *pace, int64_t *limit, int64_t *suspect)
{
	double step = pace->step_ms;

	if (pace->given_ms == HANG_OFF ||
	    (!pace->given_ms && !pace->steps && !pace->expected))
		return false;
	*limit = pace->steps ? LIMIT_MS : FIRST_STEP_MS;
	if (step * LIMIT_STEPS > (double)*limit)
		*limit = (int64_t)(step * LIMIT_STEPS);
	if (pace->given_ms)
		*limit = (int64_t)pace->given_ms;
	*suspect = SUSPECT_MS;
	if (step * SUSPECT_STEPS > (double)*suspect)
		*suspect = (int64_t)(step * SUSPECT_STEPS);
	if (*suspect > *limit / 2)
		*suspect = *limit / 2;
	return true;
}

static bool limits_of(const struct gang *gang, int64_t *limit, int64_t *suspect)
{
	struct hang_pace pace = { .given_ms = gang->spec.hang_ms };
	const struct record *records = steps_of(gang, &pace.steps);

	pace.step_ms = step_ms(records, pace.steps);
	pace.expected = log_reader_named(gang);
	return hang_limits(&pace, limit, suspect);
}

/* Launchers that report a failed process and do not end. Such a launcher may
 * wait at a barrier for other processes, while those wait for the failed one.
 */

static bool restarts(const struct gang *gang)
{
	const struct strings *argv = &gang->spec.container.argv;
	owned(buffer_clear) struct buffer command = BUFFER_INIT(COMMAND_BYTES);
	struct failure_hit hit;

	for (size_t i = 0; i < argv->count; i++)
		if (buffer_printf(&command, NULL, "%s ", argv->items[i]) < 0)
			break;
	return command.size &&
	       failure_patterns_find(gang->job->jobs->failures, FAILURE_RESTART,
				     NULL, command.data, command.size, false,
				     &hit);
}

/* For tasks of one process; of several, regatta-init is the launcher. */
static bool gave_up(const struct task *task)
{
	const struct job *job = task->job;
	char name[TASK_STREAM_SIZE];
	struct reason_job asked = {
		.effects = job->jobs->effects,
		.id = job->id,
		.attempt = job->attempt,
		.streams = { { .name = name, .rank = REASON_UNKNOWN } },
		.count = 1,
	};

	task_stream_name(task, 0, name);
	return job_reason_gave_up(job->jobs->failures, &asked,
				  LAUNCHER_TAIL_BYTES);
}

/* End the job if a launcher gave up; true: it did. A job whose command asks for
 * restarts (--max-restarts) is left alone.
 */
static bool end_gave_up(struct gang *gang)
{
	struct job *job = gang->job;
	char text[200];

	if (!job->jobs->failures || gang->spec.container.processes ||
	    restarts(gang))
		return false;
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (!task_node(task) || !gave_up(task))
			continue;
		snprintf(text, sizeof(text),
			 "%s: the launcher reported a failed process and did "
			 "not end for %d s",
			 node_name(task_node(task)),
			 (int)(LAUNCHER_GRACE_MS / SECOND_MS));
		gang_exception(job, FAILURE_EXIT, 0, text);
		return true;
	}
	return false;
}

/* Looks at the ranks of a job that goes on. */

static void look_begin(struct gang *gang, int64_t now)
{
	struct hang_look *look = &gang->hang->look;

	look->round = node_commands_look(gang, false);
	look->until_ms = now + ROUND_MS;
	look->next_ms = now + POLL_MS;
	*look->found = 0;
}

/* Read the round when all nodes have answered. */
static void look_read(struct gang *gang, int64_t now)
{
	struct hang_look *look = &gang->hang->look;
	const struct job *job = gang->job;
	struct reason reason;

	if (!look->round || now < look->next_ms)
		return;
	look->next_ms = now + POLL_MS;
	if (now < look->until_ms && !evidence_complete(gang, look->round))
		return;
	look->round = 0;
	if (!gang->hang->suspicion)
		recorder_last(job, look->found);
	else if (recorder_reason(job, &reason) ||
		 (evidence_reason(job, &reason) && *reason.node))
		snprintf(look->found, sizeof(look->found), "%.*s",
			 STACKS_TEXT_SIZE - 1, reason.line);
	if (*look->found)
		changes_progress(job->jobs->changes);
}

/* Is there a node or device that the others wait for? One look tells more. */
static void look_at_straggler(struct gang *gang, int64_t now)
{
	struct hang_look *look = &gang->hang->look;
	struct straggler *straggler = NULL;

	if (look->straggler || now < look->straggler_ms)
		return;
	look->straggler_ms = now + REST_MS;
	if (hang_straggler(gang, &straggler, NULL) < 0 || !straggler)
		return;
	look->straggler = true;
	codec_clear(&straggler_schema, straggler);
	free(straggler);
	look_begin(gang, now);
}

/* Watching. */

static void revive(struct gang *gang, int64_t now)
{
	struct hang_watch *watch = gang->hang;
	bool straggler = watch->look.straggler;

	if (watch->suspicion)
		log_info("job=%" PRIu64 " shows activity again", gang->job->id);
	*watch = (struct hang_watch){ .life_ms = now,
				      .look.straggler = straggler };
	changes_progress(gang->job->jobs->changes);
}

static void suspect(struct gang *gang, int64_t silent_ms, int64_t now)
{
	log_warning("job=%" PRIu64 " is suspected to hang: no activity for "
		    "%" PRId64 " s",
		    gang->job->id, silent_ms / SECOND_MS);
	look_begin(gang, now);
	gang->hang->suspicion = gang->hang->look.round;
	changes_progress(gang->job->jobs->changes);
}

static void hang_end_gang(struct gang *gang, int64_t silent_ms)
{
	char text[160], last[40] = "";
	size_t count;
	const struct record *records = steps_of(gang, &count);

	if (count)
		snprintf(last, sizeof(last), " after step %" PRIu64,
			 records[count - 1].step);
	snprintf(text, sizeof(text),
		 "no step, no output and nothing written for %" PRId64 " s%s",
		 silent_ms / SECOND_MS, last);
	gang_exception(gang->job, FAILURE_HANG, 0, text);
}

/* Silence means nothing while a node of the gang is disconnected. */
static bool is_heard(const struct gang *gang)
{
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (!task_node(&gang->tasks[i]) ||
		    !node_up(task_node(&gang->tasks[i])))
			return false;
	return true;
}

static void judge(struct gang *gang, int64_t now)
{
	struct hang_watch *watch = gang->hang;
	int64_t silent = now - watch->life_ms;
	int64_t limit, suspicion;

	if (!limits_of(gang, &limit, &suspicion)) {
		watch->next_ms = now + REST_MS;
	} else if (watch->until_ms) {
		if (now < watch->until_ms &&
		    !evidence_complete(gang, watch->last))
			watch->next_ms = now + POLL_MS;
		else if (evidence_writes(gang, watch->suspicion, watch->last))
			revive(gang, now);
		else
			hang_end_gang(gang, silent);
	} else if (silent >= limit) {
		watch->last = node_commands_look(gang, true);
		watch->until_ms = now + ROUND_MS;
	} else if (silent >= suspicion && !watch->suspicion) {
		suspect(gang, silent, now);
	} else {
		watch->next_ms =
			watch->life_ms + (watch->suspicion ? limit : suspicion);
		if (watch->next_ms > now + REST_MS)
			watch->next_ms = now + REST_MS;
	}
}

static void gang_watch(struct gang *gang, int64_t now)
{
	struct hang_watch *watch = gang->hang;

	if (!watch) {
		gang->hang = calloc(1, sizeof(*gang->hang));
		if (gang->hang)
			gang->hang->life_ms = now;
		return;
	}
	if (gang->heard_ms > watch->life_ms) {
		if (watch->suspicion)
			revive(gang, gang->heard_ms);
		watch->life_ms = gang->heard_ms;
		watch->launchers_asked = false;
	}
	if (!watch->launchers_asked &&
	    now - watch->life_ms >= LAUNCHER_GRACE_MS) {
		watch->launchers_asked = true;
		if (end_gave_up(gang))
			return;
	}
	look_at_straggler(gang, now);
	look_read(gang, now);
	if (now < watch->next_ms)
		return;
	if (is_heard(gang))
		judge(gang, now);
	else
		watch->life_ms = now;
}

void hang_tick(struct jobs *jobs)
{
	int64_t now = effects_mono_ms(jobs->effects);
	struct gang *gang, *next;

	for (gang = gang_first(jobs->table); gang; gang = next) {
		next = gang_next(gang);
		if (gang->job->state == JOB_RUNNING && !gang->job->failure)
			gang_watch(gang, now);
	}
}
