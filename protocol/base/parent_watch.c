/* parent_watch.c - notices the end of the process that started this one.
 */
#include "protocol/base/parent_watch.h"
#include "protocol/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct parent_watch {
	parent_watch_fn *fn;
	void *arg;
};

static int parent_watch_run(sd_event_source *source, int fd, uint32_t events,
			    void *arg)
{
	struct parent_watch *watch = arg;
	char waste[64];
	ssize_t got = read(fd, waste, sizeof(waste));

	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	sd_event_source_set_enabled(source, SD_EVENT_OFF);
	watch->fn(watch->arg);
	return 0;
}

int parent_watch_start(sd_event *loop, int fd, parent_watch_fn *fn, void *arg,
		       struct error *err)
{
	struct parent_watch *watch = malloc(sizeof(*watch));
	sd_event_source *source;
	int own, rc;

	if (!watch)
		return error_nomem(err, "parent-fd");
	*watch = (struct parent_watch){ fn, arg };
	own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own < 0 || fcntl(fd, F_SETFD, FD_CLOEXEC) < 0) {
		free(watch);
		return error_errno(err, "--parent-fd %d", fd);
	}
	rc = sd_event_add_io(loop, &source, own, EPOLLIN, parent_watch_run,
			     watch);
	if (rc < 0) {
		close(own);
		free(watch);
		return error_set(err, -rc, "--parent-fd %d: not a pipe", fd);
	}
	sd_event_source_set_io_fd_own(source, 1);
	loop_source_detach(source);
	return 0;
}
