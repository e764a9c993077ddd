/* podman_service.c - starts a Podman service of the user's own, where none
 * runs.
 */
#include "agent/docker/podman_service.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGAIN_MS 1000
#define IDLE "--time=10" /* seconds that it runs without clients */
#define WORDS_MAX 8192   /* bytes of a command line */
#define END_POLLS 50     /* of 100 ms, from SIGTERM to SIGKILL */
#define PATH_LONGEST 107 /* of a socket: unix(7) */

struct podman_service {
	sd_event *loop;
	sd_event_source *child;
	sd_event_source *again;
	pid_t pid;          /* 0: it does not run */
	bool holder_before; /* it existed before: do not end it */
	char host[OWN_ENGINE_SIZE];
};

static bool read_of(pid_t pid, const char *file, struct buffer *text)
{
	char path[64];

	buffer_init(text, WORDS_MAX);
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	return file_read(AT_FDCWD, path, text, NULL) == 0 && text->size;
}

/* Is this Podman's pause process? It is found by its name, because the place of
 * its pid file depends on Podman's first use. A catatonit of a container has
 * other arguments. A zombie has no arguments.
 */
static bool is_holder(pid_t pid)
{
	owned(buffer_clear) struct buffer name = { 0 }, words = { 0 };
	size_t first;

	if (!read_of(pid, "comm", &name) || !read_of(pid, "cmdline", &words))
		return false;
	first = strlen(words.data) + 1;
	return !strcmp(name.data, "podman pause\n") ||
	       (!strcmp(name.data, "catatonit\n") && first < words.size &&
		!strcmp(words.data + first, "-P"));
}

/* Podman's process that holds the user's namespaces; 0: none. Its files in
 * /proc belong to root, so kill() tells whether it is ours.
 */
static pid_t find_holder(void)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	pid_t holder = 0;

	while (dir && !holder && (entry = readdir(dir))) {
		long pid = strtol(entry->d_name, NULL, 10);

		if (pid > 1 && pid <= INT_MAX && kill((pid_t)pid, 0) == 0 &&
		    is_holder((pid_t)pid))
			holder = (pid_t)pid;
	}
	if (dir)
		closedir(dir);
	return holder;
}

static int service_start(struct podman_service *service, struct error *err);

static int podman_service_start_again(sd_event_source *source, uint64_t usec,
				      void *arg)
{
	struct error err;

	if (service_start(arg, &err) < 0)
		log_error("%s", err.text);
	return 0;
}

static int service_ended(sd_event_source *source, const siginfo_t *info,
			 void *arg)
{
	struct podman_service *service = arg;

	service->pid = 0;
	log_warning("podman exited with %s %d and is restarted",
		    info->si_code == CLD_EXITED ? "code" : "signal",
		    info->si_status);
	return loop_timer(service->loop, &service->again, AGAIN_MS,
			  podman_service_start_again, service, NULL) < 0
		       ? -1
		       : 0;
}

/* Runs between fork and exec. Its output goes to our stderr. */
static void podman_service_become(const struct podman_service *service)
{
	const char *folder = getenv("XDG_RUNTIME_DIR");
	sigset_t none;

	setpgid(0, 0);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* The variable may be left over from a login on another machine. Podman
	 * fails if the folder does not exist; without the variable it makes
	 * one.
	 */
	if (folder && access(folder, W_OK) < 0)
		unsetenv("XDG_RUNTIME_DIR");
	/* No container has a health check, but Podman (4.3) makes a systemd
	 * timer for each one.
	 */
	setenv("DISABLE_HC_SYSTEMD", "true", 1);
	execlp("podman", "podman", "system", "service", IDLE, service->host,
	       NULL);
	_exit(127);
}

static int service_start(struct podman_service *service, struct error *err)
{
	int rc;

	unlink(service->host + strlen("unix://"));
	service->pid = fork();
	if (service->pid < 0)
		return error_errno(err, "podman");
	if (service->pid == 0)
		podman_service_become(service);
	loop_source_free(&service->child);
	rc = sd_event_add_child(service->loop, &service->child, service->pid,
				WEXITED, service_ended, service);
	return rc < 0 ? error_set(err, -rc, "cannot watch the process podman")
		      : 0;
}

struct podman_service *podman_service_new(sd_event *loop, const char *folder,
					  char host[OWN_ENGINE_SIZE],
					  struct error *err)
{
	owned(podman_service_free) struct podman_service *service =
		error_calloc(sizeof(*service), "podman", err);

	if (!service)
		return NULL;
	service->loop = sd_event_ref(loop);
	if (!own_engine_podman())
		return error_null(
			error_set(err, ENOENT,
				  "no engine: neither Docker nor Podman of "
				  "this user "
				  "was found; set --engine or DOCKER_HOST"));
	if (snprintf(service->host, sizeof(service->host),
		     "unix://%s/engine.sock",
		     folder) > (int)strlen("unix://") + PATH_LONGEST)
		return error_null(error_set(
			err, EINVAL,
			"state: '%.100s...' is not valid here; expected at "
			"most %zu bytes, because it contains Podman's socket",
			folder, PATH_LONGEST - strlen("/engine.sock")));
	service->holder_before = find_holder() != 0;
	if (service_start(service, err) < 0)
		return NULL;
	snprintf(host, OWN_ENGINE_SIZE, "%s", service->host);
	return take(service);
}

/* The service is two processes: one waits for the other, which runs in the
 * user's namespaces.
 */
static void end_service(pid_t pid)
{
	setpgid(pid, pid); /* the child may not have done it yet */
	kill(-pid, SIGTERM);
	for (int i = 0; i < END_POLLS; i++) {
		waitpid(pid, NULL, WNOHANG);
		if (kill(-pid, 0) < 0)
			return;
		usleep(100000);
	}
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

void podman_service_free(struct podman_service *service)
{
	pid_t holder;

	if (!service)
		return;
	loop_source_free(&service->child);
	loop_source_free(&service->again);
	if (service->pid > 0)
		end_service(service->pid);
	if (service->host[0])
		unlink(service->host + strlen("unix://"));
	holder = service->holder_before ? 0 : find_holder();
	if (holder && service->host[0])
		kill(holder, SIGKILL); /* it ignores other signals */
	sd_event_unref(service->loop);
	free(service);
}
