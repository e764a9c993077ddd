/* main.c - regatta-init: PID 1 of every container; agent/init/init.h says all.
 *
 * With an argument, that folder stands for /regatta: for tests, which run it
 * outside a container.
 */
#include "agent/init/limits.h"
#include "agent/init/cgroup.h"
#include "agent/init/count.h"
#include "agent/init/environment.h"
#include "agent/init/init.h"
#include "agent/init/output_files.h"
#include "agent/init/pack.h"
#include "agent/init/pod.h"
#include "agent/init/process.h"
#include "agent/init/record.h"
#include "agent/init/seccomp_filter.h"
#include "agent/init/secret_files.h"
#include "agent/init/ssh_client.h"
#include "agent/init/ssh_server.h"
#include "agent/init/start.h"
#include "protocol/base/clock.h"
#include "protocol/base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { EXIT_OURS = 125, LOOK_MS = 5000 };

static const int forwarded[] = { SIGTERM, SIGINT,  SIGHUP,
				 SIGQUIT, SIGUSR1, SIGUSR2 };
#define FORWARDED (sizeof(forwarded) / sizeof(forwarded[0]))

struct init {
	int out;           /* the folder */
	int reserved;      /* descriptor of the reserved exit record */
	sigset_t signals;  /* those that the loop takes */
	int64_t kill_at;   /* monotonic ms, 0: no stop is under way */
	bool killed;       /* SIGKILL was sent */
	bool failed;       /* the record's exit code is settled */
	bool told;         /* SIGTERM or SIGINT was received */
	uint32_t running;  /* processes of the command */
	bool preparing;    /* the prepare command runs */
	int64_t oom_kills; /* before we began */
	int64_t begun;     /* monotonic ms */
	int64_t memory_at; /* when memory is looked at, likewise */
	int64_t pack_end;  /* likewise; 0: nobody waits for the end */
	struct start start;
	struct output_files *output; /* NULL: nothing runs yet */
	struct ssh_server *ssh;      /* NULL: the job does without */
	struct record record;
};

static void init_complain(const struct error *err)
{
	dprintf(2, "regatta-init: %s\n", err->text);
}

static void signal_all(const struct init *init, int signal)
{
	for (uint32_t i = 0; i < init->record.count; i++) {
		const struct process *process = &init->record.processes[i];

		if (!process->ended)
			kill(-process->pid, signal);
	}
	if (init->ssh)
		ssh_server_signal(init->ssh, signal);
}

/* Does it run commands of other tasks until it is told to end? */
static bool serves(const struct init *init)
{
	return init->ssh && init->start.node > 0;
}

static void stop_begin(struct init *init)
{
	if (!init->kill_at)
		init->kill_at = clock_mono_ms() + (int64_t)init->start.grace_ms;
}

/* The first failure settles the outcome and ends what still runs. */
static void fail(struct init *init, int exit_code, int signal)
{
	if (init->failed)
		return;
	init->failed = true;
	init->record.exit_code = exit_code;
	init->record.signal = signal;
	if (init->running) {
		signal_all(init, SIGTERM);
		stop_begin(init);
	}
}

static void start_all(struct init *init);

/* The prepare command has ended. It used the place and the log of process 0. */
static void init_prepare_done(struct init *init)
{
	struct process *process = &init->record.processes[0];

	init->preparing = false;
	if (process->exit_code) {
		if (!init->record.why.code)
			error_set(&init->record.why, EINVAL,
				  "the prepare command exited with code "
				  "%d",
				  process->exit_code);
	} else if (init->told) { /* told to end, and exited with 0 */
		fail(init, 128 + SIGTERM, SIGTERM);
	} else {
		close(process->log);
		init->record.count = 0;
		start_all(init);
	}
}

static void reaped(struct init *init, pid_t pid, int status,
		   const struct rusage *usage)
{
	for (uint32_t i = 0; i < init->record.count; i++) {
		struct process *process = &init->record.processes[i];

		if (process->pid != pid || process->ended)
			continue;
		process_end(process, status, usage, clock_wall_ms());
		init->running--;
		if (process->exit_code && !(init->told && serves(init)))
			fail(init, process->exit_code, process->signal);
		if (init->preparing)
			init_prepare_done(init);
		return;
	}
	if (init->ssh)
		ssh_server_reaped(init->ssh, pid, status);
}

