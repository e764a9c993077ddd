/* program.c - the start of each daemon: signals, limits, event loop.
 */
#include "protocol/base/program.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

static int raise_files(struct error *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return error_errno(err, "open files");
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return error_errno(err, "open files");
	return 0;
}

static bool is_ignored(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

size_t program_files(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? 0
						    : (size_t)limit.rlim_cur;
}

sd_event *program_begin(struct error *err)
{
	bool stays = is_ignored(SIGTERM);
	sigset_t ending;
	sd_event *loop = NULL;
	int rc;

	if (log_to_journal(getenv("JOURNAL_STREAM")))
		log_set_style(LOG_STYLE_FIELDS);
	if (raise_files(err) < 0)
		return NULL;
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ending);
	sigaddset(&ending, SIGTERM);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGCHLD); /* the loop waits for children */
	sigprocmask(SIG_BLOCK, &ending, NULL);
	rc = sd_event_new(&loop);
	/* Without a callback the loop ends with the source's userdata. */
	if (rc >= 0 && !stays)
		rc = sd_event_add_signal(loop, NULL, SIGTERM, NULL, NULL);
	if (rc >= 0)
		rc = sd_event_add_signal(loop, NULL, SIGINT, NULL, NULL);
	if (rc < 0) {
		sd_event_unref(loop);
		return error_null(
			error_set(err, -rc, "event loop: cannot be made"));
	}
	return loop;
}

struct reload {
	program_reload_fn *fn;
	void *arg;
};

static int reload_run(sd_event_source *source,
		      const struct signalfd_siginfo *info, void *arg)
{
	const struct reload *reload = arg;

	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld",
		   (long long)clock_mono_ms() * 1000);
	reload->fn(reload->arg);
	sd_notify(0, "READY=1");
	return 0;
}

int program_on_reload(sd_event *loop, program_reload_fn *fn, void *arg,
		      struct error *err)
{
	struct reload *reload;
	sd_event_source *source;
	sigset_t set;
	int rc;

	if (isatty(STDERR_FILENO))
		return 0;
	reload = malloc(sizeof(*reload));
	if (!reload)
		return error_nomem(err, "reload");
	*reload = (struct reload){ fn, arg };
	sigemptyset(&set);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	rc = sd_event_add_signal(loop, &source, SIGHUP, reload_run, reload);
	if (rc < 0) {
		free(reload);
		return error_set(err, -rc, "event loop: cannot handle SIGHUP");
	}
	loop_source_detach(source);
	return 0;
}

void program_ready(sd_event *loop)
{
	sd_event_set_watchdog(loop, 1);
	sd_notify(0, "READY=1");
}

enum exit_code program_exit_code(const struct error *err)
{
	switch (err->code) {
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case ETIMEDOUT:
	case EACCES:
	case ENOTCONN:
		return EXIT_OUT_OF_REACH;
	case EINVAL:
	case EPROTO:
	case E2BIG:
	case ENOENT:
	case EPERM:
	case EEXIST:
		return EXIT_WRONG_REQUEST;
	default:
		return EXIT_WORK_FAILED;
	}
}
