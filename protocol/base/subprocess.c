/* subprocess.c - runs a program without a shell, with a time limit and
 * bounded output.
 *
 * A tool is freed when its process is gone, not before: the source that reaps
 * the child keeps it. What was cut short or cancelled waits for that unseen.
 */
#include "protocol/base/subprocess.h"
#include "protocol/base/clock.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define KILL_MS 2000       /* SIGKILL takes effect sooner, or not at all */
#define HIDDEN_GROUP 65533 /* the real group only: no rights to files */
#define READ_MAX 65536
#define READS_MAX 16 /* per turn of the loop */

extern char **environ;

enum { OUT, COMPLAINT, PIPES };

struct pipe_end {
	int fd;
	struct buffer text;
	sd_event_source *source;
};

struct subprocess {
	sd_event *loop;
	subprocess_done_fn *done; /* NULL: nobody waits any more */
	subprocess_heard_fn *heard;
	void *arg;
	pid_t pid;
	char *name;
	uint32_t timeout_ms;
	int64_t started_ms;
	struct pipe_end pipes[PIPES];
	sd_event_source *timer, *child;
	struct error cut; /* code 0: it was not cut short */
};

static void subprocess_close(struct subprocess *tool)
{
	for (size_t i = 0; i < PIPES; i++) {
		loop_source_free(&tool->pipes[i].source);
		if (tool->pipes[i].fd >= 0)
			close(take_fd(&tool->pipes[i].fd));
	}
	loop_source_free(&tool->timer);
}

static void subprocess_free(struct subprocess *tool)
{
	subprocess_close(tool);
	loop_source_free(&tool->child);
	for (size_t i = 0; i < PIPES; i++)
		/* A credential helper prints passwords. */
		secret_buffer_clear(&tool->pipes[i].text);
	free(tool->name);
	sd_event_unref(tool->loop);
	free(tool);
}
OWNED_POINTER(struct subprocess, subprocess_free)

/* Only before the child is reaped: later its number may be that of another
 * process.
 */
static void subprocess_kill(struct subprocess *tool)
{
	kill(-tool->pid, SIGKILL);
	kill(tool->pid, SIGKILL);
}

static void subprocess_gone(void *arg)
{
	subprocess_free(arg);
}

/* done() does not run any more. The loop keeps the source that reaps the child,
 * and that source keeps the tool.
 */
static void subprocess_abandon(struct subprocess *tool)
{
	tool->done = NULL;
	subprocess_close(tool);
	tool->loop = sd_event_unref(tool->loop);
	sd_event_source_set_floating(tool->child, 1);
	sd_event_source_set_destroy_callback(tool->child, subprocess_gone);
	tool->child = sd_event_source_unref(tool->child);
}

static int subprocess_stuck(sd_event_source *source, uint64_t usec, void *arg)
{
	struct subprocess *tool = arg;
	subprocess_done_fn *done = tool->done;
	void *done_arg = tool->arg;
	struct error err = tool->cut;

	err.code = EBUSY;
	error_prefix(&err, "cannot be killed");
	subprocess_abandon(tool);
	done(done_arg, &err, NULL);
	return 0;
}

static void subprocess_cut(struct subprocess *tool)
{
	subprocess_kill(tool);
	for (size_t i = 0; i < PIPES; i++)
		loop_source_free(&tool->pipes[i].source);
	loop_source_free(&tool->timer); /* another function is next */
	loop_timer(tool->loop, &tool->timer, KILL_MS, subprocess_stuck, tool,
		   NULL);
}

static int subprocess_late(sd_event_source *source, uint64_t usec, void *arg)
{
	struct subprocess *tool = arg;

	error_set(&tool->cut, ETIMEDOUT,
		  tool->heard ? "%s: prints nothing for %u ms; killed"
			      : "%s: still running after %u ms; killed",
		  tool->name, tool->timeout_ms);
	subprocess_cut(tool);
	return 0;
}

/* Read what is in the pipe. 1: there may be more; 0: nothing now; -1: the end.
 */
