/* abort_test.c - ranks print their stacks and end, and their launcher runs on.
 */
#include "agent/evidence/abort.h"
#include "agent/evidence/process_state.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* It handles SIGABRT. */
#define RANK "trap 'exit 3' ABRT; echo; while :; do sleep 0.01; done"

static pid_t begin_shell(const char *script, int out)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	dup2(out, 1);
	execl("/bin/sh", "sh", "-c", script, NULL);
	_exit(127);
}

/* evidence_abort_fn */
static void told(void *arg)
{
	bool *done = arg;

	*done = true;
}

int main(void)
{
	sd_event *loop = NULL;
	bool done = false;
	int ready[2], status;
	pid_t alone, launcher;
	char byte;

	tap_begin(20);
	if (pipe(ready) < 0 || sd_event_new(&loop) < 0)
		return 1;
	alone = begin_shell("RANK=0 exec sh -c \"" RANK "\"", ready[1]);
	launcher = begin_shell("RANK=1 sh -c \"" RANK "\" & a=$!\n"
			       "RANK=2 sh -c \"" RANK "\" & b=$!\n"
			       "wait $a; x=$?; wait $b; exit $((x + $?))",
			       ready[1]);
	for (int i = 0; i < 3; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	ok(!evidence_abort_begin(loop, alone, told, &done),
	   "without a process below there is nothing to do");
	ok(evidence_abort_begin(loop, getpid(), told, &done) != NULL,
	   "there are ranks that handle the signal");
	while (!done && sd_event_run(loop, UINT64_MAX) >= 0)
		continue;
	ok(waitpid(alone, &status, 0) == alone && WIFEXITED(status) &&
		   WEXITSTATUS(status) == 3,
	   "one without a launcher has got it");
	ok(waitpid(launcher, &status, 0) == launcher && WIFEXITED(status) &&
		   WEXITSTATUS(status) == 6,
	   "and both of a launcher, which was continued");
	sd_event_unref(loop);
	close(ready[0]);
	close(ready[1]);
	return tap_done();
}
