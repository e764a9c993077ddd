/* init_test.c - regatta-init as a process: what it runs, writes and kills.
 *
 * Runs the program that REGATTA_INIT names (build/regatta-init) over a folder
 * that stands for /regatta. Descriptor 9 of each command is a pipe to the
 * test: a line says "ready", its end says that no process is left.
 */
#include "protocol/file.h"
#include "tests/tap.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct lab {
	char root[64];
	char path[400]; /* of path_in() */
	pid_t pid;      /* regatta-init */
	int ready;      /* read end of the command's descriptor 9 */
	bool pid1;      /* run it as PID 1 of a namespace */
	bool nobody;    /* run it as another user */
	cJSON *record;
};

static const char *program;

static const char *path_in(struct lab *lab, const char *name)
{
	snprintf(lab->path, sizeof(lab->path), "%s/%s", lab->root, name);
	return lab->path;
}

static void lab_init(struct lab *lab)
{
	memset(lab, 0, sizeof(*lab));
	lab->ready = -1;
	snprintf(lab->root, sizeof(lab->root), "/tmp/init_test.XXXXXX");
	if (!mkdtemp(lab->root) || chmod(lab->root, 0755) < 0 ||
	    mkdir(path_in(lab, "in"), 0755) < 0 ||
	    mkdir(path_in(lab, "out"), 0755) < 0 ||
	    chmod(path_in(lab, "out"), 0777) < 0) {
		perror("init_test: cannot make a folder");
		exit(1);
	}
}

static void lab_clear(struct lab *lab)
{
	cJSON_Delete(lab->record);
	if (lab->ready >= 0)
		close(lab->ready);
	file_remove_tree(AT_FDCWD, lab->root, NULL);
}

/* The start file as bytes; size counts the last NUL. */
static void lab_start_bytes(struct lab *lab, const void *bytes, size_t size)
{
	FILE *file = fopen(path_in(lab, "in/start"), "we");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
		perror("init_test: cannot write the start file");
		exit(1);
	}
}

/* version=1, then one record a line of `head`, then the shell script. */
static void lab_script(struct lab *lab, const char *head, const char *script)
{
	char text[4096];
	int size = snprintf(text, sizeof(text),
			    "version=1\n%sarg=/bin/sh%carg=-c%carg=%s", head, 0,
			    0, script);

	for (int i = 0; i < 10 + (int)strlen(head); i++) {
		if (text[i] == '\n')
			text[i] = 0;
	}
	lab_start_bytes(lab, text, (size_t)size + 1);
}

static _Noreturn void lab_exec(struct lab *lab, int ready)
{
	char *argv[] = { (char *)"regatta-init", lab->root, NULL };
	int err =
		open(path_in(lab, "err"), O_WRONLY | O_CREAT | O_APPEND, 0666);
	/* As who we are now: another user may not reach the build folder. */
	int file = open(program, O_RDONLY | O_CLOEXEC);

	/* Out of the way of descriptor 9. */
	file = fcntl(file, F_DUPFD_CLOEXEC, 10);
	dup2(err, 2);
	dup2(ready, 9);
	if (ready != 9)
		close(ready);
	if (err != 2 && err != 9)
		close(err);
	if (lab->nobody && (setgid(65534) < 0 || setuid(65534) < 0))
		_exit(99);
	fexecve(file, argv, environ);
	_exit(98);
}

/* fork(), or as the first process of a PID namespace. -1: not allowed. */
static pid_t lab_fork(const struct lab *lab)
{
	long pid;

	if (!lab->pid1)
		return fork();
	pid = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL,
		      NULL);
	if (pid < 0)
		pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD,
			      NULL, NULL, NULL, NULL);
	return (pid_t)pid;
}

static bool lab_begin(struct lab *lab)
{
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) < 0)
		return false;
	if (lab->ready >= 0)
		close(lab->ready);
	lab->ready = ready[0];
	lab->pid = lab_fork(lab);
	if (lab->pid == 0)
		lab_exec(lab, ready[1]);
	close(ready[1]);
	return lab->pid > 0;
}