static int pipe_read(struct subprocess *tool, struct pipe_end *end)
{
	struct buffer *text = &end->text;
	size_t room = text->limit - text->size;
	char dropped[4096];
	ssize_t got;

	if (room &&
	    buffer_reserve(text, room < READ_MAX ? room : READ_MAX, NULL) < 0)
		return -1;
	if (room)
		got = read(end->fd, text->data + text->size,
			   room < READ_MAX ? room : READ_MAX);
	else
		got = read(end->fd, dropped, sizeof(dropped));
	if (got <= 0)
		return got < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
	if (room) {
		text->size += (size_t)got;
		text->data[text->size] = 0;
	} else if (end == &tool->pipes[OUT]) {
		error_set(&tool->cut, E2BIG,
			  "%s: printed more than %zu bytes; killed", tool->name,
			  text->limit);
		return -1;
	}
	return 1;
}

/* Give out what was read of the stdout. */
static void subprocess_tell(struct subprocess *tool)
{
	struct buffer *text = &tool->pipes[OUT].text;

	if (!tool->heard || !text->size)
		return;
	if (tool->timer)
		loop_timer(tool->loop, &tool->timer, tool->timeout_ms,
			   subprocess_late, tool, NULL);
	tool->heard(tool->arg, text->data, text->size);
	text->size = 0;
}

static int pipe_ready(sd_event_source *source, int fd, uint32_t events,
		      void *arg)
{
	struct subprocess *tool = arg;
	struct pipe_end *end =
		&tool->pipes[source == tool->pipes[COMPLAINT].source];
	int more = 1;

	for (int i = 0; more > 0 && i < READS_MAX; i++)
		more = pipe_read(tool, end);
	if (more < 0)
		loop_source_free(&end->source);
	if (tool->cut.code)
		subprocess_cut(tool);
	else if (end == &tool->pipes[OUT])
		subprocess_tell(tool);
	return 0;
}

static void complaint_tidy(struct buffer *text)
{
	while (text->size && strchr("\r\n\t ", text->data[text->size - 1]))
		text->data[--text->size] = 0;
	printable(text->data, text->size);
}

static void subprocess_finish(struct subprocess *tool, const siginfo_t *info)
{
	struct buffer *out = &tool->pipes[OUT].text;
	struct buffer *complaint = &tool->pipes[COMPLAINT].text;
	struct subprocess_output output = { 0 };

	/* Read what it wrote last; do not wait for the output of its
	 * children. */
	for (size_t i = 0; i < PIPES; i++)
		while (!tool->cut.code && pipe_read(tool, &tool->pipes[i]) > 0)
			;
	complaint_tidy(complaint);
	if (!tool->cut.code)
		subprocess_tell(tool);
	output.text = out->data;
	output.size = out->size;
	output.complaint = complaint->data;
	output.exit_code = info->si_code == CLD_EXITED ? info->si_status
						       : 128 + info->si_status;
	output.took_ms = (uint32_t)(clock_mono_ms() - tool->started_ms);
	subprocess_close(tool);
	tool->done(tool->arg, tool->cut.code ? &tool->cut : NULL,
		   tool->cut.code ? NULL : &output);
	subprocess_free(tool);
}

static int subprocess_child_ended(sd_event_source *source,
				  const siginfo_t *info, void *arg)
{
	struct subprocess *tool = arg;

	/* The child is a zombie until this returns, so no other process has
	 * its number. */
	kill(-tool->pid, SIGKILL);
	if (tool->done)
		subprocess_finish(tool, info);
	else
		sd_event_source_set_floating(source, 0); /* subprocess_gone() */
	return 0;
}

/* Starting. */

/* Does bin run the command? */
static bool is_launched(const struct subprocess_command *command)
{
	struct stat info;

	return command->bin && !strchr(command->argv->items[0], '/') &&
	       stat(command->bin, &info) == 0 && S_ISREG(info.st_mode);
}

/* The path of argv[0] in bin if it is there; else its name, to be found in
 * PATH.
 */
static char *program_path(const struct subprocess_command *command)
{
	const char *name = command->argv->items[0];
	char *path;

	if (is_launched(command))
		return strdup(command->bin);
	if (!command->bin || strchr(name, '/'))
		return strdup(name);
	if (asprintf(&path, "%s/%s", command->bin, name) < 0)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return strdup(name);
}

