/* delegated_test.c - which limits an engine of a user's own can set.
 */
#include "agent/docker/delegated.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static char root[] = "/tmp/regatta-delegated.XXXXXX";

static void put(const char *name, const char *text)
{
	char path[200];

	snprintf(path, sizeof(path), "%s%s", root, name);
	for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
	if (file_write(AT_FDCWD, path, text, strlen(text), 0600, 0, NULL) < 0)
		abort();
}

static void are(const char *want, const char *what)
{
	owned(strings_clear) struct strings controllers = { 0 };
	struct error err = { 0 };
	char text[200] = "";

	if (delegated_controllers(root, &controllers, &err) < 0)
		snprintf(text, sizeof(text), "error %d", err.code);
	for (size_t i = 0; i < controllers.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s ", controllers.items[i]);
	is(text, want, "%s", what);
}

int main(void)
{
	tap_begin(10);
	if (!mkdtemp(root))
		return 1;
	put("/proc/self/cgroup", "5:memory:/x\n0::/user.slice/step\n");
	are("", "with cgroups of version 1, or of both, none");
	put("/sys/fs/cgroup/cgroup.controllers", "cpu io memory pids\n");
	put("/sys/fs/cgroup/user.slice/step/cgroup.controllers",
	    "memory pids\n");
	are("error 71", "where ours is not told");
	put("/proc/self/cgroup", "0::/user.slice/step\n");
	are("memory pids ", "those of our own cgroup");
	put("/sys/fs/cgroup/user.slice/step/cgroup.controllers", "\n");
	are("", "which may have none");
	put("/proc/self/cgroup", "0::/elsewhere\n");
	are("error 2", "one that is not there");
	file_remove_tree(AT_FDCWD, root, NULL);
	return tap_done();
}