/* Wait until the command has said "ready" (one line) `times` times. */
static bool lab_ready(struct lab *lab, int times)
{
	char byte;

	while (times > 0 && read(lab->ready, &byte, 1) == 1)
		times -= byte == '\n';
	return times == 0;
}

/* The exit code of regatta-init, whose record is then in lab->record. */
static int lab_end(struct lab *lab)
{
	owned(buffer_clear) struct buffer text;
	int status = 0;

	buffer_init(&text, 1 << 20);
	if (waitpid(lab->pid, &status, 0) < 0)
		return -1;
	cJSON_Delete(lab->record);
	lab->record = NULL;
	if (file_read_any(path_in(lab, "out/exit.json"), &text, NULL) == 0)
		lab->record = cJSON_Parse(text.data);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int lab_run(struct lab *lab)
{
	return lab_begin(lab) ? lab_end(lab) : -1;
}

/* Every holder of descriptor 9 is gone: nothing of the command lives. */
static bool lab_silent(struct lab *lab)
{
	char byte[256];
	ssize_t got;

	fcntl(lab->ready, F_SETFL, O_NONBLOCK);
	while ((got = read(lab->ready, byte, sizeof(byte))) > 0)
		;
	return got == 0;
}

static long long number(const struct lab *lab, const char *name)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(lab->record, name);

	return cJSON_IsNumber(item) ? (long long)item->valuedouble : -1;
}

static long long number_of(const struct lab *lab, int process, const char *name)
{
	cJSON *list =
		cJSON_GetObjectItemCaseSensitive(lab->record, "processes");
	cJSON *item =
		cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list,
								    process),
						 name);

	return cJSON_IsNumber(item) ? (long long)item->valuedouble : -1;
}

static int process_count(const struct lab *lab)
{
	return cJSON_GetArraySize(
		cJSON_GetObjectItemCaseSensitive(lab->record, "processes"));
}

static const char *error_text(const struct lab *lab)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(lab->record, "error"));
}

static void is_log(struct lab *lab, int rank, const char *want,
		   const char *what)
{
	owned(buffer_clear) struct buffer text;
	char name[32];

	buffer_init(&text, 8 << 20);
	snprintf(name, sizeof(name), "out/rank-%d.log", rank);
	file_read_any(path_in(lab, name), &text, NULL);
	is(text.data, want, "%s", what);
}

static void test_output(void)
{
	owned(buffer_clear) struct buffer text;
	struct lab lab;
	bool same = true;

	buffer_init(&text, 8 << 20);
	lab_init(&lab);
	lab_script(&lab, "",
		   "printf 'a\\000b\\377\\n' ; echo err >&2\n"
		   "head -c 2000000 /dev/zero | tr '\\0' x; printf last");
	is_int(lab_run(&lab), 0, "a command that succeeds: exit code 0");
	file_read_any(path_in(&lab, "out/rank-0.log"), &text, NULL);
	is_int((long long)text.size, 5 + 4 + 2000000 + 4,
	       "the log has each byte of a 2 MB line");
	ok(text.size > 9 && !memcmp(text.data, "a\0b\377\nerr\n", 9),
	   "NUL, invalid UTF-8 and stderr come as written, in order");
	for (size_t i = 9; i + 4 < text.size; i++)
		same &= text.data[i] == 'x';
	ok(same, "the long line is whole");
	ok(text.size > 4 && !memcmp(text.data + text.size - 4, "last", 4),
	   "the last words without a newline are there");
	is_int(number_of(&lab, 0, "log_bytes"), (long long)text.size,
	       "log_bytes is the size of the log");
	is_int(number(&lab, "version"), 1, "the record has its version");
	ok(!error_text(&lab), "no error when nothing failed");
	ok(number(&lab, "started_ms") > 1500000000000 &&
		   number_of(&lab, 0, "ended_ms") >=
			   number(&lab, "started_ms") &&
		   number(&lab, "ended_ms") >= number_of(&lab, 0, "ended_ms"),
	   "start, end of the process and end stand in order");
	ok(number_of(&lab, 0, "max_rss_kib") > 100,
	   "the process's memory is told");
	lab_clear(&lab);
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
		struct lab lab;

		lab_init(&lab);
		lab_script(&lab, "", cases[i].script);
		is_int(lab_run(&lab), cases[i].code, "%s", cases[i].what);
		is_int(number(&lab, "exit_code"), cases[i].code,
		       "%s: so in the record", cases[i].what);
		is_int(number(&lab, "signal"), cases[i].signal,
		       "%s: the signal too", cases[i].what);
		is_int(number_of(&lab, 0, "signal"), cases[i].signal,
		       "%s: and with the process", cases[i].what);
		lab_clear(&lab);
	}
}

