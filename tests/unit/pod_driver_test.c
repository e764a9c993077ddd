/* pod_driver_test.c - the agent of a pod beside a command that sees it. */
#include "agent/docker/pod_driver.h"
#include "protocol/base/file.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The agent has the rights of a container, as the command has: not that to look
 * into any process.
 */
static void drop_rights(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3
	};
	struct __user_cap_data_struct some[2] = { { 0 } };

	if (!geteuid())
		some[0].effective = some[0].permitted = 1U << CAP_SETGID;
	for (int i = 0; !geteuid() && prctl(PR_CAPBSET_READ, i) >= 0; i++)
		if (i != CAP_SETGID)
			prctl(PR_CAPBSET_DROP, i);
	if (syscall(SYS_capset, &head, some) < 0)
		perror("capset");
}

/* As the command, with the same user: 0, or the errno with which a file of the
 * process was opened.
 */
static int look_into(pid_t pid, const char *name)
{
	pid_t child = fork();
	int status = 0;

	if (!child) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
		_exit(open(path, O_RDONLY | O_CLOEXEC) < 0 ? errno : 0);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

static int look(const char *name)
{
	return look_into(getpid(), name);
}

static void tool_ended(void *arg, const struct error *err,
		       const struct subprocess_output *output)
{
}

/* A program that the agent runs in its own container. */
static void look_into_tool(sd_event *loop)
{
	static char *words[] = { (char *)"sleep", (char *)"60" };
	const struct strings argv = { words, 2 };
	const struct subprocess_command command = { .argv = &argv,
						    .timeout_ms = 50000 };
	owned(buffer_clear) struct buffer children = BUFFER_INIT(64);
	struct subprocess *tool =
		subprocess_run(loop, &command, tool_ended, NULL, NULL);
	pid_t pid = file_read_any("/proc/thread-self/children", &children,
				  NULL) == 0
			    ? (pid_t)strtol(children.data, NULL, 10)
			    : 0;

	is_int(look_into(pid, "status"), 0, "it sees a tool of the agent");
	is_int(look_into(pid, "root"), geteuid() ? 0 : EACCES,
	       "and not the files of its container");
	subprocess_cancel(tool);
}

int main(void)
{
	struct error err = { 0 };
	sd_event *loop = NULL;
	struct engine *engine;
	char volume[] = "/tmp/pod-XXXXXX";
	char host[sizeof(volume) + sizeof(POD_ENGINE)];
	struct stat st = { 0 };
	sigset_t child;

	tap_begin(60);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	drop_rights();
	sd_event_new(&loop);
	is_int(look("root"), 0,
	       "a program of the same user looks into another");
	ok(mkdtemp(volume) && chmod(volume, 0777) == 0, "a volume");
	snprintf(host, sizeof(host), POD_ENGINE "%s", volume);
	engine = pod_engine_new(loop, host, &err);
	ok(engine, "an engine: %s", err.text);
	ok(stat(volume, &st) == 0 && (st.st_mode & 07777) == 01777,
	   "the command replaces nothing of the agent in the volume");
	rmdir(volume);
	is_int(look("status"), 0, "the command sees the agent");
	is_int(look("root"), EACCES, "but not the files of its container");
	is_int(look("mem"), EACCES, "nor what it knows");
	look_into_tool(loop);
	engine_free(engine);
	sd_event_unref(loop);
	return tap_done();
}
