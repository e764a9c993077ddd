/* init_test.c - regatta-init as a process: what it runs, writes and kills.
 *
 * Runs the program that REGATTA_INIT names (build/regatta-init) over a folder
 * that stands for /regatta. Descriptor 9 of each command is a pipe to the
 * test: a line says "ready", its end says that no process is left.
 */
#include "protocol/base/clock.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/init_box.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static void is_log(struct box *box, int rank, const char *want,
		   const char *what)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(8 << 20);
	char name[32];

	snprintf(name, sizeof(name), "out/rank-%d.log", rank);
	file_read_any(box_path(box, name), &text, NULL);
	is(text.data, want, "%s", what);
}

static void test_output(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(8 << 20);
	struct box box;
	bool same = true;

	box_init(&box);
	box_script(&box, "",
		   "printf 'a\\000b\\377\\n' ; echo err >&2\n"
		   "head -c 2000000 /dev/zero | tr '\\0' x; printf last");
	is_int(box_run(&box), 0, "a command that succeeds: exit code 0");
	file_read_any(box_path(&box, "out/rank-0.log"), &text, NULL);
	is_int((long long)text.size, 5 + 4 + 2000000 + 4,
	       "the log has each byte of a 2 MB line");
	ok(text.size > 9 && !memcmp(text.data, "a\0b\377\nerr\n", 9),
	   "NUL, invalid UTF-8 and stderr come as written, in order");
	for (size_t i = 9; i + 4 < text.size; i++)
		same &= text.data[i] == 'x';
	ok(same, "the long line is whole");
	ok(text.size > 4 && !memcmp(text.data + text.size - 4, "last", 4),
	   "the last words without a newline are there");
	is_int(box_number_of(&box, 0, "log_bytes"), (long long)text.size,
	       "log_bytes is the size of the log");
	is_int(box_number(&box, "version"), 1, "the record has its version");
	ok(!box_error(&box), "no error when nothing failed");
	ok(box_number(&box, "started_ms") > 1500000000000 &&
		   box_number_of(&box, 0, "ended_ms") >=
			   box_number(&box, "started_ms") &&
		   box_number(&box, "ended_ms") >=
			   box_number_of(&box, 0, "ended_ms"),
	   "start, end of the process and end stand in order");
	ok(box_number_of(&box, 0, "max_rss_kib") > 100,
	   "the process's memory is told");
	box_clear(&box);
}