static void file_make(struct lab *lab, const char *name, const char *text,
		      mode_t mode)
{
	file_write(AT_FDCWD, path_in(lab, name), text, strlen(text), mode, 0,
		   NULL);
	chmod(path_in(lab, name), mode);
}

static void test_exec_failures(void)
{
	/* clang-format off */
	static const struct {
		const char *program; /* %s: the lab's folder */
		int code;
		const char *error;   /* its end */
	} cases[] = {
		{ "no-such-program.py", 127,
		  "no-such-program.py: no such program" },
		{ "%s/none", 127, "/none: no such program" },
		{ "b\"a\\d\n\377\xc3\xa9", 127,
		  "b\"a\\d\n?\xc3\xa9: no such program" },
		{ "%s/script", 126,
		  ": the interpreter or loader it asks for is missing" },
		{ "%s/plain", 126, ": not executable (permission denied)" },
		{ "%s/in", 126, ": not executable (permission denied)" },
		{ "%s/data", 126,
		  ": not in a format that this machine can execute" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[256] = "", name[128];
		struct lab lab;
		const char *error, *end;

		lab_init(&lab);
		file_make(&lab, "script", "#!/no/such/interpreter\n", 0755);
		file_make(&lab, "plain", "text\n", 0644);
		file_make(&lab, "data", "\1\2\3\4", 0755);
		end = strstr(cases[i].program, "%s");
		snprintf(name, sizeof(name), "%s%s", end ? lab.root : "",
			 end ? end + 2 : cases[i].program);
		lab_start_bytes(&lab, text,
				(size_t)snprintf(text, sizeof(text),
						 "version=1%carg=%s", 0, name) +
					1);
		is_int(lab_run(&lab), cases[i].code, "cannot execute %zu: %d",
		       i, cases[i].code);
		error = error_text(&lab);
		end = error && strlen(error) > strlen(cases[i].error)
			      ? error + strlen(error) - strlen(cases[i].error)
			      : error;
		is(end, cases[i].error, "cannot execute %zu: it says why", i);
		is_int(number_of(&lab, 0, "exit_code"), cases[i].code,
		       "cannot execute %zu: the process has the code", i);
		is_log(&lab, 0, "", "nothing of ours goes to the log");
		lab_clear(&lab);
	}
}

static void test_environment(void)
{
	char text[512] = "";
	struct lab lab;

	lab_init(&lab);
	setenv("LAB_KEEP", "kept", 1);
	setenv("LAB_OVER", "old", 1);
	mkdir(path_in(&lab, "bin"), 0755);
	file_make(&lab, "bin/tool",
		  "#!/bin/sh\n"
		  "cat\necho $LAB_KEEP $LAB_OVER \"[$LAB_EMPTY]\" $1 $RANK\n"
		  "read -r pid name state parent group session rest "
		  "< /proc/self/stat\n"
		  "[ $pid = $group ] && [ $pid = $session ] && echo leader\n"
		  "readlink /proc/self/fd/0\n",
		  0755);
	lab_start_bytes(&lab, text,
			(size_t)snprintf(text, sizeof(text),
					 "version=1%cenv=LAB_OVER=first%c"
					 "env=LAB_OVER=new%cenv=LAB_EMPTY=%c"
					 "env=PATH=/none:%s/bin:/usr/bin:/bin%c"
					 "arg=tool%carg=a b",
					 0, 0, 0, 0, lab.root, 0, 0) +
				1);
	is_int(lab_run(&lab), 0, "the PATH of the start file finds a program");
	is_log(&lab, 0, "kept new [] a b\nleader\n/dev/null\n",
	       "environment, argument, session and stdin are as promised");
	unsetenv("LAB_KEEP");
	unsetenv("LAB_OVER");
	lab_clear(&lab);
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
		struct lab lab;

		lab_init(&lab);
		lab.pid1 = pid1;
		snprintf(script, sizeof(script),
			 "trap 'echo got %s; exit 5' %s; echo ready >&9; "
			 "while :; do sleep 60 & wait; done",
			 signals[i].name, signals[i].name);
		lab_script(&lab, "", script);
		if (lab_begin(&lab) && lab_ready(&lab, 1))
			kill(lab.pid, signals[i].number);
		is_int(lab_end(&lab), 5, "SIG%s is forwarded%s",
		       signals[i].name, pid1 ? " by PID 1" : "");
		snprintf(script, sizeof(script), "got %s\n", signals[i].name);
		is_log(&lab, 0, script, "the command could answer it");
		ok(lab_silent(&lab), "and what it left behind is gone");
		lab_clear(&lab);
	}
}

