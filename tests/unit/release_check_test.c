/* release_check_test.c - containers that have other mounts than the policy
 * allowed, and a link that another process changes all the time.
 *
 * A container is a child in namespaces of its own, whose program is this one.
 * Root only.
 */
#include "agent/task/release_check.h"
#include "agent/docker/create_body.h"
#include "protocol/base/file.h"
#include "protocol/base/owned.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define RACES 500
#define PAIRS 3

static char bed[64], program[PATH_MAX];
static bool rooted; /* the bed is the root of containers */

/* A bind mount of a test; paths below the bed. */
struct pair {
	const char *from, *to;
	bool read_only;
};

static const char *below(const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", bed, name);
	return path;
}

static void bind_mount(const struct pair *pair)
{
	char from[PATH_MAX], to[PATH_MAX];

	below(pair->from, from);
	below(pair->to, to);
	if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) < 0 ||
	    (pair->read_only &&
	     mount(NULL, to, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL) < 0))
		_exit(1);
}

struct container {
	pid_t pid;
	ino_t inode; /* of the first mount, as the container has it */
};

static void container_run(const struct pair *pairs, int out)
{
	char to[PATH_MAX];
	struct stat st;

	if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(1);
	for (size_t i = 0; i < PAIRS && pairs[i].from; i++)
		bind_mount(&pairs[i]);
	/* The mounts of the node are not in a container. */
	umount2(below("whole/sub", to), MNT_DETACH);
	if (stat(below(pairs[0].to, to), &st) < 0 ||
	    (rooted && chroot(bed) < 0) ||
	    write(out, &st.st_ino, sizeof(st.st_ino)) != sizeof(st.st_ino))
		_exit(1);
	for (;;)
		pause();
}

/* false: not allowed here. */
static bool container_begin(const struct pair *pairs,
			    struct container *container)
{
	int ends[2];
	bool begun;

	container->pid = -1;
	if (pipe2(ends, O_CLOEXEC) < 0)
		return false;
	container->pid =
		(pid_t)syscall(SYS_clone, CLONE_NEWNS | CLONE_NEWPID | SIGCHLD,
			       0, 0, 0, 0);
	if (!container->pid)
		container_run(pairs, ends[1]);
	close(ends[1]);
	begun = container->pid > 0 &&
		read(ends[0], &container->inode, sizeof(container->inode)) ==
			sizeof(container->inode);
	close(ends[0]);
	return begun;
}

static void container_end(const struct container *container)
{
	if (container->pid <= 0)
		return;
	kill(container->pid, SIGKILL);
	waitpid(container->pid, NULL, 0);
}

static cJSON *request_of(const struct pair *pairs)
{
	cJSON *request = cJSON_CreateObject();
	cJSON *host = cJSON_AddObjectToObject(request, "HostConfig");
	cJSON *mounts = cJSON_AddArrayToObject(host, "Mounts");
	char path[PATH_MAX];

	for (size_t i = 0; i < PAIRS && pairs[i].from; i++) {
		cJSON *mount = cJSON_CreateObject();

		cJSON_AddStringToObject(mount, "Source",
					below(pairs[i].from, path));
		cJSON_AddStringToObject(mount, "Target",
					below(pairs[i].to, path));
		cJSON_AddBoolToObject(mount, "ReadOnly", pairs[i].read_only);
		cJSON_AddItemToArray(mounts, mount);
	}
	return request;
}

/* What is told of a container that was asked to be `asked` and has `has`. */
static int told(const char *rules, const struct pair *asked,
		const struct pair *has, struct error *err)
{
	owned(resolved_paths_clear) struct resolved_paths paths = { 0 };
	owned(policy_free) struct policy *policy =
		rules ? policy_parse(rules, strlen(rules), "p.yaml", err)
		      : policy_any(err);
	cJSON *request = request_of(asked);
	const struct release_check check = {
		.policy = policy,
		.init_program = program,
		.request = request,
		.paths = &paths,
	};
	struct container container;
	int rc = -1;

	error_set(err, 1, "no container");
	release_check_prepare(request, &paths);
	if (container_begin(has, &container))
		rc = release_check_run(&check, container.pid, err);
	container_end(&container);
	cJSON_Delete(request);
	return rc;
}

static void test_mounts(void)
{
	static const struct {
		struct pair asked[PAIRS], has[PAIRS];
		const char *text; /* NULL: released */
		const char *what;
	} cases[] = {
		{ { { "good", "a", false } },
		  { { "good", "a", false } },
		  NULL,
		  "the same" },
		{ { { "a b\\c", "a", false } },
		  { { "a b\\c", "a", false } },
		  NULL,
		  "a name with a blank and a backslash" },
		{ { { "good", "a", false } },
		  { { "good", "b", false } },
		  NULL,
		  "elsewhere, by a link of the image" },
		{ { { "good", "a", true } },
		  { { "good", "a", true } },
		  NULL,
		  "read-only" },
		{ { { "good", "a", false } },
		  { { "good", "a", true } },
		  NULL,
		  "read-only instead of writable" },
		{ { { "good", "a", true } },
		  { { "good", "a", false } },
		  "good is not what was mounted at",
		  "writable instead of read-only" },
		{ { { "good", "a", false } },
		  { { "bad", "a", false } },
		  "good is not what was mounted at",
		  "another folder" },
		{ { { "good", "a", false }, { "good", "b", false } },
		  { { "good", "a", false }, { "bad", "b", false } },
		  "good is not what was mounted at",
		  "one for two" },
		{ { { "whole", "a", false }, { "whole/sub", "b", false } },
		  { { "whole", "a", false }, { "whole/sub", "b", false } },
		  NULL,
		  "a mount with one below it, and that one" },
		{ { { "whole", "a", false }, { "whole/sub", "b", false } },
		  { { "whole", "a", false }, { "bad", "b", false } },
		  "whole/sub is not what was mounted at",
		  "a copy is not the mount that was asked for" },
	};
	struct error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rc = told(NULL, cases[i].asked, cases[i].has, &err);

		ok(cases[i].text ? rc < 0 && err.code == EPERM &&
					   strstr(err.text, cases[i].text)
				 : rc == 0,
		   "%s: %s", cases[i].what, rc < 0 ? err.text : "released");
	}
}