/* The argv of the program at path, borrowed. */
static char **program_words(const struct subprocess_command *command,
			    char *path)
{
	bool launched = is_launched(command);
	size_t given = launched && command->env ? command->env->count : 0;
	size_t count = command->argv->count;
	char **words = calloc(given + count + 2, sizeof(*words));
	char **at = words;

	if (!words)
		return NULL;
	if (launched)
		*at++ = path;
	if (given)
		memcpy(at, command->env->items, given * sizeof(*words));
	memcpy(at + given, command->argv->items, count * sizeof(*words));
	return words;
}

static bool same_name(const char *a, const char *b)
{
	size_t size = strcspn(a, "=");

	return !strncmp(a, b, size) && b[size] == '=';
}

/* The variables of the command, and our own with other names. */
static int environment(const struct subprocess_command *command,
		       struct strings *all, struct error *err)
{
	const struct strings *own = command->env;
	static const char locale[] = "LC_ALL=C";
	bool localised = false;

	for (size_t i = 0; own && i < own->count; i++) {
		if (strings_add(all, own->items[i], err) < 0)
			return -1;
		localised = localised || same_name(locale, own->items[i]);
	}
	if (!localised && strings_add(all, locale, err) < 0)
		return -1;
	for (char **each = environ; *each; each++) {
		bool given = false;

		for (size_t i = 0; i < all->count && !given; i++)
			given = same_name(all->items[i], *each);
		if (!given && strings_add(all, *each, err) < 0)
			return -1;
	}
	return 0;
}

/* An array that ends in NULL; the texts are borrowed. */
static char **vector(const struct strings *strings)
{
	char **list = calloc(strings->count + 1, sizeof(char *));

	if (list && strings->count)
		memcpy(list, strings->items, strings->count * sizeof(char *));
	return list;
}

struct launch {
	const char *path;
	char **argv;
	char **envp;
	const cpu_set_t *cpus;
	int in, fds[PIPES];
	pid_t parent;
};

/* Between vfork and exec, in our own memory: only calls that a signal handler
 * may make, and nothing of ours is written.
 */
__attribute__((noreturn)) static void
subprocess_run_child(const struct launch *start)
{
	static const char what[] = "cannot be executed: ";
	const char *why;
	sigset_t none;
	int code;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != start->parent)
		_exit(127);
	/* The memory of a program can be looked into again, whatever that of
	 * its parent was. Nobody has the groups to do so who has no right to it
	 * anyway: see ptrace(2), "access mode checking". Not setregid(): glibc
	 * would change our threads, too.
	 */
	if (!prctl(PR_GET_DUMPABLE))
		syscall(SYS_setregid, HIDDEN_GROUP, -1);
	if (start->cpus)
		sched_setaffinity(0, sizeof(*start->cpus), start->cpus);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(start->in, 0) >= 0 && dup2(start->fds[OUT], 1) >= 0 &&
	    dup2(start->fds[COMPLAINT], 2) >= 0)
		execvpe(start->path, start->argv, start->envp);
	code = errno == ENOENT || errno == ENOTDIR ? 127 : 126;
	why = strerrordesc_np(errno);
	if (write(2, what, sizeof(what) - 1) > 0 && why &&
	    write(2, why, strlen(why)) < 0)
		code = 126;
	_exit(code);
}

static int subprocess_spawn(struct subprocess *tool, const struct launch *start,
			    struct error *err)
{
	pid_t pid;

	tool->started_ms = clock_mono_ms();
	/* fork() would copy our page tables, and each page that we write to
	 * until the program starts. posix_spawn() sets no PR_SET_PDEATHSIG and
	 * no processors.
	 */
	/* NOLINTBEGIN(clang-analyzer-security*,clang-analyzer-unix.Vfork) */
	pid = vfork();
	if (pid < 0)
		return error_errno(err, "%s", tool->name);
	if (!pid)
		subprocess_run_child(start);
	/* NOLINTEND(clang-analyzer-security*,clang-analyzer-unix.Vfork) */
	tool->pid = pid;
	setpgid(tool->pid, tool->pid); /* whichever of us is first */
	return 0;
}

