/* process_state_test.c - processes of ranks are found, and what they do.
 */
#include "agent/evidence/process_state.h"

#include "tests/tap.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void on_abort(int number)
{
}

/* A shell that has the rank in its environment, and a child; it says when both
 * are there. text: what it does before.
 */
static pid_t start_rank(const char *rank, const char *text, int ready)
{
	char script[200];
	pid_t pid = fork();

	if (pid)
		return pid;
	setenv("RANK", rank, 1);
	dup2(ready, 1);
	snprintf(script, sizeof(script), "%s sleep 1000 & echo; wait", text);
	execl("/bin/sh", "sh", "-c", script, NULL);
	_exit(127);
}

static const struct ranked_process *leader_of(const struct ranked_process *list,
					      size_t count, int64_t rank)
{
	const struct ranked_process *found = NULL;

	for (size_t i = 0; i < count; i++)
		if (list[i].leads && list[i].rank == rank)
			found = found ? NULL : &list[i];
	return found;
}

int main(void)
{
	static struct ranked_process list[16];
	owned(evidence_clear) struct evidence seen = { 0 };
	struct process_state stale, now;
	size_t count, left_out;
	int ready[2];
	char byte;
	pid_t ranks[2];

	tap_begin(11);
	if (pipe(ready) < 0)
		return 1;
	ranks[0] = start_rank("4", "", ready[1]);
	ranks[1] = start_rank("5", "", ready[1]);
	for (int i = 0; i < 2; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	count = process_ranks(getpid(), 0, list, 16, &left_out);
	is_int((long long)count, 4, "two ranks, each with a child");
	is_int((long long)left_out, 0, "all of them");
	ok(leader_of(list, count, 4) &&
		   leader_of(list, count, 4)->state.pid == ranks[0],
	   "the shell is the rank's process, not its child");
	ok(leader_of(list, count, 5) &&
		   leader_of(list, count, 5)->state.pid == ranks[1],
	   "and so is that of the other");
	process_ranks(getpid(), 0, list, 3, &left_out);
	is_int((long long)left_out, 1, "what does not fit is counted");
	process_observe(ranks[0], &seen, NULL);
	ok(seen.command && !strncmp(seen.command, "sh -c  sleep", 12),
	   "its command is told: %s", seen.command);
	ok(!process_catches_abort(ranks[0]), "a shell does not handle SIGABRT");
	signal(SIGABRT, on_abort);
	ok(process_catches_abort(getpid()), "one that does is known");
	stale = list[0].state;
	stale.began--;
	ok(!process_state_again(&stale, &now) &&
		   !process_state_signal(&stale, SIGKILL) &&
		   process_state_again(&list[0].state, &now),
	   "one whose number another had before is not signalled");
	ok(process_state_signal(&list[0].state, SIGKILL) &&
		   waitpid(list[0].state.pid, NULL, 0) > 0,
	   "the one that was seen is");
	ok(!process_state_signal(&list[0].state, 0),
	   "and not once it has ended");
	for (size_t i = 1; i < count; i++)
		kill(list[i].state.pid, SIGKILL);
	while (wait(NULL) > 0)
		continue;
	close(ready[0]);
	close(ready[1]);
	return tap_done();
}