static void test_open_files(void)
{
	struct rlimit limit;
	struct box box;
	char want[60], raised[60];

	getrlimit(RLIMIT_NOFILE, &limit);
	snprintf(raised, sizeof(raised), "nofile=%lld:%lld",
		 (long long)limit.rlim_max, (long long)limit.rlim_max);
	snprintf(want, sizeof(want), "nofile=200:%lld",
		 (long long)limit.rlim_max);
	limit.rlim_cur = 200;
	setrlimit(RLIMIT_NOFILE, &limit);
	box_init(&box);
	box_script(&box, "open_files=9000000000000\n",
		   "[ \"$(ulimit -Sn)\" = \"$(ulimit -Hn)\" ]");
	is_int(box_run(&box), 0,
	       "the command may open as many files as the "
	       "hard limit allows");
	is(cJSON_GetStringValue(
		   cJSON_GetArrayItem(cJSON_GetObjectItem(box.record,
							  "ulimits"),
				      2)),
	   raised, "the record tells its limits");
	box_clear(&box);
	box_init(&box);
	box_script(&box, "open_files=0\n", "exit 0");
	is_int(box_run(&box), 0, "or the soft limit stays");
	is(cJSON_GetStringValue(
		   cJSON_GetArrayItem(cJSON_GetObjectItem(box.record,
							  "ulimits"),
				      2)),
	   want, "which is told, too");
	box_clear(&box);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static void test_exit_codes(void)
{
	/* clang-format off */
	static const struct {
		const char *script;
		int code, signal;
		const char *what;
	} cases[] = {
		{ "exit 7", 7, 0, "an exit code is passed on" },
		{ "exit 255", 255, 0, "255 too" },
		{ "kill -KILL $$", 137, 9, "death by SIGKILL: 137" },
		{ "kill -SEGV $$", 139, 11, "death by SIGSEGV: 139" },
		{ "kill -TERM $$", 143, 15, "death by SIGTERM: 143" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct box box;

		box_init(&box);
		box_script(&box, "", cases[i].script);
		is_int(box_run(&box), cases[i].code, "%s", cases[i].what);
		is_int(box_number(&box, "exit_code"), cases[i].code,
		       "%s: so in the record", cases[i].what);
		is_int(box_number(&box, "signal"), cases[i].signal,
		       "%s: the signal too", cases[i].what);
		is_int(box_number_of(&box, 0, "signal"), cases[i].signal,
		       "%s: and with the process", cases[i].what);
		box_clear(&box);
	}
}

static void file_make(struct box *box, const char *name, const char *text,
		      mode_t mode)
{
	file_write(AT_FDCWD, box_path(box, name), text, strlen(text), mode, 0,
		   NULL);
	chmod(box_path(box, name), mode);
}

static void test_exec_failures(void)
{
	/* clang-format off */
	static const struct {
		const char *program; /* %s: the box's folder */
		int code;
		const char *error;   /* its end */
	} cases[] = {
		{ "no-such-program.py", 127,
		  "no-such-program.py: no such program" },
		{ "%s/none", 127, "/none: no such program" },
		{ "b\"a\\d\n\377\xc3\xa9", 127,
		  "b\"a\\d??\xc3\xa9: no such program" },
		{ "%s/script", 126,
		  ": its interpreter or loader is missing" },
		{ "%s/plain", 126, ": not executable (permission denied)" },
		{ "%s/in", 126, ": not executable (permission denied)" },
		{ "%s/data", 126,
		  ": not executable on this machine (wrong format)" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256] = "", name[128];
		struct box box;
		const char *error, *end;

		box_init(&box);
		file_make(&box, "script", "#!/no/such/interpreter\n", 0755);
		file_make(&box, "plain", "text\n", 0644);
		file_make(&box, "data", "\1\2\3\4", 0755);
		end = strstr(cases[i].program, "%s");
		snprintf(name, sizeof(name), "%s%s", end ? box.root : "",
			 end ? end + 2 : cases[i].program);
		box_start_bytes(&box, text,
				(size_t)snprintf(text, sizeof(text),
						 "version=1%carg=%s", 0, name) +
					1);
		is_int(box_run(&box), cases[i].code, "cannot execute %zu: %d",
		       i, cases[i].code);
		error = box_error(&box);
		end = error && strlen(error) > strlen(cases[i].error)
			      ? error + strlen(error) - strlen(cases[i].error)
			      : error;
		is(end, cases[i].error, "cannot execute %zu: it says why", i);
		is_int(box_number_of(&box, 0, "exit_code"), cases[i].code,
		       "cannot execute %zu: the process has the code", i);
		is_log(&box, 0, "", "nothing of ours goes to the log");
		box_clear(&box);
	}
}

static void test_environment(void)
{
	char text[512] = "";
	struct box box;

	box_init(&box);
	setenv("LAB_KEEP", "kept", 1);
	setenv("LAB_OVER", "old", 1);
	mkdir(box_path(&box, "bin"), 0755);
	file_make(&box, "bin/tool",
		  "#!/bin/sh\n"
		  "cat\necho $LAB_KEEP $LAB_OVER \"[$LAB_EMPTY]\" $1 $RANK\n"
		  "read -r pid name state parent group session rest "
		  "< /proc/self/stat\n"
		  "[ $pid = $group ] && [ $pid = $session ] && echo leader\n"
		  "readlink /proc/self/fd/0\n",
		  0755);
	box_start_bytes(&box, text,
			(size_t)snprintf(text, sizeof(text),
					 "version=1%cenv=LAB_OVER=first%c"
					 "env=LAB_OVER=new%cenv=LAB_EMPTY=%c"
					 "env=PATH=/none:%s/bin:/usr/bin:/bin%c"
					 "arg=tool%carg=a b",
					 0, 0, 0, 0, box.root, 0, 0) +
				1);
	is_int(box_run(&box), 0, "the PATH of the start file finds a program");
	is_log(&box, 0, "kept new [] a b\nleader\n/dev/null\n",
	       "environment, argument, session and stdin are as promised");
	unsetenv("LAB_KEEP");
	unsetenv("LAB_OVER");
	box_clear(&box);
}

/* Who holds the lock of the file that says that it began. */
static pid_t holder_of(struct box *box)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(box_path(box, "out/started"), O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fcntl(fd, F_GETLK, &lock) < 0)
		lock.l_type = F_UNLCK;
	if (fd >= 0)
		close(fd);
	return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

static void test_lock(bool pid1)
{
	struct box box;

	box_init(&box);
	box.pid1 = pid1;
	box_script(&box, "", "echo ready >&9; sleep 60");
	ok(box_begin(&box) && box_ready(&box, 1), "it runs");
	is_int(holder_of(&box), box.pid, "a lock says that it lives%s",
	       pid1 ? ", from outside, too" : "");
	kill(box.pid, SIGTERM);
	box_end(&box);
	is_int(holder_of(&box), 0, "no longer than it does");
	box_clear(&box);
}

static void test_signals(bool pid1)
{
	/* clang-format off */
	static const struct {
		int number;
		const char *name;
	} signals[] = {
		{ SIGTERM, "TERM" }, { SIGINT, "INT" }, { SIGHUP, "HUP" },
		{ SIGQUIT, "QUIT" }, { SIGUSR1, "USR1" }, { SIGUSR2, "USR2" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		char script[256];
		struct box box;

		box_init(&box);
		box.pid1 = pid1;
		snprintf(script, sizeof(script),
			 "trap 'echo got %s; exit 5' %s; echo ready >&9; "
			 "while :; do sleep 60 & wait; done",
			 signals[i].name, signals[i].name);
		box_script(&box, "", script);
		if (box_begin(&box) && box_ready(&box, 1))
			kill(box.pid, signals[i].number);
		is_int(box_end(&box), 5, "SIG%s is forwarded%s",
		       signals[i].name, pid1 ? " by PID 1" : "");
		snprintf(script, sizeof(script), "got %s\n", signals[i].name);
		is_log(&box, 0, script, "the command could answer it");
		ok(box_silent(&box), "and what it left behind is gone");
		box_clear(&box);
	}
}

static void test_grace(bool pid1)
{
	struct box box;
	int64_t begin;

	box_init(&box);
	box.pid1 = pid1;
	box_script(&box, "grace_ms=300\n",
		   "trap '' TERM; echo ready >&9; "
		   "while :; do sleep 60; done");
	if (box_begin(&box) && box_ready(&box, 1))
		kill(box.pid, SIGTERM);
	begin = clock_mono_ms();
	is_int(box_end(&box), 137, "SIGKILL follows a SIGTERM that is ignored");
	begin = clock_mono_ms() - begin;
	ok(begin >= 290, "after the grace time (%lld ms)", (long long)begin);
	is_int(box_number(&box, "signal"), 9, "the record has the signal");
	ok(box_silent(&box), "its children are gone too");
	box_clear(&box);
}

static void test_orphans_killed(bool pid1)
{
	struct box box;

	box_init(&box);
	box.pid1 = pid1;
	mkfifo(box_path(&box, "fifo"), 0666);
	box_script(&box, "",
		   "for i in 1 2 3; do (trap '' TERM HUP; setsid sh -c "
		   "'(echo ready >&9; exec sleep 600) & exec sleep 600' &); "
		   "done; echo begun >&9; read -r x < \"$LAB_FIFO\"; exit 4");
	setenv("LAB_FIFO", box_path(&box, "fifo"), 1);
	ok(box_begin(&box) && box_ready(&box, 4), "a command has orphans");
	{
		owned_fd int fifo =
			open(box_path(&box, "fifo"), O_WRONLY | O_CLOEXEC);

		ok(write(fifo, "\n", 1) == 1, "the command is told to end");
	}
	is_int(box_end(&box), 4, "a command that leaves orphans ends%s",
	       pid1 ? " under PID 1" : "");
	ok(box_silent(&box), "orphans in other sessions are killed");
	unsetenv("LAB_FIFO");
	box_clear(&box);
}

/* Processes whose parent is pid and that are zombies. */
static int zombies_of(pid_t pid)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int count = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300], line[512], *end;
		owned_file FILE *file = NULL;

		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
		    !(file = fopen(path, "re")) ||
		    !fgets(line, sizeof(line), file))
			continue;
		end = strrchr(line, ')');
		count += end && strlen(end) > 4 && end[2] == 'Z' &&
			 strtol(end + 4, NULL, 10) == pid;
	}
	if (proc)
		closedir(proc);
	return count;
}