static void test_rights(void)
{
	static const struct pair pairs[PAIRS] = { { "good", "a", false } };
	struct error err;

	ok(told("mounts: [{host: /, write: true}]", pairs, pairs, &err) < 0 &&
		   err.code == EPERM &&
		   strstr(err.text, "capabilities: the container has more"),
	   "capabilities that nobody asked for: %s", err.text);
	snprintf(program, sizeof(program), "/bin/sh");
	ok(told(NULL, pairs, pairs, &err) < 0 && err.code == EPERM &&
		   strstr(err.text, "process 1 of the container is not"),
	   "another program: %s", err.text);
}

/* Who is killed as a container's process 1 has the task's own folder. */
static void test_has(void)
{
	static const struct pair pairs[PAIRS] = { { "good", CONTAINER_OUT + 1,
						    false } };
	struct container container;
	char path[PATH_MAX];

	mkdir(below("regatta", path), 0755);
	mkdir(below(CONTAINER_OUT + 1, path), 0755);
	rooted = true;
	ok(container_begin(pairs, &container) &&
		   release_check_has(container.pid, below("good", path)),
	   "a container has its task's folder");
	ok(!release_check_has(container.pid, below("bad", path)),
	   "and no other task's");
	container_end(&container);
	ok(!release_check_has(container.pid, below("good", path)),
	   "one that has ended has none");
	rooted = false;
	ok(!release_check_has(getpid(), below("good", path)),
	   "nor has a process of the node");
}

/* Let the link lead to the one and the other, as fast as possible. */
static pid_t flipper_begin(void)
{
	char link[PATH_MAX], next[PATH_MAX];
	pid_t pid = fork();

	if (pid)
		return pid;
	below("link", link);
	below("next", next);
	for (bool good = true;; good = !good)
		if (symlink(good ? "good" : "bad", next) < 0 ||
		    rename(next, link) < 0) {
			perror("flip");
			_exit(1);
		}
}

static void test_race(void)
{
	static const struct pair pairs[PAIRS] = { { "link", "a", false } };
	int asked = 0, wrong = 0, released = 0, through = 0;
	cJSON *request = request_of(pairs);
	char path[PATH_MAX], real[PATH_MAX];
	struct policy *policy = policy_any(NULL);
	pid_t flipper;
	struct stat bad;
	struct error err;

	stat(below("bad", path), &bad);
	if (symlink("good", below("link", path)) < 0)
		return;
	flipper = flipper_begin();
	while (asked < RACES) {
		owned(resolved_paths_clear) struct resolved_paths paths = { 0 };
		const struct release_check check = {
			.policy = policy,
			.init_program = program,
			.request = request,
			.paths = &paths,
		};
		struct container container;

		/* The policy allows only the good one. */
		if (resolved_paths_resolve(&paths, below("link", path), real) <
			    0 ||
		    !strstr(real, "/good"))
			continue;
		asked++;
		if (container_begin(pairs, &container)) {
			bool differs = container.inode == bad.st_ino;
			int rc = release_check_run(&check, container.pid, &err);

			wrong += differs;
			released += rc == 0;
			through += rc == 0 && differs;
		}
		container_end(&container);
	}
	kill(flipper, SIGKILL);
	waitpid(flipper, NULL, 0);
	cJSON_Delete(request);
	policy_free(policy);
	is_int(asked, RACES, "a link that changes, as often");
	ok(wrong > 0 && released > 0, "%d of %d mounted the other folder",
	   wrong, asked);
	is_int(through, 0, "none of them was released");
}

int main(void)
{
	static const char *const folders[] = { "good",  "bad",   "a",
					       "b",     "whole", "whole/sub",
					       "a b\\c" };
	char path[PATH_MAX];
	ssize_t size;

	if (geteuid()) {
		printf("1..0 # SKIP needs root\n");
		return 0;
	}
	/* The mounts of this test are nobody else's. */
	snprintf(bed, sizeof(bed), "/tmp/release_check_test.XXXXXX");
	size = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (size <= 0 || !mkdtemp(bed) || unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0) {
		printf("1..0 # SKIP no mount namespaces here\n");
		return 0;
	}
	tap_begin(60);
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		mkdir(below(folders[i], path), 0755);
	mount("none", below("whole/sub", path), "tmpfs", 0, NULL);
	test_race();
	test_mounts();
	test_has();
	test_rights();
	umount(below("whole/sub", path));
	file_remove_tree(AT_FDCWD, bed, NULL);
	return tap_done();
}