static void test_grace(bool pid1)
{
	struct lab lab;
	int64_t begin;

	lab_init(&lab);
	lab.pid1 = pid1;
	lab_script(&lab, "grace_ms=300\n",
		   "trap '' TERM; echo ready >&9; "
		   "while :; do sleep 60; done");
	if (lab_begin(&lab) && lab_ready(&lab, 1))
		kill(lab.pid, SIGTERM);
	begin = clock_mono_ms();
	is_int(lab_end(&lab), 137, "SIGKILL follows a SIGTERM that is ignored");
	begin = clock_mono_ms() - begin;
	ok(begin >= 290 && begin < 5000, "after the grace time (%lld ms)",
	   (long long)begin);
	is_int(number(&lab, "signal"), 9, "the record has the signal");
	ok(lab_silent(&lab), "its children are gone too");
	lab_clear(&lab);
}

static void test_orphans_killed(bool pid1)
{
	struct lab lab;

	lab_init(&lab);
	lab.pid1 = pid1;
	mkfifo(path_in(&lab, "fifo"), 0666);
	lab_script(&lab, "",
		   "for i in 1 2 3; do (trap '' TERM HUP; setsid sh -c "
		   "'(echo ready >&9; exec sleep 600) & exec sleep 600' &); "
		   "done; echo begun >&9; read -r x < \"$LAB_FIFO\"; exit 4");
	setenv("LAB_FIFO", path_in(&lab, "fifo"), 1);
	ok(lab_begin(&lab) && lab_ready(&lab, 4), "a command has orphans");
	{
		owned_fd int fifo =
			open(path_in(&lab, "fifo"), O_WRONLY | O_CLOEXEC);

		ok(write(fifo, "\n", 1) == 1, "the command is told to end");
	}
	is_int(lab_end(&lab), 4, "a command that leaves orphans ends%s",
	       pid1 ? " under PID 1" : "");
	ok(lab_silent(&lab), "orphans in other sessions are killed");
	unsetenv("LAB_FIFO");
	lab_clear(&lab);
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
	struct lab lab;

	lab_init(&lab);
	lab_script(&lab, "",
		   "for i in 1 2 3 4 5 6 7 8 9; do (: &); done; "
		   "echo ready >&9; exec sleep 600");
	if (lab_begin(&lab) && lab_ready(&lab, 1)) {
		while (zombies_of(lab.pid)) /* the watchdog ends it */
			sched_yield();
	}
	ok(kill(lab.pid, SIGTERM) == 0, "orphans are reaped as they end");
	is_int(lab_end(&lab), 143, "while the command runs on");
	lab_clear(&lab);
}

