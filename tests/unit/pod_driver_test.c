/* pod_driver_test.c - the agent of a pod beside a command that sees it. */
#include "agent/docker/pod_driver.h"
#include "protocol/base/loop.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
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
	struct __user_cap_data_struct none[2] = { { 0 } };

	if (syscall(SYS_capset, &head, none) < 0)
		perror("capset");
}

/* As the command, with the same user: 0, or the errno with which a file of the
 * agent's process was opened.
 */
static int look(const char *name)
{
	pid_t agent = getpid(), child = fork();
	int status = 0;

	if (!child) {
		char path[64];

		snprintf(path, sizeof(path), "/proc/%d/%s", (int)agent, name);
		_exit(open(path, O_RDONLY | O_CLOEXEC) < 0 ? errno : 0);
	}
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

int main(void)
{
	struct error err = { 0 };
	sd_event *loop = NULL;
	struct engine *engine;
	char volume[] = "/tmp/pod-XXXXXX";
	char host[sizeof(volume) + sizeof(POD_ENGINE)];
	struct stat st = { 0 };

	tap_begin(60);
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
	engine_free(engine);
	sd_event_unref(loop);
	return tap_done();
}
