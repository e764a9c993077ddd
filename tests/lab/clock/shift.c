/* shift.c - a wall clock that a test sets: preloaded into a daemon.
 *
 * The file $CLOCK_SHIFT holds how many seconds the wall clock is ahead of the
 * machine's; it is read anew at every look at the clock. Others than the wall
 * clock are as they are.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long shift(void)
{
	const char *path = getenv("CLOCK_SHIFT");
	char text[32] = "0";
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;

	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '0';
	close(fd);
	return strtol(text, NULL, 10);
}

int clock_gettime(clockid_t clock, struct timespec *to)
{
	int rc = (int)syscall(SYS_clock_gettime, clock, to);

	if (rc == 0 &&
	    (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		to->tv_sec += shift();
	return rc;
}

time_t time(time_t *to)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (to)
		*to = now.tv_sec;
	return now.tv_sec;
}
