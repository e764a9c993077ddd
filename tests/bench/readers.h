/* readers.h - many open pages that nobody looks at.
 *
 * One process has all their streams of events open and throws away what comes,
 * in the kernel, and only while no other process wants the processor
 * (SCHED_IDLE): what is measured is what pages cost their server.
 */
#pragma once

#include "protocol/base/error.h"

#include <stddef.h>
#include <sys/types.h>

#define READERS_MAX 100

/* url: http://ADDRESS:PORT; cookie: NAME=VALUE. Opens count streams, at most
 * READERS_MAX, of these paths in turn, and returns when the server has answered
 * on each. Returns the process; process_end() it.
 */
pid_t readers_start(const char *url, const char *cookie,
		    const char *const *paths, size_t paths_count, size_t count,
		    struct error *err);
