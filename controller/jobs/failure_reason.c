/* failure_reason.c - why a job failed. */
#include "controller/jobs/failure_reason.h"
#include "controller/causes/failure_patterns.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/jobs/blame.h"
#include "controller/jobs/core.h"
#include "controller/jobs/hang_evidence.h"
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/results/extract.h"
#include "protocol/blob/packages.h"
#include "protocol/message/stream_index.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the ranks of a job ended, in order of time. */

#define RANK_ENDS_MAX 4096 /* entries; later ends are left out */
#define EARLY_MS 1000

/* An end, and its task. */
struct placed_end {
	const struct rank_end *end;
	const struct task *task;
	const char *node;
};

/* How many ranks the command of the task starts itself, as a launcher does:
 * they share its output, and it is the only process whose end is seen. 0: each
 * process is a rank.
 */
static uint32_t task_launches(const struct task *task)
{
	uint32_t devices = (uint32_t)__builtin_popcountll(task_devices(task));

	return !task->job->gang->spec.container.processes && devices > 1
		       ? devices
		       : 0;
}

static double end_rank(const struct placed_end *end)
{
	return task_launches(end->task) ? (double)NAN : end->end->rank;
}

static int by_time(const void *a, const void *b)
{
	const struct rank_end *one = ((const struct placed_end *)a)->end;
	const struct rank_end *other = ((const struct placed_end *)b)->end;

	if (one->ended_ms != other->ended_ms)
		return one->ended_ms < other->ended_ms ? -1 : 1;
	return (one->rank > other->rank) - (one->rank < other->rank);
}

/* The ends of the gang in order of time; NULL: there are none. */
static struct placed_end *ends_of(const struct gang *gang, size_t *count)
{
	struct placed_end *list;
	size_t all = 0;

	*count = 0;
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		all += gang->tasks[i].ends_count;
	list = all ? calloc(all, sizeof(*list)) : NULL;
	if (!list)
		return NULL;
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		for (size_t e = 0; e < task->ends_count; e++)
			list[(*count)++] = (struct placed_end){
				&task->ends[e],
				task,
				task_node(task) ? node_name(task_node(task))
						: "",
			};
	}
	qsort(list, *count, sizeof(*list), by_time);
	return list;
}

/* Fill *to and its count, which were zero, first to last, by the nodes' clocks;
 * job_reason_read() completes them. None: nothing is known. The caller clears
 * them, also on failure.
 */
static int rank_ends_list(const struct gang *gang, struct end_info **to,
			  size_t *to_count, struct error *err)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);

	if (!list)
		return 0;
	if (count > RANK_ENDS_MAX)
		count = RANK_ENDS_MAX;
	*to = calloc(count, sizeof(**to));
	if (!*to)
		return error_nomem(err, "ends");
	for (size_t i = 0; i < count; i++) {
		const struct rank_end *end = list[i].end;
		struct end_info *info = &(*to)[(*to_count)++];

		*info = (struct end_info){ .rank = end_rank(&list[i]),
					   .task = list[i].task->rank,
					   .ended_ms = end->ended_ms,
					   .exit_code = end->exit_code,
					   .signal = end->signal,
					   .step = (double)NAN };
		if (string_set(&info->node, list[i].node, err) < 0)
			return -1;
	}
	return 0;
}

/* The node of the first task that failed, if no process ended. */
static const char *failed_node(const struct gang *gang)
{
	const struct node *avoided = blame_last(gang->job);

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (gang->tasks[i].failure && task_node(&gang->tasks[i]))
			return node_name(task_node(&gang->tasks[i]));
	return avoided ? node_name(avoided) : NULL;
}

/* The first rank that failed. False: none is known. */
static bool first_failure(const struct gang *gang, struct placed_end *found)
{
	size_t count, first = 0;
	owned_free struct placed_end *list = ends_of(gang, &count);

	while (first < count && !list[first].end->exit_code)
		first++;
	/* Whom the kernel killed ended first, whatever was seen first. */
	for (size_t i = first; i < count && gang->job->failure == FAILURE_OOM;
	     i++)
		if (list[i].end->signal == SIGKILL) {
			first = i;
			break;
		}
	if (first >= count)
		return false;
	*found = list[first];
	return true;
}

/* A reason where the output has none: node, rank, exit_code and signal of the
 * first rank that failed, if known.
 */
static void rank_ends_reason(const struct gang *gang, struct reason *reason)
{
	const char *node = failed_node(gang);
	struct placed_end first;

	*reason = (struct reason){ .rank = REASON_UNKNOWN,
				   .task = REASON_UNKNOWN,
				   .exit_code = REASON_UNKNOWN,
				   .offset = REASON_UNKNOWN };
	if (first_failure(gang, &first)) {
		const struct rank_end *end = first.end;

		node = first.node;
		if (!task_launches(first.task))
			reason->rank = end->rank;
		reason->task = first.task->rank;
		reason->exit_code = end->exit_code;
		if (end->signal)
			snprintf(reason->signal, sizeof(reason->signal),
				 "SIG%s", sigabbrev_np((int)end->signal));
	}
	snprintf(reason->node, sizeof(reason->node), "%s", node ? node : "");
}

