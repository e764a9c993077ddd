/* recorder_test.c - asking for a dump through a pipe of a container, which may
 * be anything else.
 */
#include "agent/evidence/recorder.h"
#include "protocol/message/evidence.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE EVIDENCE_DUMP "3.pipe"
#define DUMP EVIDENCE_DUMP "3"

static bool is_there(int folder, const char *name)
{
	return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A dump that was written so many seconds ago. */
static void make_dump(int folder, time_t age_s)
{
	struct timespec times[2] = { 0 };
	int fd = openat(folder, DUMP, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= age_s;
	times[1] = times[0];
	futimens(fd, times);
	close(fd);
}

static void pipes(int folder)
{
	char byte = 0;
	int reader;

	ok(!recorder_ask(folder, 3), "without a pipe nobody is asked");
	mkfifoat(folder, PIPE, 0600);
	make_dump(folder, 60);
	ok(!recorder_ask(folder, 3) && is_there(folder, DUMP),
	   "nor through one that nobody reads; the old dump stays");
	reader = openat(folder, PIPE, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	ok(recorder_ask(folder, 3) && read(reader, &byte, 1) == 1,
	   "who reads the pipe is asked");
	ok(!is_there(folder, DUMP), "and its old dump is gone");
	make_dump(folder, 1);
	ok(!recorder_ask(folder, 3) && is_there(folder, DUMP),
	   "one that is new is not asked for again");
	unlinkat(folder, DUMP, 0);
	while (recorder_ask(folder, 3))
		;
	ok(true, "a pipe that is full does not block");
	close(reader);
	unlinkat(folder, PIPE, 0);
}

static void others(int folder)
{
	char text[16] = "";
	int fd;

	fd = openat(folder, "elsewhere", O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	ok(symlinkat("elsewhere", folder, PIPE) == 0 &&
		   !recorder_ask(folder, 3),
	   "a link is not followed");
	unlinkat(folder, PIPE, 0);
	ok(linkat(folder, "elsewhere", folder, PIPE, 0) == 0 &&
		   !recorder_ask(folder, 3) &&
		   read(fd, text, sizeof(text)) == 0,
	   "nothing is written to a file");
	unlinkat(folder, PIPE, 0);
	ok(symlinkat("/dev/null", folder, PIPE) == 0 &&
		   !recorder_ask(folder, 3),
	   "nor to a device");
	unlinkat(folder, PIPE, 0);
	ok(mkdirat(folder, PIPE, 0700) == 0 && !recorder_ask(folder, 3),
	   "nor to a folder");
	unlinkat(folder, PIPE, AT_REMOVEDIR);
	unlinkat(folder, "elsewhere", 0);
	close(fd);
}

int main(void)
{
	char path[] = "/tmp/recorder_test.XXXXXX";
	int folder;

	tap_begin(20);
	if (!mkdtemp(path))
		return 1;
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	signal(SIGPIPE, SIG_IGN);
	pipes(folder);
	others(folder);
	close(folder);
	rmdir(path);
	return tap_done();
}
