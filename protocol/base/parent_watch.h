/* parent_watch.h - notices the end of the process that started this one.
 *
 * The parent keeps the write end of a pipe open and gives us the read end; the
 * kernel closes it when the parent is gone, also after kill -9.
 */
#pragma once

#include "protocol/base/error.h"

#include <systemd/sd-event.h>

typedef void parent_watch_fn(void *arg);

/* Run fn(arg) once from the loop when the pipe ends. The descriptor is
 * copied, and stays open for another loop of this process.
 */
int parent_watch_start(sd_event *loop, int fd, parent_watch_fn *fn, void *arg,
		       struct error *err);