/* false: no child is left at all. */
static bool reap(struct init *init)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0)
		reaped(init, pid, status, &usage);
	return pid == 0;
}

/* A signal, or 0 when `until` (monotonic ms, 0: never) has come. */
static int signal_wait(const struct init *init, int64_t until)
{
	for (;;) {
		int64_t left = until - clock_mono_ms();
		struct timespec time = { 0 };
		int signal;

		left = left < 0 ? 0 : left;
		time.tv_sec = (time_t)(left / 1000);
		time.tv_nsec = (long)(left % 1000) * 1000000;
		signal = sigtimedwait(&init->signals, NULL,
				      until ? &time : NULL);
		if (signal > 0)
			return signal;
		if (signal < 0 && errno == EAGAIN)
			return 0;
	}
}

/* Measure the memory, because no kernel keeps a peak without page cache. Short
 * commands are measured more often. Returns the next time.
 */
static int64_t look_at_memory(struct init *init, int64_t now)
{
	enum { SHARE = 10, OFTEN_MS = 20, SELDOM_MS = 1000 };
	struct record *record = &init->record;
	int64_t used, pause;

	if (now < init->memory_at)
		return init->memory_at;
	used = cgroup_memory_used();
	if (used > record->memory_peak_bytes)
		record->memory_peak_bytes = used;
	pause = (now - init->begun) / SHARE;
	if (pause < OFTEN_MS)
		pause = OFTEN_MS;
	init->memory_at = now + (pause < SELDOM_MS ? pause : SELDOM_MS);
	return init->memory_at;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void init_run_loop(struct init *init)
{
	int64_t look_at = 1;

	init->begun = clock_mono_ms();
	while (init->running ||
	       (serves(init) && !init->failed && !init->told)) {
		int64_t kill_at = init->killed ? 0 : init->kill_at;
		int signal = signal_wait(init, kill_at && kill_at < look_at
						       ? kill_at
						       : look_at);
		int64_t now = clock_mono_ms();

		if (signal == SIGCHLD) {
			reap(init);
		} else if (signal) {
			signal_all(init, signal);
			if (signal == SIGTERM || signal == SIGINT) {
				init->told = true;
				stop_begin(init);
			}
		} else if (kill_at && now >= kill_at) {
			signal_all(init, SIGKILL);
			init->killed = true;
		}
		look_at = earlier(output_files_look(init->output, now),
				  look_at_memory(init, now));
		if (init->ssh && !init->failed && !init->told)
			look_at = earlier(look_at,
					  ssh_server_look(init->ssh, now));
	}
}

/* SIGKILL to each process whose parent we are. Outside a container we may not
 * signal everybody; as the subreaper we inherit grandchildren when their
 * parents die, so that the next round finds them. -1: /proc is not there.
 */
static int kill_children(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (!proc)
		return -1;
	while ((entry = readdir(proc))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		char path[64], line[512], *end;
		FILE *file;

		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
		file = fopen(path, "re");
		if (!file)
			continue;
		/* "pid (name) state parent": the name may hold anything */
		if (fgets(line, sizeof(line), file) &&
		    (end = strrchr(line, ')')) && strlen(end) > 4 &&
		    strtol(end + 4, NULL, 10) == getpid())
			kill(pid, SIGKILL);
		fclose(file);
	}
	closedir(proc);
	return 0;
}

/* Kill and reap what the command left behind, so that nothing writes to a log
 * once the record is there. The loop does not trust one round: a child may
 * hand us another one as it dies. After a command that ended well, helpers have
 * a moment to end by themselves; what is left then is told in a note: a
 * launcher may have put the training into the background.
 */
static void init_sweep(struct init *init)
{
	enum { ROUND_MS = 20, HELPERS_MS = 300 };
	bool well = !init->told && !init->record.exit_code;
	int64_t now = clock_mono_ms(), until = well ? now + HELPERS_MS : now;

	while (now < until && reap(init)) {
		signal_wait(init, now + ROUND_MS);
		now = clock_mono_ms();
	}
	if (reap(init) && well)
		snprintf(init->record.note, sizeof(init->record.note),
			 "the command exited with code 0 and left processes, "
			 "which were killed; a launcher must wait for what it "
			 "starts");
	while (reap(init)) {
		if (getpid() == 1) {
			kill(-1, SIGKILL);
		} else if (kill_children() < 0) {
			error_set(&init->record.why, EINVAL,
				  "/proc is missing, so remaining "
				  "processes of the command cannot be "
				  "found");
			return;
		}
		signal_wait(init, clock_mono_ms() + ROUND_MS);
	}
}

/* Take signals; true: the time that a stop leaves for packing is over. */
static bool init_pack_late(void *arg)
{
	struct init *init = arg;
	int64_t now = clock_mono_ms();
	int signal;

	while ((signal = signal_wait(init, now)) != 0)
		init->told |= signal == SIGTERM || signal == SIGINT;
	if (init->told && !init->pack_end)
		init->pack_end = now + INIT_PACK_MS;
	return init->pack_end && now >= init->pack_end;
}

static void init_pack(struct init *init)
{
	const struct pack pack = {
		.layer = -1,
		.out = init->out,
		.paths = init->start.collect.items,
		.count = init->start.collect.count,
		.limit = init->start.collect_limit,
		.since = init->record.started_ms / 1000,
		.late = init_pack_late,
		.arg = init,
	};
	int64_t begun = clock_mono_ms();

	if (!pack.count)
		return;
	pack_all(&pack, false);
	init->record.packed_ms = clock_mono_ms() - begun;
}

static bool never_late(void *arg)
{
	return false;
}

/* pack OUT ROOT LIMIT SINCE PATH... */
static int pack_main(int argc, char **argv)
{
	struct pack pack = {
		.layer = open(argv[3], O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.out = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.limit = strtoull(argv[4], NULL, 10),
		.since = strtoll(argv[5], NULL, 10),
		.paths = argv + 6,
		.count = (size_t)argc - 6,
		.late = never_late,
	};

	if (pack.layer < 0 || pack.out < 0) {
		dprintf(2, "%s: %s\n", argv[pack.layer < 0 ? 3 : 2],
			strerror(errno));
		return EXIT_OURS;
	}
	pack_all(&pack, true);
	return 0;
}

/* Start process i of the command; false: it is the last one. */
static bool start_one(struct init *init, char **args, uint32_t i)
{
	struct record *record = &init->record;
	struct process *process = &record->processes[record->count];
	/* The size of its log, which the prepare command may have written. */
	uint64_t log_size = process->log_size;

	if (process_start(process, &init->start, args, i, init->out, environ,
			  &record->why) < 0) {
		fail(init, EXIT_OURS, 0);
		return false;
	}
	process->log_size = log_size;
	record->count++;
	init->running++;
	return !record->why.code; /* otherwise its end fails the others */
}

static void start_all(struct init *init)
{
	uint32_t i = 0;

	while (i < init->start.processes &&
	       start_one(init, init->start.arg.items, i))
		i++;
}

static void start_first(struct init *init)
{
	init->preparing = init->start.prepare.count > 0;
	if (init->preparing)
		start_one(init, init->start.prepare.items, 0);
	else
		start_all(init);
}

/* Block all signals that the loop takes before the first child exists, so none
 * is lost. If our parent ignored SIGCHLD, the kernel would reap children
 * itself.
 */
static void signals_take(struct init *init)
{
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&init->signals);
	sigaddset(&init->signals, SIGCHLD);
	for (size_t i = 0; i < FORWARDED; i++)
		sigaddset(&init->signals, forwarded[i]);
	sigprocmask(SIG_BLOCK, &init->signals, NULL);
	if (getpid() != 1)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
}

/* Without standard descriptors, files that we open would get their numbers. */
static void descriptors_fill(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/* 0: this is the first run. */
static int started_mark(struct init *init, const char *path, struct error *why)
{
	const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd;

	init->out = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (init->out < 0)
		return error_errno(why, "%.150s", path);
	fd = openat(init->out, "started",
		    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST)
		return error_set(why, EEXIST,
				 "this container has run before; a "
				 "command runs only once");
	if (fd < 0)
		return error_errno(why, "%.150s/started", path);
	/* It stays open: the lock shows that regatta-init lives. Its byte is
	 * written after the lock, so that who sees it finds the lock.
	 */
	fcntl(fd, F_SETLK, &lock);
	return write(fd, "\n", 1) == 1
		       ? 0
		       : error_errno(why, "%.150s/started", path);
}

/* Wait until the agent releases the command: then the start file is there.
 * false: told to end instead.
 */
static bool release_wait(struct init *init, const char *in)
{
	enum { SHARE = 16, OFTEN_MS = 1, SELDOM_MS = 100 };
	int64_t begun = clock_mono_ms();

	while (access(in, F_OK) < 0 && errno == ENOENT) {
		int64_t now = clock_mono_ms();
		int64_t pause = (now - begun) / SHARE;
		int signal;

		pause = pause < OFTEN_MS ? OFTEN_MS : earlier(pause, SELDOM_MS);
		signal = signal_wait(init, now + pause);
		if (signal == SIGTERM || signal == SIGINT) {
			fail(init, 128 + signal, signal);
			return false;
		}
	}
	return true;
}

/* Read the records of the pipe beside the start file. An agent that ended takes
 * what is in it along; the next one fills it again. -1: told to end instead, or
 * it cannot be.
 */
static int init_read_secrets(struct init *init, const char *in,
			     struct buffer *to)
{
	enum { OFTEN_MS = 2 };
	char path[PATH_MAX], piece[4096];
	owned_fd int fd = -1;
	const char *end;
	ssize_t got;

	snprintf(path, sizeof(path), "%.*s/secrets",
		 (int)(strrchr(in, '/') - in), in);
	while (!(end = memmem(to->data, to->size, "\0", 2))) {
		if (fd < 0)
			fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		got = fd < 0 ? -1 : read(fd, piece, sizeof(piece));
		if (got > 0 && buffer_append(to, piece, (size_t)got,
					     &init->record.why) < 0)
			return -1;
		if (got <= 0) {
			int signal =
				signal_wait(init, clock_mono_ms() + OFTEN_MS);

			if (signal == SIGTERM || signal == SIGINT)
				return error_set(&init->record.why, EINTR,
						 "told to end before the "
						 "secrets came");
		}
	}
	to->size = (size_t)(end - to->data) + 1;
	return 0;
}

static int init_take_secrets(struct init *init, const char *in)
{
	owned(buffer_clear) struct buffer more = BUFFER_INIT(INIT_START_MAX);
	int fd;

	if (!init->start.secrets)
		return 0;
	if (init_read_secrets(init, in, &more) < 0)
		return -1;
	start_clear(&init->start);
	if (start_read(in, &more, &init->start, &init->record.why) < 0)
		return -1;
	fd = openat(init->out, "read", O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd >= 0)
		close(fd);
	return 0;
}

static void out_of_memory(struct init *init)
{
	error_nomem(&init->record.why, "output");
	fail(init, EXIT_OURS, 0);
}

/* false: out of memory. in: the path of the start file. */
static bool ssh_open(struct init *init, const char *in)
{
	if (!init->start.ssh)
		return true;
	if (environment_prepend(environ, &init->start) == 0)
		init->ssh = ssh_server_new(&init->start, in, init->out);
	return init->ssh;
}

static int init_run(struct init *init, const char *in, const char *secrets)
{
	struct record *record = &init->record;
	struct error why = { 0 };
	bool released = release_wait(init, in);

	record->started_ms = clock_wall_ms();
	init->oom_kills = cgroup_oom_kills();
	init->reserved = record_reserve(init->out, &record->why);
	if (!released || init->reserved < 0 ||
	    start_read(in, NULL, &init->start, &record->why) < 0 ||
	    init_take_secrets(init, in) < 0 ||
	    secret_files_write(&init->start, secrets, &record->why) < 0 ||
	    (!init->start.suid && seccomp_filter_install(&record->why) < 0))
		fail(init, EXIT_OURS, 0);
	else if (!ssh_open(init, in) ||
		 !(init->output =
			   output_files_new(&init->start, record, init->out)))
		out_of_memory(init);
	else {
		limits_raise_files(init->start.open_files);
		start_first(init);
	}
	init_run_loop(init);
	init_sweep(init);
	if (init->output)
		output_files_finish(init->output);
	output_files_free(init->output);
	ssh_server_free(init->ssh);
	record->ended_ms = clock_wall_ms();
	init_pack(init);
	record->oom_kills = cgroup_oom_kills() - init->oom_kills;
	if (record->why.code)
		init_complain(&record->why);
	if (record_write(record, init->out, init->reserved, &why) < 0)
		init_complain(&why);
	start_clear(&init->start);
	return record->exit_code;
}

/* Until the agent of the pod starts the task, whose folders it links into this
 * one. The lock shows the agent which process it is, and that it lives. false:
 * told to end instead.
 */
static bool pod_await(struct init *init, const char *folder, const char *out,
		      struct error *why)
{
	enum { OFTEN_MS = 5 };
	const struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/" INIT_POD_LOCK, folder);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0 || fcntl(fd, F_SETLK, &lock) < 0) {
		error_errno(why, "%.150s", path);
		return false;
	}
	while (access(out, F_OK) < 0) {
		int signal = signal_wait(init, clock_mono_ms() + OFTEN_MS);

		if (signal == SIGTERM || signal == SIGINT) {
			error_set(why, EINTR, "told to end before the start");
			return false;
		}
	}
	return true;
}

static int init_install(const char *folder)
{
	struct error why;

	if (pod_install(folder, &why) == 0)
		return 0;
	init_complain(&why);
	return EXIT_OURS;
}

/* empty FOLDER */
static int init_empty(const char *path)
{
	owned_dir DIR *dir = opendir(path);
	const struct dirent *entry;
	struct error why;

	if (!dir) {
		error_errno(&why, "%s", path);
		init_complain(&why);
		return EXIT_OURS;
	}
	while ((entry = readdir(dir)))
		if (strcmp(entry->d_name, ".") != 0 &&
		    strcmp(entry->d_name, "..") != 0 &&
		    file_remove_tree(dirfd(dir), entry->d_name, &why) < 0) {
			init_complain(&why);
			return EXIT_OURS;
		}
	return 0;
}

/* Become a stack tool, with the filter of the command. */
static int tool_run(char **argv)
{
	struct error why = { 0 };

	alarm(INIT_RUN_S);
	if (seccomp_filter_install(&why) < 0)
		init_complain(&why);
	else
		execvp(argv[0], argv);
	return EXIT_OURS;
}

int main(int argc, char **argv)
{
	struct init *init = calloc(1, sizeof(*init));
	char in[PATH_MAX] = INIT_IN "/start";
	char out[PATH_MAX] = INIT_OUT;
	char secrets[PATH_MAX] = INIT_SECRETS;
	bool pod = argc == 3 && !strcmp(argv[1], INIT_POD);
	const char *folder = argc > 1 ? argv[1] : NULL;
	struct error why = { 0 };
	int code;

	if (argc > 0 && ((code = ssh_client_main(argc, argv)) >= 0 ||
			 (code = pod_tool_main(argc, argv)) >= 0))
		return code;
	if (argc > 6 && !strcmp(argv[1], "pack"))
		return pack_main(argc, argv);
	if (argc == 3 && !strcmp(argv[1], INIT_EMPTY))
		return init_empty(argv[2]);
	if (argc >= 5 && !strcmp(argv[1], INIT_COUNT))
		return count_main(argv[2], argv[3], argv[4], argv + 5);
	if (argc == 3 && !strcmp(argv[1], INIT_INSTALL))
		return init_install(argv[2]);
	if (argc > 2 && !strcmp(argv[1], INIT_RUN))
		return tool_run(argv + 2);
	if (pod)
		folder = argv[2];
	if (folder) {
		snprintf(in, sizeof(in), "%s/in/start", folder);
		snprintf(out, sizeof(out), "%s/out", folder);
	}
	if (folder && !pod)
		snprintf(secrets, sizeof(secrets), "%s/secrets", folder);
	if (!init) {
		dprintf(2, "regatta-init: out of memory\n");
		return EXIT_OURS;
	}
	/* The command may run as the same user, and must not trace us. */
	prctl(PR_SET_DUMPABLE, 0);
	descriptors_fill();
	if (pod && pod_split(folder, out, &why) < 0) {
		init_complain(&why);
		return EXIT_OURS;
	}
	signals_take(init);
	if ((pod && !pod_await(init, folder, out, &why)) ||
	    started_mark(init, out, &why) < 0) {
		init_complain(&why);
		/* The agent sees no mark, and looks what is in its way. */
		if (why.code != EEXIST && !pod)
			signal_wait(init, clock_mono_ms() + LOOK_MS);
		free(init);
		return EXIT_OURS;
	}
	code = init_run(init, in, secrets);
	free(init);
	return code;
}
