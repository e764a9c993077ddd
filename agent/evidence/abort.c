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

struct abort_target {
	struct process_state process;
	struct process_state launcher; /* pid 0: it is regatta-init */
};

struct evidence_abort {
	sd_event *loop; /* borrowed */
	sd_event_source *timer;
	evidence_abort_fn *done;
	void *arg;
	struct abort_target list[EVIDENCE_PROCESSES_MAX];
	size_t count, next;
	const struct abort_target *last; /* of those that share an output */
	int64_t begun_ms, signalled_ms;
};

static bool lives(const struct abort_target *target)
{
	struct process_state now;

	return process_state_again(&target->process, &now) &&
	       now.state != 'Z' && now.state != 'X';
}

static void abort_signal_process(const struct abort_target *target)
{
	static const struct rlimit no_core = { 0, 0 };

	if (lives(target))
		prlimit(target->process.pid, RLIMIT_CORE, &no_core, NULL);
	process_state_signal(&target->process, SIGABRT);
}

/* Signal the processes with an output of their own at once. The launchers of
 * the others are stopped meanwhile, because they would end them.
 */
static void abort_begin_signals(struct evidence_abort *abort)
{
	for (size_t i = 0; i < abort->count; i++) {
		const struct abort_target *target = &abort->list[i];

		if (target->launcher.pid)
			process_state_signal(&target->launcher, SIGSTOP);
		else
			abort_signal_process(target);
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
	const struct abort_target *last = abort->last;

	if (last && lives(last) && now - abort->signalled_ms < EACH_MS)
		return;
	while (abort->next < abort->count &&
	       !abort->list[abort->next].launcher.pid)
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

/* Those that lead a rank, and print their stacks. */
static void abort_find(struct evidence_abort *abort, pid_t root,
		       const struct ranked_process *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct abort_target *target = &abort->list[abort->count];

		if (!list[i].leads || !process_catches_abort(list[i].state.pid))
			continue;
		*target = (struct abort_target){ .process = list[i].state };
		/* Parents stand before their children. */
		for (size_t j = 0; j < i; j++)
			if (list[j].state.pid == list[i].state.parent)
				target->launcher = list[j].state;
		if (target->launcher.pid || list[i].state.parent == root)
			abort->count++;
	}
}

struct evidence_abort *evidence_abort_begin(sd_event *loop, pid_t root,
					    evidence_abort_fn *done, void *arg)
{
	owned(evidence_abort_cancel) struct evidence_abort *abort =
		calloc(1, sizeof(*abort));
	owned_free struct ranked_process *list =
		calloc(EVIDENCE_PROCESSES_MAX, sizeof(*list));
	size_t left_out;

	if (!abort || !list)
		return NULL;
	abort->loop = loop;
	abort->done = done;
	abort->arg = arg;
	abort->begun_ms = clock_mono_ms();
	abort_find(abort, root, list,
		   process_ranks(root, 0, list, EVIDENCE_PROCESSES_MAX,
				 &left_out));
	if (!abort->count || loop_timer(loop, &abort->timer, POLL_MS,
					evidence_abort_poll, abort, NULL) < 0) {
		abort->count = 0; /* nobody was stopped */
		return NULL;
	}
	abort_begin_signals(abort);
	return take(abort);
}

void evidence_abort_cancel(struct evidence_abort *abort)
{
	if (!abort)
		return;
	for (size_t i = 0; i < abort->count; i++)
		if (abort->list[i].launcher.pid)
			process_state_signal(&abort->list[i].launcher, SIGCONT);
	loop_source_free(&abort->timer);
	free(abort);
}
