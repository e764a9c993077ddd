/* program.c - what each of our daemons does first: signals, limits, loop.
 */
#include "protocol/program.h"
#include "protocol/log.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

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

sd_event *program_begin(struct error *err)
{
	sigset_t ending;
	sd_event *loop = NULL;
	int rc;

	if (getenv("JOURNAL_STREAM"))
		log_set_style(LOG_STYLE_JOURNAL);
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
	if (rc >= 0)
		rc = sd_event_add_signal(loop, NULL, SIGTERM, NULL, NULL);
	if (rc >= 0)
		rc = sd_event_add_signal(loop, NULL, SIGINT, NULL, NULL);
	if (rc < 0) {
		sd_event_unref(loop);
		error_set(err, -rc, "event loop: cannot be made");
		return NULL;
	}
	return loop;
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