struct listing {
	char text[4096];
};

/* Names, sizes and times of the out folder, in one string. */
static void list_out(struct lab *lab, struct listing *listing)
{
	struct dirent **names = NULL;
	int count = scandir(path_in(lab, "out"), &names, NULL, alphasort);
	size_t used = 0;

	listing->text[0] = 0;
	for (int i = 0; i < count; i++) {
		struct stat stat = { 0 };
		char name[300];

		snprintf(name, sizeof(name), "out/%s", names[i]->d_name);
		lstat(path_in(lab, name), &stat);
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
	struct lab lab;

	lab_init(&lab);
	lab_script(&lab, "", "echo once; exit 3");
	is_int(lab_run(&lab), 3, "a first run");
	list_out(&lab, &before);
	ok(strstr(before.text, "exit.json ") && strstr(before.text, "started "),
	   "leaves a record and a mark");
	ok(!strstr(before.text, ".new"), "and no scratch file");
	is_int(lab_run(&lab), 125, "a second run is refused");
	list_out(&lab, &after);
	is(after.text, before.text, "and changes nothing");
	lab_clear(&lab);
}

static void test_ranks(void)
{
	struct lab lab;

	lab_init(&lab);
	lab_script(&lab, "processes=3\nfirst_rank=4\nrank_env=1\nenv=RANK=9\n",
		   "echo rank $RANK local $LOCAL_RANK");
	is_int(lab_run(&lab), 0, "three processes of one command");
	is_int(process_count(&lab), 3, "three of them are in the record");
	is_log(&lab, 4, "rank 4 local 0\n", "the first has its rank and log");
	is_log(&lab, 5, "rank 5 local 1\n", "the second has its own");
	is_log(&lab, 6, "rank 6 local 2\n", "and the third");
	is_int(number_of(&lab, 2, "rank"), 6, "the record names the ranks");
	is_int(number_of(&lab, 2, "log_bytes"), 15, "and their logs' sizes");
	lab_clear(&lab);

	lab_init(&lab);
	lab_script(&lab, "processes=2\nrank_env=0\n", "echo \"[$LOCAL_RANK]\"");
	is_int(lab_run(&lab), 0, "two processes without ranks");
	is_log(&lab, 1, "[]\n", "get none in their environment");
	lab_clear(&lab);
}

static void test_first_failure(void)
{
	struct lab lab;

	lab_init(&lab);
	setenv("LAB_FIFO", path_in(&lab, "fifo"), 1);
	mkfifo(path_in(&lab, "fifo"), 0666);
	lab_script(&lab, "processes=4\nrank_env=1\ngrace_ms=200\n",
		   "[ $RANK = 2 ] && trap '' TERM; echo ready >&9; "
		   "[ $RANK = 1 ] || exec sleep 600; "
		   "read -r x < \"$LAB_FIFO\"; exit 9");
	ok(lab_begin(&lab) && lab_ready(&lab, 4), "four processes run");
	{
		owned_fd int fifo =
			open(path_in(&lab, "fifo"), O_WRONLY | O_CLOEXEC);

		ok(write(fifo, "\n", 1) == 1, "one of them is made to fail");
	}
	is_int(lab_end(&lab), 9, "its exit code is the outcome");
	is_int(number_of(&lab, 0, "signal"), 15, "the others are told to end");
	is_int(number_of(&lab, 2, "signal"), 9, "and killed when they do not");
	is_int(number(&lab, "signal"), 0, "the record is about the first");
	unsetenv("LAB_FIFO");
	lab_clear(&lab);
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
		{ BYTES(""), "start file: found an empty file" },
		{ BYTES("version=1"), "does not end in NUL" },
		{ BYTES("version=1\0"), "no arg= record" },
		{ BYTES("\0"), "record 1: found \"\", allowed version=1" },
		{ BYTES("version=2\0arg=true\0"), "found \"version=2\"" },
		{ BYTES("arg=true\0version=1\0"), "found \"arg=true\"" },
		{ BYTES("version=1\0arg=true"), "does not end in NUL" },
		{ BYTES("version=1\0\0arg=true\0"), "record 2: found \"\"" },
		{ BYTES("version=1\0arg=true\0speed=9\0"),
		  "record 3: found \"speed=9\", allowed processes=" },
		{ BYTES("version=1\0processes=0\0arg=true\0"),
		  "processes: found \"0\", allowed 1 to 64" },
		{ BYTES("version=1\0processes=65\0arg=true\0"),
		  "processes: found \"65\", allowed 1 to 64" },
		{ BYTES("version=1\0processes=-1\0arg=true\0"), "\"-1\"" },
		{ BYTES("version=1\0processes= 1\0arg=true\0"), "\" 1\"" },
		{ BYTES("version=1\0processes=\0arg=true\0"), "\"\"" },
		{ BYTES("version=1\0processes=1x\0arg=true\0"), "\"1x\"" },
		{ BYTES("version=1\0processes=4294967297\0arg=true\0"),
		  "allowed 1 to 64" },
		{ BYTES("version=1\0processes=99999999999999999999\0arg=a\0"),
		  "allowed 1 to 64" },
		{ BYTES("version=1\0processes=1\0processes=1\0arg=true\0"),
		  "record 3: processes: found twice" },
		{ BYTES("version=1\0rank_env=2\0arg=true\0"), "allowed 0 to 1" },
		{ BYTES("version=1\0grace_ms=3600001\0arg=true\0"),
		  "allowed 0 to 3600000" },
		{ BYTES("version=1\0first_rank=100000001\0arg=true\0"),
		  "first_rank: found" },
		{ BYTES("version=1\0env=NAME\0arg=true\0"),
		  "env: found \"NAME\", allowed NAME=VALUE" },
		{ BYTES("version=1\0env==x\0arg=true\0"), "env: found \"=x\"" },
		{ BYTES("version=1\0arg=\0"), "arg: the program has no name" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct lab lab;
		const char *error;

		lab_init(&lab);
		lab_start_bytes(&lab, cases[i].bytes, cases[i].size);
		is_int(lab_run(&lab), 125, "broken start file %zu: 125", i);
		error = error_text(&lab);
		ok(error && strstr(error, cases[i].error),
		   "broken start file %zu: \"%s\" (%s)", i, cases[i].error,
		   error ? error : "no error");
		is_int(process_count(&lab), 0,
		       "broken start file %zu: "
		       "nothing runs",
		       i);
		lab_clear(&lab);
	}
}

static void test_start_file_size(void)
{
	enum { MAX = 1 << 20 };
	char *bytes = calloc(1, MAX + 1);
	struct lab lab;

	memcpy(bytes, "version=1\0arg=/bin/true\0env=A=", 30);
	memset(bytes + 30, 'x', MAX - 31);
	bytes[100000] = 0; /* one string is limited by the kernel */
	for (size_t i = 100001; i + 20000 < MAX; i += 20000)
		memcpy(bytes + i - 1, "\0env=B=", 7);
	lab_init(&lab);
	unlink(path_in(&lab, "in/start"));
	is_int(lab_run(&lab), 125, "no start file: 125");
	ok(error_text(&lab) && strstr(error_text(&lab), "cannot open"),
	   "and the record says so");
	lab_clear(&lab);
	lab_init(&lab);
	bytes[MAX - 1] = 0;
	lab_start_bytes(&lab, bytes, MAX);
	is_int(lab_run(&lab), 0, "a start file of a MiB is read");
	lab_clear(&lab);
	lab_init(&lab);
	bytes[MAX - 1] = 'x';
	lab_start_bytes(&lab, bytes, MAX + 1);
	is_int(lab_run(&lab), 125, "one byte more is refused");
	ok(error_text(&lab) && strstr(error_text(&lab), "1048576 bytes"),
	   "and the record says why");
	lab_clear(&lab);
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
	struct lab lab;

	lab_init(&lab);
	lab.pid1 = pid1;
	inotify_add_watch(watch, path_in(&lab, "out"), IN_MOVED_TO);
	lab_script(&lab, "",
		   "(setsid sh -c 'echo ready >&9; "
		   "while :; do echo xxxxxxxxxxxxxxxxxxxx; done' &)\n"
		   "while ! [ -s \"$LAB_LOG\" ]; do :; done; exit 0");
	setenv("LAB_LOG", path_in(&lab, "out/rank-0.log"), 1);
	lab_begin(&lab);
	while (!seen) {
		ssize_t got = read(watch, event, sizeof(event));
		const struct inotify_event *first = (const void *)event;

		if (got <= 0)
			break;
		seen = !strcmp(first->name, "exit.json");
	}
	stat(path_in(&lab, "out/rank-0.log"), &at_event);
	is_int(lab_end(&lab), 0, "a command whose orphan writes on and on");
	stat(path_in(&lab, "out/rank-0.log"), &at_end);
	ok(seen && at_end.st_size > 0, "the record is renamed into place");
	is_int(at_event.st_size, at_end.st_size,
	       "nothing is written to the log after it");
	is_int(number_of(&lab, 0, "log_bytes"), at_end.st_size,
	       "and log_bytes is its size");
	unsetenv("LAB_LOG");
	lab_clear(&lab);
}

static void test_other_user(void)
{
	struct stat stat_log = { 0 };
	mode_t umask_before;
	struct lab lab;

	if (geteuid()) {
		ok(true, "another user # SKIP needs root");
		return;
	}
	lab_init(&lab);
	lab.nobody = true;
	umask_before = umask(077);
	lab_script(&lab, "", "id -u; umask");
	chmod(path_in(&lab, "in/start"), 0644);
	is_int(lab_run(&lab), 0, "any user of the image can be PID 1");
	umask(umask_before);
	is_log(&lab, 0, "65534\n0077\n", "the command runs as that user");
	stat(path_in(&lab, "out/rank-0.log"), &stat_log);
	is_int(stat_log.st_mode & 0777, 0644,
	       "its log can be read whatever its umask");
	lab_clear(&lab);
}

/* The command fills the disk on which its log and the record lie. */
static void test_full_disk(void)
{
	struct lab lab;

	lab_init(&lab);
	if ((unshare(CLONE_NEWNS) < 0 &&
	     unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", path_in(&lab, "out"), "tmpfs", 0,
		  "size=512k,mode=0777") < 0) {
		ok(true, "a full disk # SKIP needs a mount namespace");
		lab_clear(&lab);
		return;
	}
	lab_script(&lab, "", "head -c 5000000 /dev/zero; exit 6");
	is_int(lab_run(&lab), 6, "a log that fills the disk hangs nothing");
	is_int(number(&lab, "exit_code"), 6,
	       "the record is written all the same");
	ok(number_of(&lab, 0, "log_bytes") > 100000, "the log went so far");
	umount(path_in(&lab, "out"));
	lab_clear(&lab);
}

int main(void)
{
	bool pid1;
	pid_t pid;

	tap_begin(120);
	program = getenv("REGATTA_INIT");
	program = program ? program : "build/regatta-init";
	if (access(program, X_OK) < 0) {
		printf("Bail out! %s: %s\n", program, strerror(errno));
		return 1;
	}
	pid = lab_fork(&(struct lab){ .pid1 = true });
	if (pid == 0)
		_exit(0);
	pid1 = pid > 0 && waitpid(pid, NULL, 0) == pid;
	if (!pid1)
		printf("# no PID namespaces here: not tried as PID 1\n");
	test_output();
	test_exit_codes();
	test_exec_failures();
	test_environment();
	for (int i = 0; i < (pid1 ? 2 : 1); i++) {
		test_signals(i);
		test_grace(i);
		test_orphans_killed(i);
		test_record_comes_last(i);
	}
	test_orphans_reaped();
	test_second_run();
	test_ranks();
	test_first_failure();
	test_broken_start_files();
	test_start_file_size();
	test_other_user();
	test_full_disk();
	return tap_done();
}
