/* abort.c - makes the ranks of a container print their stacks, and end.
 */
#include "agent/evidence/abort.h"
#include "agent/evidence/process_state.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#define POLL_MS 20
#define EACH_MS 1000 /* then the next one is signalled anyway */

struct evidence_abort {
	sd_event *loop; /* borrowed */
	sd_event_source *timer;
	evidence_abort_fn *done;
	void *arg;
	pid_t root;
	struct ranked_process list[EVIDENCE_PROCESSES_MAX];
	size_t count, next;
	const struct ranked_process *last; /* of those that share an output */
	int64_t begun_ms, signalled_ms;
};

static bool lives(const struct ranked_process *process)
{
	struct process_state now;

	return process_state_read(process->state.pid, &now) &&
	       now.state != 'Z' && now.state != 'X';
}

static void abort_signal_process(const struct ranked_process *process)
{
	static const struct rlimit no_core = { 0, 0 };

	prlimit(process->state.pid, RLIMIT_CORE, &no_core, NULL);
	kill(process->state.pid, SIGABRT);
}

/* Signal the processes with an output of their own at once. The launchers of
 * the others are stopped meanwhile, because they would end them.
 */
static void abort_begin_signals(struct evidence_abort *abort)
{
	for (size_t i = 0; i < abort->count; i++) {
		const struct ranked_process *process = &abort->list[i];

		if (process->state.parent == abort->root)
			abort_signal_process(process);
		else
			kill(process->state.parent, SIGSTOP);
	}
}

static bool any_lives(const struct evidence_abort *abort)
{
	for (size_t i = 0; i < abort->count; i++)
		if (lives(&abort->list[i]))
			return true;
	return false;
}

/* A process that shares its output is signalled when the one before has ended.
 */
static void signal_next(struct evidence_abort *abort, int64_t now)
{
	const struct ranked_process *last = abort->last;

	if (last && lives(last) && now - abort->signalled_ms < EACH_MS)
		return;
	while (abort->next < abort->count &&
	       abort->list[abort->next].state.parent == abort->root)
		abort->next++;
	if (abort->next == abort->count)
		return;
	abort->last = &abort->list[abort->next++];
	abort->signalled_ms = now;
	abort_signal_process(abort->last);
}

static int evidence_abort_poll(sd_event_source *source, uint64_t usec,
			       void *arg)
{
	struct evidence_abort *abort = arg;
	int64_t now = clock_mono_ms();

	signal_next(abort, now);
	if (any_lives(abort) && now - abort->begun_ms < EVIDENCE_ABORT_MS) {
		loop_timer(abort->loop, &abort->timer, POLL_MS,
			   evidence_abort_poll, abort, NULL);
		return 0;
	}
	abort->done(abort->arg);
	evidence_abort_cancel(abort);
	return 0;
}

struct evidence_abort *evidence_abort_begin(sd_event *loop, pid_t root,
					    evidence_abort_fn *done, void *arg)
{
	owned(evidence_abort_cancel) struct evidence_abort *abort =
		calloc(1, sizeof(*abort));
	size_t left_out, found = 0;

	if (!abort)
		return NULL;
	abort->loop = loop;
	abort->root = root;
	abort->done = done;
	abort->arg = arg;
	abort->begun_ms = clock_mono_ms();
	abort->count = process_ranks(root, 0, abort->list,
				     EVIDENCE_PROCESSES_MAX, &left_out);
	for (size_t i = 0; i < abort->count; i++)
		if (abort->list[i].leads &&
		    process_catches_abort(abort->list[i].state.pid))
			abort->list[found++] = abort->list[i];
	abort->count = found;
	if (!found || loop_timer(loop, &abort->timer, POLL_MS,
				 evidence_abort_poll, abort, NULL) < 0)
		return NULL;
	abort_begin_signals(abort);
	return take(abort);
}

void evidence_abort_cancel(struct evidence_abort *abort)
{
	if (!abort)
		return;
	for (size_t i = 0; i < abort->count; i++)
		if (abort->list[i].state.parent != abort->root)
			kill(abort->list[i].state.parent, SIGCONT);
	loop_source_free(&abort->timer);
	free(abort);
}