static int subprocess_watch(struct subprocess *tool, struct error *err)
{
	int rc = sd_event_add_child(tool->loop, &tool->child, tool->pid,
				    WEXITED, subprocess_child_ended, tool);

	for (size_t i = 0; i < PIPES && rc >= 0; i++) {
		struct pipe_end *end = &tool->pipes[i];

		rc = sd_event_add_io(tool->loop, &end->source, end->fd, EPOLLIN,
				     pipe_ready, tool);
	}
	/* Its output is read before its end is handled. */
	if (rc >= 0)
		rc = sd_event_source_set_priority(tool->child,
						  SD_EVENT_PRIORITY_NORMAL + 1);
	if (rc >= 0 && loop_timer(tool->loop, &tool->timer, tool->timeout_ms,
				  subprocess_late, tool, NULL) < 0)
		rc = -ENOMEM;
	if (rc >= 0)
		return 0;
	return error_set(err, -rc, "%s: cannot be watched: %s", tool->name,
			 strerror(-rc));
}

/* Its stdin. A pipe holds SUBPROCESS_INPUT_MAX bytes without a reader. */
static int open_input(const char *input, struct error *err)
{
	size_t size = input ? strlen(input) : 0;
	owned_fd int from = -1, to = -1;
	int ends[2];

	if (!input) {
		from = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return from < 0 ? error_errno(err, "/dev/null")
				: take_fd(&from);
	}
	if (size > SUBPROCESS_INPUT_MAX)
		return error_set(err, E2BIG,
				 "%zu bytes of input; expected at most %d",
				 size, SUBPROCESS_INPUT_MAX);
	if (pipe2(ends, O_CLOEXEC) < 0)
		return error_errno(err, "pipe");
	from = ends[0];
	to = ends[1];
	if (write(to, input, size) != (ssize_t)size)
		return error_errno(err, "pipe");
	return take_fd(&from);
}

static int subprocess_start(struct subprocess *tool,
			    const struct subprocess_command *command,
			    struct error *err)
{
	owned(strings_clear) struct strings all = { 0 };
	owned_free char *path = program_path(command);
	owned_free char **argv = path ? program_words(command, path) : NULL;
	owned_free char **envp = NULL;
	owned_fd int in = open_input(command->input, err);
	owned_fd int out = -1;
	owned_fd int complaint = -1;
	int ends[PIPES][2];

	if (in < 0)
		return error_prefix(err, "%s", tool->name);
	if (environment(command, &all, err) < 0)
		return -1;
	envp = vector(&all);
	if (!path || !argv || !envp)
		return error_nomem(err, tool->name);
	for (size_t i = 0; i < PIPES; i++) {
		if (pipe2(ends[i], O_CLOEXEC) < 0)
			return error_errno(err, "%s", tool->name);
		tool->pipes[i].fd = ends[i][0];
		*(i == OUT ? &out : &complaint) = ends[i][1];
		fcntl(ends[i][0], F_SETFL, O_NONBLOCK);
	}
	return subprocess_spawn(tool,
				&(struct launch){ .path = path,
						  .argv = argv,
						  .envp = envp,
						  .cpus = command->cpus,
						  .in = in,
						  .fds = { out, complaint },
						  .parent = getpid() },
				err);
}

struct subprocess *subprocess_run(sd_event *loop,
				  const struct subprocess_command *command,
				  subprocess_done_fn *done, void *arg,
				  struct error *err)
{
	owned(subprocess_free) struct subprocess *tool = NULL;

	if (!command->argv->count || !command->timeout_ms)
		return error_null(
			error_set(err, EINVAL,
				  "tool: no command or no time limit"));
	tool = calloc(1, sizeof(*tool));
	if (!tool || !(tool->name = strdup(command->argv->items[0])))
		return error_null(error_nomem(err, "tool"));
	tool->loop = sd_event_ref(loop);
	tool->done = done;
	tool->arg = arg;
	tool->heard = command->heard;
	tool->timeout_ms = command->timeout_ms;
	for (size_t i = 0; i < PIPES; i++)
		tool->pipes[i].fd = -1;
	buffer_init(&tool->pipes[OUT].text, command->output_max);
	buffer_init(&tool->pipes[COMPLAINT].text, SUBPROCESS_COMPLAINT_MAX);
	if (subprocess_start(tool, command, err) < 0)
		return NULL;
	if (subprocess_watch(tool, err) < 0) {
		subprocess_kill(tool);
		waitpid(tool->pid, NULL, 0);
		return NULL;
	}
	return take(tool);
}

void subprocess_cancel(struct subprocess *tool)
{
	if (!tool)
		return;
	subprocess_kill(tool);
	subprocess_abandon(tool);
}