static void test_orphans_reaped(void)
{
	struct box box;

	box_init(&box);
	box_script(&box, "",
		   "for i in 1 2 3 4 5 6 7 8 9; do (: &); done; "
		   "echo ready >&9; exec sleep 600");
	if (box_begin(&box) && box_ready(&box, 1)) {
		while (zombies_of(box.pid)) /* the watchdog ends it */
			sched_yield();
	}
	ok(kill(box.pid, SIGTERM) == 0, "orphans are reaped as they end");
	is_int(box_end(&box), 143, "while the command runs on");
	box_clear(&box);
}

struct listing {
	char text[4096];
};

/* Names, sizes and times of the out folder, in one string. */
static void list_out(struct box *box, struct listing *listing)
{
	struct dirent **names = NULL;
	int count = scandir(box_path(box, "out"), &names, NULL, alphasort);
	size_t used = 0;

	listing->text[0] = 0;
	for (int i = 0; i < count; i++) {
		struct stat stat = { 0 };
		char name[300];

		snprintf(name, sizeof(name), "out/%s", names[i]->d_name);
		lstat(box_path(box, name), &stat);
		if (names[i]->d_name[0] != '.')
			used += (size_t)snprintf(listing->text + used,
						 sizeof(listing->text) - used,
						 "%s %lld %ld\n",
						 names[i]->d_name,
						 (long long)stat.st_size,
						 stat.st_mtim.tv_nsec);
		free(names[i]);
	}
	free(names);
}

