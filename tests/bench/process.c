/* process.c - child processes of a benchmark: started, timed, ended.
 */
#include "tests/bench/process.h"
#include "tests/bench/measure.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_MS 10000
#define WIDTH_MAX 16

extern char **environ;

/* Threads and daemons of ours block signals; their children must not. */
static void reset_signals(posix_spawnattr_t *attributes)
{
	sigset_t none, all;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawnattr_setsigmask(attributes, &none);
	posix_spawnattr_setsigdefault(attributes, &all);
	posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETSIGMASK |
						     POSIX_SPAWN_SETSIGDEF);
}

pid_t process_start(const char *const *argv, const char *output,
		    const char *errors, struct error *err)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	pid_t pid = -1;
	int rc;

	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attributes);
	reset_signals(&attributes);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1,
					 output ? output : "/dev/null", flags,
					 0644);
	posix_spawn_file_actions_addopen(&actions, 2,
					 errors ? errors : "/dev/null", flags,
					 0644);
	rc = posix_spawnp(&pid, argv[0], &actions, &attributes,
			  (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	if (rc) {
		errno = rc;
		return error_errno(err, "%s", argv[0]);
	}
	return pid;
}

int process_wait(pid_t pid, struct error *err)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, "process %d", (int)pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(err, EIO, "process %d ended with %s %d", (int)pid,
			 WIFEXITED(status) ? "code" : "signal",
			 WIFEXITED(status) ? WEXITSTATUS(status)
					   : WTERMSIG(status));
}

static int open_process(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

void process_end(pid_t pid)
{
	struct pollfd watched = { .events = POLLIN };

	if (pid <= 0)
		return;
	watched.fd = open_process(pid);
	kill(pid, SIGTERM);
	if (watched.fd >= 0 && poll(&watched, 1, END_MS) == 0)
		kill(pid, SIGKILL);
	if (watched.fd >= 0)
		close(watched.fd);
	process_wait(pid, NULL);
}

struct lane {
	pid_t pid;
	size_t index;
	double began;
};

static int lane_end(const struct lane *lane, struct pollfd *watched,
		    double *times, struct error *err)
{
	times[lane->index] = clock_s() - lane->began;
	close(watched->fd);
	watched->fd = -1;
	return process_wait(lane->pid, err);
}

int process_run_many(const char *const *argv, size_t count, size_t width,
		     double *times, struct error *err)
{
	struct lane lanes[WIDTH_MAX];
	struct pollfd watched[WIDTH_MAX];
	size_t begun = 0, ended = 0;
	int rc = 0;

	for (size_t i = 0; i < WIDTH_MAX; i++)
		watched[i] = (struct pollfd){ .fd = -1, .events = POLLIN };
	while (ended < count && rc == 0) {
		for (size_t i = 0; i < width && begun < count; i++) {
			if (watched[i].fd >= 0)
				continue;
			lanes[i].began = clock_s();
			lanes[i].index = begun++;
			lanes[i].pid = process_start(argv, NULL, NULL, err);
			if (lanes[i].pid < 0)
				return -1;
			watched[i].fd = open_process(lanes[i].pid);
		}
		poll(watched, width, -1);
		for (size_t i = 0; i < width; i++) {
			if (watched[i].fd < 0 || !watched[i].revents)
				continue;
			rc |= lane_end(&lanes[i], &watched[i], times, err);
			ended++;
		}
	}
	return rc;
}