/* How long before the first failure a rank exited with 0; 0: none did. */
static uint64_t ahead_ms(const struct placed_end *list, size_t count)
{
	size_t failed = 0;

	while (failed < count && !list[failed].end->exit_code)
		failed++;
	if (!failed || failed >= count)
		return 0;
	return list[failed].end->ended_ms - list[0].end->ended_ms;
}

/* Did a rank end with 0 at least a second before the first failure, while
 * others ran on? text: "rank 1 exited first, with code 0, 12 s
 * earlier".
 */
static bool rank_ends_early(const struct gang *gang, char *text, size_t size)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);
	uint64_t ahead = ahead_ms(list, count);

	if (ahead < EARLY_MS)
		return false;
	snprintf(text, size,
		 "%s %u exited first, with code 0, %" PRIu64 " s earlier",
		 task_launches(list[0].task) ? "task" : "rank",
		 list[0].end->rank, ahead / 1000);
	return true;
}

/* In that case the others failed because this rank was missing: put it into the
 * reason.
 */
static void rank_ends_blame_early(const struct gang *gang,
				  struct reason *reason)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);

	if (!ahead_ms(list, count))
		return;
	snprintf(reason->node, sizeof(reason->node), "%s", list[0].node);
	reason->task = list[0].task->rank;
	reason->rank = task_launches(list[0].task) ? REASON_UNKNOWN
						   : list[0].end->rank;
}

static double known_or_nan(int64_t number)
{
	return number == REASON_UNKNOWN ? (double)NAN : (double)number;
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

static int describe_reason(const struct job *job, struct reason reason,
			   struct reason_info *to, struct error *err)
{
	/* The others failed because the rank that ended early was missing. */
	if (job->failure == FAILURE_EXIT && reason.class == CAUSE_COMMUNICATION)
		rank_ends_blame_early(job->gang, &reason);
	to->task = known_or_nan(reason.task);
	to->rank = known_or_nan(reason.rank);
	to->exit_code = known_or_nan(reason.exit_code);
	to->offset = known_or_nan(reason.offset);
	if (string_set(&to->node, text_or_null(reason.node), err) < 0 ||
	    string_set(&to->how, job->text ? job->text : "", err) < 0 ||
	    string_set(&to->class, causes_class_name(reason.class), err) < 0 ||
	    string_set(&to->signal, text_or_null(reason.signal), err) < 0 ||
	    string_set(&to->line, text_or_null(reason.line), err) < 0)
		return -1;
	return string_set(&to->stream, text_or_null(reason.stream), err);
}

/* The task that ended next after this one, by time, then by rank. */
static const struct task *next_ended(const struct gang *gang,
				     const struct task *last)
{
	const struct task *next = NULL;

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];
		bool after = !last || task->ended_ms > last->ended_ms ||
			     (task->ended_ms == last->ended_ms && task > last);

		if (after && (!next || task->ended_ms < next->ended_ms))
			next = task;
	}
	return next;
}

/* The outputs of the processes, or the files that were followed. */
static void reason_add_streams(struct reason_job *to, const struct task *task,
			       bool files)
{
	for (size_t i = 0; i < task->streams_count; i++) {
		const char *name = task->streams[i].name;
		unsigned int rank = 0;
		char end;
		bool output = sscanf(name, "rank-%9u%c", &rank, &end) == 1;

		if (to->count == REASON_STREAMS_MAX)
			return;
		if (files ? !stream_index_belongs(task->rank, name) ||
				    stream_index_is_index(name) ||
				    !strcmp(name, PACKAGES_STREAM)
			  : !output)
			continue;
		to->streams[to->count++] = (struct reason_stream){
			.name = name,
			.node = task_node(task) ? node_name(task_node(task))
						: NULL,
			.task = task->rank,
			.whole = !task->job->gang->spec.container.processes,
			.launches = task_launches(task),
			.rank = output && !task_launches(task) ? rank
							       : REASON_UNKNOWN,
			.exit_code = task->exit_code,
		};
	}
}

/* Why the job failed, by what was observed or printed. */
static bool read_evidence(const struct job *job, struct stored_result *stored,
			  struct reason *reason)
{
	const struct extract *extract = log_reader_extract(job->gang);
	bool exited =
		job->failure == FAILURE_EXIT || job->failure == FAILURE_OOM;
	struct reason_job asked = {
		.effects = job->jobs->effects,
		.exited = exited,
		.id = job->id,
		.attempt = job->attempt,
		.rules = extract ? extract_rules_of(extract) : NULL,
	};
	const struct task *task = NULL;
	struct reason recorded;

