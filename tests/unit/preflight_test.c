/* preflight_test.c - what is missing on a node is named before anything runs.
 */
#include "agent/tasks/preflight.h"

#include "tests/tap.h"

#include <errno.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

static void mounts(void)
{
	struct mount_spec list[] = {
		{ .host = (char *)"/", .container = (char *)"/a" },
		{ .host = (char *)"/proc/self", .container = (char *)"/b" },
	};
	struct task_spec spec = { .container = { .mounts = list } };
	struct error err = { 0 };

	is_int(preflight_check(&spec, "/tmp", &err), 0, "nothing is asked for");
	spec.container.mounts_count = 2;
	is_int(preflight_check(&spec, "/tmp", &err), 0, "all paths are there");
	list[1].host = (char *)"/no/such/path";
	is_int(preflight_check(&spec, "/tmp", &err), -1, "one is not");
	is_int(err.code, ENOENT, "with its code");
	is(err.text,
	   "mounts[1]: /no/such/path on this node: No such file or directory",
	   "and the sentence says which one, and where");
	spec.container.mounts_count = 0;
	is_int(preflight_check(&spec, "/no/such/folder", &err), -1,
	       "a folder for output that is not there");
	ok(err.code == ENOENT && strstr(err.text, "/no/such/folder"),
	   "is named: %s", err.text);
}

/* A small file system of our own, in a child's mount namespace. */
static void small_disk(void)
{
	struct error err = { 0 };
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		struct task_spec spec = { 0 };

		if (unshare(CLONE_NEWNS) < 0 ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount("none", "/tmp", "tmpfs", 0, "size=63m") < 0)
			_exit(77);
		if (preflight_check(&spec, "/tmp", &err) == 0)
			_exit(1);
		if (err.code != ENOSPC ||
		    strcmp(err.text,
			   "/tmp: 63 MiB of disk free, needed are 64"))
			_exit(2);
		if (mount("none", "/tmp", "tmpfs", 0, "size=65m") < 0)
			_exit(77);
		_exit(preflight_check(&spec, "/tmp", &err) == 0 ? 0 : 3);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "a full disk # SKIP no mount namespaces");
	else
		is_int(status, 0,
		       "too little disk is refused, with both numbers");
}

static bool can_bind(int family, uint32_t port)
{
	struct sockaddr_in6 six = { .sin6_family = AF_INET6,
				    .sin6_port = htons((uint16_t)port) };
	struct sockaddr_in four = { .sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port) };
	owned_fd int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return false;
	return family == AF_INET6
		       ? bind(fd, (struct sockaddr *)&six, sizeof(six)) == 0
		       : bind(fd, (struct sockaddr *)&four, sizeof(four)) == 0;
}

static void ports(void)
{
	enum { COUNT = 50 };
	struct error err = { 0 };
	uint32_t ports[COUNT];
	bool good = true, held = true, differ = true;
	int fds[COUNT];

	for (int i = 0; i < COUNT; i++) {
		fds[i] = -1;
		good &= preflight_port(&fds[i], &ports[i], &err) == 0 &&
			ports[i] >= 20000 && ports[i] <= 29999;
		held &= !can_bind(AF_INET, ports[i]) &&
			!can_bind(AF_INET6, ports[i]);
		for (int j = 0; j < i; j++)
			differ &= ports[i] != ports[j];
	}
	ok(good, "ports are found between 20000 and 29999");
	ok(held, "they are held, for IPv4 and IPv6");
	ok(differ, "so no two are the same");
	for (int i = 0; i < COUNT; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	ok(can_bind(AF_INET, ports[0]), "and are free at once when let go");
}

/* Every port of the range, bound; in a network namespace of a child. */
static int bind_all(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rlimit many = { 20000, 20000 };
	struct error err = { 0 };
	uint32_t port = 0;
	int fd = -1;

	/* Of root, the hard limit may be raised; or it is high enough. */
	if (unshare(CLONE_NEWNET) < 0 ||
	    (setrlimit(RLIMIT_NOFILE, &many) < 0 &&
	     (getrlimit(RLIMIT_NOFILE, &many) < 0 || many.rlim_cur < 11000)))
		return 77;
	for (uint16_t i = 20000; i < 30000; i++) {
		int held = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		address.sin_port = htons(i);
		if (held < 0 || bind(held, (struct sockaddr *)&address,
				     sizeof(address)) < 0)
			return 2;
	}
	return preflight_port(&fd, &port, &err) < 0 && err.code == EADDRINUSE &&
			       strstr(err.text, "20000 to 29999")
		       ? 0
		       : 3;
}

static void none_free(void)
{
	int status = -1;
	pid_t child = fork();

	if (child == 0)
		_exit(bind_all());
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		ok(true, "no port is free # SKIP no namespace or descriptors");
	else
		is_int(status, 0, "when no port is free, that is an error");
}

int main(void)
{
	tap_begin(60);
	mounts();
	small_disk();
	ports();
	none_free();
	return tap_done();
}