static void test_second_run(void)
{
	struct listing before, after;
	struct box box;

	box_init(&box);
	box_script(&box, "", "echo once; exit 3");
	is_int(box_run(&box), 3, "a first run");
	list_out(&box, &before);
	ok(strstr(before.text, "exit.json ") && strstr(before.text, "started "),
	   "leaves a record and a mark");
	ok(!strstr(before.text, ".new"), "and no scratch file");
	is_int(box_run(&box), 125, "a second run is refused");
	list_out(&box, &after);
	is(after.text, before.text, "and changes nothing");
	box_clear(&box);
}

static void test_ranks(void)
{
	struct box box;

	box_init(&box);
	box_script(&box, "processes=3\nfirst_rank=4\nrank_env=1\nenv=RANK=9\n",
		   "echo rank $RANK local $LOCAL_RANK");
	is_int(box_run(&box), 0, "three processes of one command");
	is_int(box_process_count(&box), 3, "three of them are in the record");
	is_log(&box, 4, "rank 4 local 0\n", "the first has its rank and log");
	is_log(&box, 5, "rank 5 local 1\n", "the second has its own");
	is_log(&box, 6, "rank 6 local 2\n", "and the third");
	is_int(box_number_of(&box, 2, "rank"), 6, "the record names the ranks");
	is_int(box_number_of(&box, 2, "log_bytes"), 15,
	       "and their logs' sizes");
	box_clear(&box);

	box_init(&box);
	box_script(&box, "processes=2\nrank_env=0\n", "echo \"[$LOCAL_RANK]\"");
	is_int(box_run(&box), 0, "two processes without ranks");
	is_log(&box, 1, "[]\n", "get none in their environment");
	box_clear(&box);
}