	if (job->failure == FAILURE_HANG)
		return recorder_reason(job, reason) ||
		       evidence_reason(job, reason);
	/* A launcher may end with 0 and leave the errors of its ranks in a
	 * file.
	 */
	if (!job->jobs->failures ||
	    (!exited && job->failure != FAILURE_INCOMPLETE &&
	     job->failure != FAILURE_NO_METRIC))
		return false;
	while ((task = next_ended(job->gang, task)))
		reason_add_streams(&asked, task, false);
	while ((task = next_ended(job->gang, task)))
		reason_add_streams(&asked, task, true);
	if (!job_reason_read(job->jobs->failures, &asked, &stored->ends,
			     &stored->ends_count, reason))
		return false;
	/* A collective that timed out is reported by those that waited. */
	if (reason->class == CAUSE_COMMUNICATION &&
	    recorder_reason(job, &recorded)) {
		recorded.class = reason->class;
		*reason = recorded;
	}
	return true;
}

/* Does a signal end a process whatever it printed before? SIGABRT does not: a
 * program that aborts says why.
 */
static bool signal_ends(const char *signal)
{
	static const char *const names[] = { "SIGKILL", "SIGSEGV", "SIGBUS",
					     "SIGILL", "SIGFPE" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(signal, names[i]))
			return true;
	return false;
}

/* Is the line not the cause? What the agent saw of the first end is certain;
 * and a rank may have printed it only because the first one that failed was
 * gone.
 */
static bool follows(const struct job *job, const struct reason *reason,
		    const struct reason *first)
{
	char name[32];

	if (job->failure == FAILURE_OOM)
		return reason->class != CAUSE_HOST_OOM;
	if (signal_ends(first->signal))
		return reason->class != CAUSE_SIGNAL &&
		       reason->class != CAUSE_HOST_OOM &&
		       reason->class != CAUSE_DEVICE_OOM &&
		       reason->class != CAUSE_HARDWARE;
	if (reason->class != CAUSE_COMMUNICATION || !*reason->stream ||
	    first->rank == REASON_UNKNOWN)
		return false;
	snprintf(name, sizeof(name), "rank-%" PRId64, first->rank);
	return strcmp(name, reason->stream) != 0;
}

/* False: it did not fail, or nothing tells. The ends of a job that hung are of
 * our making.
 */
static bool read_reason(const struct job *job, struct stored_result *stored,
			struct reason *reason)
{
	struct reason first;

	if (!job->failure || job->failure == FAILURE_CANCELLED ||
	    job->failure == FAILURE_ENOUGH)
		return false;
	if (job->failure == FAILURE_HANG)
		return read_evidence(job, stored, reason);
	rank_ends_reason(job->gang, &first);
	if (read_evidence(job, stored, reason) && !follows(job, reason, &first))
		return true;
	*reason = first;
	if (job->failure == FAILURE_OOM)
		reason->class = CAUSE_HOST_OOM;
	else if (job->failure == FAILURE_EXIT && *reason->signal)
		reason->class = CAUSE_SIGNAL;
	return true;
}

/* The program itself reports that memory of a device or the host ran out. */
static void refine_failure(struct job *job, const struct reason *reason)
{
	if (job->failure == FAILURE_EXIT &&
	    (reason->class == CAUSE_DEVICE_OOM ||
	     reason->class == CAUSE_HOST_OOM))
		job->failure = FAILURE_OOM;
}

/* The sentence is of the task that was reported first. Where a rank of another
 * node failed before and the reason is of it, it is of that rank.
 */
static void tell_first_end(struct job *job, const struct reason *reason)
{
	struct placed_end first;
	char ended[160], *text;
	size_t size;

	if (job->failure != FAILURE_EXIT || reason->left ||
	    !first_failure(job->gang, &first) ||
	    first.task->rank != reason->task)
		return;
	size = strlen(first.node);
	if (job->text && !strncmp(job->text, first.node, size) &&
	    job->text[size] == ':')
		return;
	rank_end_sentence(first.end,
			  task_launches(first.task) ? "task" : "rank", ended,
			  sizeof(ended));
	if (asprintf(&text, "%s: %s", first.node, ended) >= 0)
		job_set_text(job, text);
}

/* Continue the job's sentence with its reason, and a rank that exited early. */
static void extend_text(struct job *job, const struct reason *reason)
{
	char early[80], *text;

	tell_first_end(job, reason);
	job_set_text(job, job_reason_sentence(job->text, reason));
	if (job->failure == FAILURE_EXIT && job->text &&
	    rank_ends_early(job->gang, early, sizeof(early)) &&
	    asprintf(&text, "%s; %s", job->text, early) >= 0)
		job_set_text(job, text);
}

int failure_reason_find(const struct job *job, struct stored_result *to,
			struct reason *reason, struct error *err)
{
	if (rank_ends_list(job->gang, &to->ends, &to->ends_count, err) < 0)
		return -1;
	if (!read_reason(job, to, reason))
		return 0;
	to->reason = calloc(1, sizeof(*to->reason));
	if (!to->reason)
		return error_nomem(err, "reason");
	return describe_reason(job, *reason, to->reason, err) < 0 ? -1 : 1;
}

void failure_reason_tell(struct job *job, const struct reason *reason)
{
	refine_failure(job, reason);
	extend_text(job, reason);
}
