/* recorder.c - asks PyTorch's flight recorder for a dump of a rank.
 */
#include "agent/evidence/recorder.h"
#include "protocol/base/clock.h"
#include "protocol/base/owned.h"
#include "protocol/message/evidence.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* -1: it is no pipe, or nobody reads it. What O_PATH found is what is opened,
 * so that no device can take the pipe's place meanwhile.
 */
static int recorder_open(int folder, const char *name)
{
	owned_fd int found =
		openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char path[40];
	struct stat st;

	if (found < 0 || fstat(found, &st) < 0 || !S_ISFIFO(st.st_mode))
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	return open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

bool recorder_ask(int folder, int64_t rank)
{
	owned_fd int pipe = -1;
	char dump[60], name[70];
	struct stat st;

	snprintf(dump, sizeof(dump), EVIDENCE_DUMP "%" PRId64, rank);
	snprintf(name, sizeof(name), "%s.pipe", dump);
	pipe = recorder_open(folder, name);
	if (pipe < 0)
		return false;
	if (fstatat(folder, dump, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (clock_wall_ms() - (int64_t)st.st_mtim.tv_sec * 1000 <
		    RECORDER_AGE_MS)
			return false;
		unlinkat(folder, dump, 0);
	}
	return write(pipe, "d", 1) == 1;
}