static void test_secrets(void)
{
	static const char script[] = "cat $LAB/A; echo; stat -c %a $LAB/A";
	static const char twice[] = "secret=A=b=c\0env=B=d=\0";
	char head[500];
	struct box box;
	int pipe;

	box_init(&box);
	snprintf(head, sizeof(head), "env=LAB=%s\nsecret=A=b=c\nsecret=B=\n",
		 box_path(&box, "secrets"));
	ok(mkdir(box_path(&box, "secrets"), 01777) == 0, "a folder for them");
	box_script(&box, head, script);
	is_int(box_run(&box), 0, "a command reads its secrets");
	is_log(&box, 0, "b=c\n400\n", "which nobody else may");
	ok(access(box_path(&box, "secrets/B"), F_OK) == 0, "an empty one, too");
	box_clear(&box);

	box_init(&box);
	snprintf(head, sizeof(head), "env=LAB=%s\nsecrets=1\n",
		 box_path(&box, "secrets"));
	ok(mkdir(box_path(&box, "secrets"), 01777) == 0 &&
		   mkfifo(box_path(&box, "in/secrets"), 0444) == 0,
	   "a pipe for them");
	box_script(&box, head, "cat $LAB/A; echo $B");
	ok(box_begin(&box), "regatta-init waits for them");
	/* An agent ends before it reads; the next one says it twice. */
	pipe = open(box_path(&box, "in/secrets"), O_RDWR | O_NONBLOCK);
	ok(write(pipe, twice, sizeof(twice)) == sizeof(twice) &&
		   write(pipe, twice, sizeof(twice)) == sizeof(twice),
	   "an agent writes, and another one again");
	is_int(box_end(&box), 0, "then the command begins");
	close(pipe);
	is_log(&box, 0, "b=cd=\n", "with each of them once");
	ok(access(box_path(&box, "out/read"), F_OK) == 0, "which is told");
	box_clear(&box);

	box_init(&box);
	box_script(&box, "secret=A=hunter2\n", "echo ran");
	is_int(box_run(&box), 125, "without a place for them nothing runs");
	ok(box_error(&box) &&
		   strstr(box_error(&box), "secrets: No such file") &&
		   !strstr(box_error(&box), "hunter2"),
	   "the record says why: %s", box_error(&box));
	box_clear(&box);
}

static void test_prepare(void)
{
	struct box box;

	box_init(&box);
	box_script(&box,
		   "processes=2\nrank_env=1\nenv=A=b\nprepare=/bin/sh\n"
		   "prepare=-c\nprepare=echo before $A\n",
		   "echo rank $RANK");
	is_int(box_run(&box), 0, "a command runs before the processes");
	is_log(&box, 0, "before b\nrank 0\n",
	       "with their environment; its output comes first");
	is_log(&box, 1, "rank 1\n", "it runs once");
	is_int(box_process_count(&box), 2, "the record is of the processes");
	ok(!box_error(&box), "and knows of no error");
	box_clear(&box);

	box_init(&box);
	box_script(&box,
		   "processes=2\nprepare=/bin/sh\nprepare=-c\n"
		   "prepare=echo no; exit 3\n",
		   "echo never");
	is_int(box_run(&box), 3, "when it fails, its exit code is ours");
	is_log(&box, 0, "no\n", "and nothing else runs");
	is(box_error(&box), "the prepare command exited with code 3",
	   "the record says so");
	box_clear(&box);

	box_init(&box);
	box_script(&box, "prepare=no-such-program\n", "echo never");
	is_int(box_run(&box), 127, "a program that is not there: 127");
	is(box_error(&box), "no-such-program: no such program", "by its name");
	box_clear(&box);

	box_init(&box);
	box_script(&box,
		   "prepare=/bin/sh\nprepare=-c\nprepare=trap 'exit 0' TERM; "
		   "echo ready >&9; while :; do sleep 60 & wait; done\n",
		   "echo never");
	if (box_begin(&box) && box_ready(&box, 1))
		kill(box.pid, SIGTERM);
	is_int(box_end(&box), 143, "told to stop while it prepares");
	is_log(&box, 0, "", "the command is not started any more");
	box_clear(&box);
}

