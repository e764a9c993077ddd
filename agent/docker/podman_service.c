/* podman_service.c - a Podman service of a user's own, where none runs.
 */
#include "agent/docker/podman_service.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define AGAIN_MS 1000
#define IDLE "--time=10" /* s that it outlives a killed agent */
#define WORDS_MAX 8192   /* of the holder's command line */
#define END_POLLS 50     /* of 100 ms, from SIGTERM to SIGKILL */
#define PATH_LONGEST 107 /* of a socket: unix(7) */

struct podman_service {
	sd_event *loop;
	sd_event_source *child;
	sd_event_source *again;
	pid_t pid;          /* 0: it does not run */
	bool holder_before; /* not ours to end */
	char host[OWN_ENGINE_SIZE];
};

/* The process that holds the namespaces; 0: none. */
static pid_t find_holder(void)
{
	owned(buffer_clear) struct buffer text;
	const char *folder = getenv("XDG_RUNTIME_DIR");
	char path[PATH_MAX];
	long pid;

	if (folder && *folder)
		snprintf(path, sizeof(path), "%s/libpod/tmp/pause.pid", folder);
	else
		snprintf(path, sizeof(path),
			 "/tmp/podman-run-%u/libpod/tmp/pause.pid", getuid());
	buffer_init(&text, WORDS_MAX);
	if (file_read(AT_FDCWD, path, &text, NULL) < 0)
		return 0;
	pid = strtol(text.data, NULL, 10);
	/* Its files in /proc are root's: may we signal it? One that has ended
	 * and was not reaped has no command line.
	 */
	if (pid <= 1 || pid > INT_MAX || kill((pid_t)pid, 0) < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/%ld/cmdline", pid);
	buffer_clear(&text);
	if (file_read(AT_FDCWD, path, &text, NULL) < 0 || !text.size ||
	    (!strstr(text.data, "podman") && !strstr(text.data, "catatonit")))
		return 0;
	return (pid_t)pid;
}

static int service_start(struct podman_service *service, struct error *err);

static int start_again(sd_event_source *source, uint64_t usec, void *arg)
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
	log_warning("podman ended with %s %d, is started again",
		    info->si_code == CLD_EXITED ? "code" : "signal",
		    info->si_status);
	return loop_timer(service->loop, &service->again, AGAIN_MS, start_again,
			  service, NULL) < 0
		       ? -1
		       : 0;
}

/* Between fork and exec. Its words go where ours go. */
static void become(const struct podman_service *service)
{
	sigset_t none;

	setpgid(0, 0);
	signal(SIGTERM, SIG_DFL);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
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
		become(service);
	loop_source_free(&service->child);
	rc = sd_event_add_child(service->loop, &service->child, service->pid,
				WEXITED, service_ended, service);
	return rc < 0 ? error_set(err, -rc, "podman: cannot be watched") : 0;
}

struct podman_service *podman_service_new(sd_event *loop, const char *folder,
					  char host[OWN_ENGINE_SIZE],
					  struct error *err)
{
	owned(podman_service_free) struct podman_service *service =
		calloc(1, sizeof(*service));

	if (!service) {
		error_nomem(err, "podman");
		return NULL;
	}
	service->loop = sd_event_ref(loop);
	if (!own_engine_podman()) {
		error_set(err, ENOENT,
			  "no engine: neither Docker nor Podman of this user "
			  "was found; name one with --engine or DOCKER_HOST");
		return NULL;
	}
	if (snprintf(service->host, sizeof(service->host),
		     "unix://%s/engine.sock",
		     folder) > (int)strlen("unix://") + PATH_LONGEST) {
		error_set(err, EINVAL,
			  "state: '%.100s...' is not valid here; expected at "
			  "most %zu bytes, as Podman's socket lies in it",
			  folder, PATH_LONGEST - strlen("/engine.sock"));
		return NULL;
	}
	service->holder_before = find_holder() != 0;
	if (service_start(service, err) < 0)
		return NULL;
	snprintf(host, OWN_ENGINE_SIZE, "%s", service->host);
	return take(service);
}

/* It is two processes: one waits for that in the user's namespaces. */
static void end_service(pid_t pid)
{
	setpgid(pid, pid); /* if it did not come so far yet */
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
		kill(holder, SIGKILL); /* it ignores all others */
	sd_event_unref(service->loop);
	free(service);
}
