/* kernel_log.c - what the kernel logs from now on.
 */
#include "agent/metrics/kernel_log.h"
#include "protocol/base/owned.h"
#include "protocol/base/printable.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RECORD_MAX 8192 /* bytes that the kernel gives at a time */

struct kernel_log {
	int fd;
};

struct kernel_log *kernel_log_new(const char *dev)
{
	owned(kernel_log_free) struct kernel_log *log = calloc(1, sizeof(*log));
	char path[PATH_MAX];

	if (!log)
		return NULL;
	snprintf(path, sizeof(path), "%s/kmsg", dev);
	log->fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (log->fd < 0 || lseek(log->fd, 0, SEEK_END) < 0)
		return NULL;
	return take(log);
}

void kernel_log_free(struct kernel_log *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	free(log);
}

void kernel_log_read(struct kernel_log *log, struct expression *match,
		     kernel_log_fn *told, void *arg)
{
	char text[RECORD_MAX + 1];

	for (int i = 0; i < KERNEL_LOG_RECORDS; i++) {
		ssize_t got = read(log->fd, text, RECORD_MAX);
		char *rest = text, *line;

		if (got < 0 && errno == EPIPE)
			continue; /* records that were too many are lost */
		if (got <= 0)
			return;
		text[got] = 0;
		while ((line = strsep(&rest, "\n"))) {
			char *said = strchr(line, ';');

			/* Above 7 is what a program wrote to /dev/kmsg. */
			if (*line == ' ' || !said++ ||
			    strtoul(line, NULL, 10) > 7)
				continue;
			if (expression_match(match, said, strlen(said),
					     EXPRESSION_START, NULL) <= 0)
				continue;
			printable(said, strlen(said));
			told(arg, said);
		}
	}
}