static void test_first_failure(void)
{
	struct box box;

	box_init(&box);
	setenv("LAB_FIFO", box_path(&box, "fifo"), 1);
	mkfifo(box_path(&box, "fifo"), 0666);
	box_script(&box, "processes=4\nrank_env=1\ngrace_ms=200\n",
		   "[ $RANK = 2 ] && trap '' TERM; echo ready >&9; "
		   "[ $RANK = 1 ] || exec sleep 600; "
		   "read -r x < \"$LAB_FIFO\"; exit 9");
	ok(box_begin(&box) && box_ready(&box, 4), "four processes run");
	{
		owned_fd int fifo =
			open(box_path(&box, "fifo"), O_WRONLY | O_CLOEXEC);

		ok(write(fifo, "\n", 1) == 1, "one of them is made to fail");
	}
	is_int(box_end(&box), 9, "its exit code is the outcome");
	is_int(box_number_of(&box, 0, "signal"), 15,
	       "the others are told to end");
	is_int(box_number_of(&box, 2, "signal"), 9,
	       "and killed when they do not");
	is_int(box_number(&box, "signal"), 0, "the record is about the first");
	unsetenv("LAB_FIFO");
	box_clear(&box);
}

static void test_broken_start_files(void)
{
	/* clang-format off */
#define BYTES(text) text, sizeof(text) - 1
	static const struct {
		const char *bytes;
		size_t size;
		const char *error;
	} cases[] = {
		{ BYTES(""), "start file: the file is empty" },
		{ BYTES("version=1"), "does not end in NUL" },
		{ BYTES("version=1\0"), "no arg= record" },
		{ BYTES("\0"), "record 1: \"\" is not valid here; expected version=1" },
		{ BYTES("version=2\0arg=true\0"), "\"version=2\"" },
		{ BYTES("arg=true\0version=1\0"), "\"arg=true\"" },
		{ BYTES("version=1\0arg=true"), "does not end in NUL" },
		{ BYTES("version=1\0\0arg=true\0"), "record 2: \"\"" },
		{ BYTES("version=1\0arg=true\0speed=9\0"),
		  "record 3: \"speed=9\" is not valid here; expected processes=" },
		{ BYTES("version=1\0processes=0\0arg=true\0"),
		  "processes: \"0\" is not valid here; expected 1 to 64" },
		{ BYTES("version=1\0processes=65\0arg=true\0"),
		  "processes: \"65\" is not valid here; expected 1 to 64" },
		{ BYTES("version=1\0processes=-1\0arg=true\0"), "\"-1\"" },
		{ BYTES("version=1\0processes= 1\0arg=true\0"), "\" 1\"" },
		{ BYTES("version=1\0processes=\0arg=true\0"), "\"\"" },
		{ BYTES("version=1\0processes=1x\0arg=true\0"), "\"1x\"" },
		{ BYTES("version=1\0processes=4294967297\0arg=true\0"),
		  "expected 1 to 64" },
		{ BYTES("version=1\0processes=99999999999999999999\0arg=a\0"),
		  "expected 1 to 64" },
		{ BYTES("version=1\0processes=1\0processes=1\0arg=true\0"),
		  "record 3: processes: given twice" },
		{ BYTES("version=1\0rank_env=2\0arg=true\0"), "expected 0 to 1" },
		{ BYTES("version=1\0grace_ms=3600001\0arg=true\0"),
		  "expected 0 to 3600000" },
		{ BYTES("version=1\0first_rank=100000001\0arg=true\0"),
		  "first_rank: " },
		{ BYTES("version=1\0secret=../x=y\0arg=true\0"),
		  "secret: expected NAME=VALUE" },
		{ BYTES("version=1\0env=NAME\0arg=true\0"),
		  "env: \"NAME\" is not valid here; expected NAME=VALUE" },
		{ BYTES("version=1\0env==x\0arg=true\0"), "env: \"=x\"" },
		{ BYTES("version=1\0arg=\0"), "arg: the program has no name" },
		{ BYTES("version=1\0prepare=\0arg=a\0"),
		  "prepare: the program has no name" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct box box;
		const char *error;

		box_init(&box);
		box_start_bytes(&box, cases[i].bytes, cases[i].size);
		is_int(box_run(&box), 125, "broken start file %zu: 125", i);
		error = box_error(&box);
		ok(error && strstr(error, cases[i].error),
		   "broken start file %zu: \"%s\" (%s)", i, cases[i].error,
		   error ? error : "no error");
		is_int(box_process_count(&box), 0,
		       "broken start file %zu: "
		       "nothing runs",
		       i);
		box_clear(&box);
	}
}

static void test_start_file_size(void)
{
	enum { MAX = 1 << 20 };
	char *bytes = calloc(1, MAX + 1);
	struct box box;

	memcpy(bytes, "version=1\0arg=/bin/true\0env=A=", 30);
	memset(bytes + 30, 'x', MAX - 31);
	bytes[100000] = 0; /* one string is limited by the kernel */
	for (size_t i = 100001; i + 20000 < MAX; i += 20000)
		memcpy(bytes + i - 1, "\0env=B=", 7);
	box_init(&box);
	bytes[MAX - 1] = 0;
	box_start_bytes(&box, bytes, MAX);
	is_int(box_run(&box), 0, "a start file of a MiB is read");
	box_clear(&box);
	box_init(&box);
	bytes[MAX - 1] = 'x';
	box_start_bytes(&box, bytes, MAX + 1);
	is_int(box_run(&box), 125, "one byte more is refused");
	ok(box_error(&box) && strstr(box_error(&box), "1048576 bytes"),
	   "and the record says why");
	box_clear(&box);
	free(bytes);
}

/* The moment exit.json comes, the log is complete, though an orphan writes as
 * fast as it can.
 */
static void test_record_comes_last(bool pid1)
{
	char event[4096] __attribute__((aligned(8)));
	struct stat at_event = { 0 }, at_end = { 0 };
	owned_fd int watch = inotify_init1(IN_CLOEXEC);
	bool seen = false;
	struct box box;

	box_init(&box);
	box.pid1 = pid1;
	inotify_add_watch(watch, box_path(&box, "out"), IN_MOVED_TO);
	box_script(&box, "",
		   "(setsid sh -c 'echo ready >&9; "
		   "while :; do echo xxxxxxxxxxxxxxxxxxxx; done' &)\n"
		   "while ! [ -s \"$LAB_LOG\" ]; do :; done; exit 0");
	setenv("LAB_LOG", box_path(&box, "out/rank-0.log"), 1);
	box_begin(&box);
	while (!seen) {
		ssize_t got = read(watch, event, sizeof(event));
		const struct inotify_event *first = (const void *)event;

		if (got <= 0)
			break;
		seen = !strcmp(first->name, "exit.json");
	}
	stat(box_path(&box, "out/rank-0.log"), &at_event);
	is_int(box_end(&box), 0, "a command whose orphan writes on and on");
	stat(box_path(&box, "out/rank-0.log"), &at_end);
	ok(seen && at_end.st_size > 0, "the record is renamed into place");
	is_int(at_event.st_size, at_end.st_size,
	       "nothing is written to the log after it");
	is_int(box_number_of(&box, 0, "log_bytes"), at_end.st_size,
	       "and log_bytes is its size");
	ok(box_note(&box) && strstr(box_note(&box), "left processes, which "
						    "were killed"),
	   "and a note tells of it");
	unsetenv("LAB_LOG");
	box_clear(&box);
	box_init(&box);
	box.pid1 = pid1;
	box_script(&box, "", "(setsid sleep 0.05 &); exit 0");
	is_int(box_run(&box), 0, "a helper that ends a moment later");
	ok(!box_note(&box), "is not told");
	box_clear(&box);
}

static void test_other_user(void)
{
	struct stat stat_log = { 0 };
	mode_t umask_before;
	struct box box;

	if (geteuid()) {
		ok(true, "another user # SKIP needs root");
		return;
	}
	box_init(&box);
	box.nobody = true;
	umask_before = umask(077);
	box_script(&box, "", "id -u; umask");
	chmod(box_path(&box, "in/start"), 0644);
	is_int(box_run(&box), 0, "any user of the image can be PID 1");
	umask(umask_before);
	is_log(&box, 0, "65534\n0077\n", "the command runs as that user");
	stat(box_path(&box, "out/rank-0.log"), &stat_log);
	is_int(stat_log.st_mode & 0777, 0644,
	       "its log can be read whatever its umask");
	box_clear(&box);
}

/* The command fills the disk on which its log and the record lie. */
static void test_full_disk(void)
{
	struct box box;

	box_init(&box);
	if ((unshare(CLONE_NEWNS) < 0 &&
	     unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", box_path(&box, "out"), "tmpfs", 0,
		  "size=512k,mode=0777") < 0) {
		ok(true, "a full disk # SKIP needs a mount namespace");
		box_clear(&box);
		return;
	}
	box_script(&box, "", "head -c 5000000 /dev/zero; exit 6");
	is_int(box_run(&box), 6, "a log that fills the disk hangs nothing");
	is_int(box_number(&box, "exit_code"), 6,
	       "the record is written all the same");
	ok(box_number_of(&box, 0, "log_bytes") > 100000, "the log went so far");
	umount(box_path(&box, "out"));
	box_clear(&box);
}

/* Commands that other tasks of the job send: one runs, one cannot be read. */
static void test_ssh(void)
{
	static const char request[] =
		"host=h\0command=cat; echo err >&2; exit 3\0input";
	static const char want[] = "exit=3\0stdout=5\0inputerr\n";
	owned(buffer_clear) struct buffer answer = BUFFER_INIT(1000);
	struct box box;
	char script[1000];

	box_init(&box);
	snprintf(script, sizeof(script),
		 "n=0; until [ -e %1$s/ssh-0-aa.answer ] && "
		 "[ -e %1$s/ssh-0-ab.answer ] || [ $n = 200 ]; do "
		 "n=$((n + 1)); sleep 0.05; done",
		 box_path(&box, "out"));
	box_script(&box, "ssh=1\n", script);
	file_write(AT_FDCWD, box_path(&box, "in/ssh-0-aa.run"), request,
		   sizeof(request) - 1, 0644, 0, NULL);
	if (symlink("none", box_path(&box, "in/ssh-0-ab.run")) < 0)
		exit(1);
	is_int(box_run(&box), 0, "a task runs the commands of others");
	file_read_any(box_path(&box, "out/ssh-0-aa.answer"), &answer, NULL);
	ok(answer.size == sizeof(want) - 1 &&
		   !memcmp(answer.data, want, sizeof(want) - 1),
	   "the answer has exit code, output and errors");
	file_read_any(box_path(&box, "out/ssh-0-ab.answer"), &answer, NULL);
	is(answer.data, "exit=255",
	   "a command that cannot be read is answered");
	box_clear(&box);
}

/* Begin with the start file held back, and wait until the mark is there. */
static bool begin_held(struct box *box)
{
	char held[sizeof(box->path)];
	struct stat st = { 0 };

	box_init(box);
	box_script(box, "", "exit 3");
	snprintf(held, sizeof(held), "%s", box_path(box, "in/held"));
	if (rename(box_path(box, "in/start"), held) < 0 || !box_begin(box))
		return false;
	while (stat(box_path(box, "out/started"), &st) < 0 || !st.st_size)
		usleep(1000);
	return true;
}

static void test_release(void)
{
	char held[400];
	struct box box;

	ok(begin_held(&box), "without a start file it begins");
	ok(access(box_path(&box, "out/rank-0.log"), F_OK) < 0,
	   "but no command does");
	snprintf(held, sizeof(held), "%s", box_path(&box, "in/held"));
	rename(held, box_path(&box, "in/start"));
	is_int(box_end(&box), 3, "the file releases the command");
	box_clear(&box);

	ok(begin_held(&box), "another one");
	kill(box.pid, SIGTERM);
	is_int(box_end(&box), 143, "that is told to end before, ends");
	is_int(box_number(&box, "signal"), SIGTERM, "by that signal");
	is_int(box_process_count(&box), 0, "and has started nothing");
	box_clear(&box);
}

int main(void)
{
	bool pid1;

	tap_begin(137);
	if (!box_ready_to_go())
		return 1;
	pid1 = box_pid1_allowed();
	if (!pid1)
		printf("# no PID namespaces here: not tried as PID 1\n");
	test_output();
	test_open_files();
	test_exit_codes();
	test_exec_failures();
	test_environment();
	for (int i = 0; i < (pid1 ? 2 : 1); i++) {
		test_lock(i);
		test_signals(i);
		test_grace(i);
		test_orphans_killed(i);
		test_record_comes_last(i);
	}
	test_orphans_reaped();
	test_second_run();
	test_ranks();
	test_secrets();
	test_prepare();
	test_first_failure();
	test_broken_start_files();
	test_start_file_size();
	test_release();
	test_other_user();
	test_ssh();
	test_full_disk();
	return tap_done();
}
