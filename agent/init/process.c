/* process.c - starts one process of the command and remembers how it ended. */
#include "agent/init/process.h"
#include "agent/init/environment.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* What a child sends through the pipe when exec fails. */
struct exec_error {
	int code;    /* errno */
	bool exists; /* the file exists nevertheless */
};

/* execve() one file; returns only on failure. ENOENT of an existing file means
 * that its interpreter or loader is missing.
 */
static void exec_file(const char *file, char **args, char **env,
		      struct exec_error *error)
{
	execve(file, args, env);
	if (errno == EACCES || error->code != EACCES)
		error->code = errno;
	if (errno == ENOENT && !faccessat(AT_FDCWD, file, F_OK, 0))
		error->exists = true;
}

/* Errors after which the search continues, as in execvp(3). EACCES is
 * remembered.
 */
static bool search_goes_on(int code)
{
	return code == ENOENT || code == ENOTDIR || code == EACCES ||
	       code == ENAMETOOLONG || code == ESTALE || code == ENODEV;
}

static void exec_search(char **args, char **env, struct exec_error *error)
{
	const char *path = environment_get(env, "PATH");
	char file[PATH_MAX];

	if (strchr(args[0], '/')) {
		exec_file(args[0], args, env, error);
		return;
	}
	path = path ? path : DEFAULT_PATH;
	for (;;) {
		int length = (int)strcspn(path, ":");
		int used = snprintf(file, sizeof(file), "%.*s%s%s", length,
				    path, length ? "/" : "./", args[0]);

		if (used > 0 && (size_t)used < sizeof(file)) {
			exec_file(file, args, env, error);
			if (!search_goes_on(errno))
				return;
		}
		if (!path[length])
			return;
		path += length + 1;
	}
}

static int exec_exit_code(const struct exec_error *error)
{
	return error->code == ENOENT && !error->exists ? 127 : 126;
}

static void exec_error_explain(const struct exec_error *error,
			       const char *program, struct error *why)
{
	const char *text = strerror(error->code);

	if (error->code == ENOENT && error->exists)
		text = "its interpreter or loader is missing";
	else if (error->code == ENOENT)
		text = "no such program";
	else if (error->code == EACCES)
		text = "not executable (permission denied)";
	else if (error->code == ENOEXEC)
		text = "not executable on this machine (wrong format)";
	else if (error->code == E2BIG)
		text = "arguments and environment are too long";
	error_set(why, error->code, "%.120s: %s", program, text);
}

static _Noreturn void process_run_child(const struct process *process,
					int report, char **args, char **env)
{
	struct exec_error error = { .code = ENOENT };
	sigset_t none;
	int null;

	setsid();
	null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (null < 0 || dup2(null, 0) < 0 || dup2(process->log, 1) < 0 ||
	    dup2(process->log, 2) < 0) {
		error.code = errno;
	} else {
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		exec_search(args, env, &error);
	}
	/* If the pipe fails, the exit code has to do. */
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(exec_exit_code(&error));
}

/* Wait until exec has closed the pipe, or the child says why it could not. */
static void child_hear(int report, const char *program, struct error *why)
{
	struct exec_error error;
	ssize_t got;

	do {
		got = read(report, &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	if (got == (ssize_t)sizeof(error))
		exec_error_explain(&error, program, why);
}

/* The mode is set apart from the image's umask: the agent may be another user.
 */
static int log_open(int out, uint32_t rank, struct error *why)
{
	char name[32];
	int fd;

	snprintf(name, sizeof(name), "rank-%u.log", rank);
	fd = openat(out, name,
		    O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
		    0644);
	if (fd < 0)
		return error_errno(why, "%s", name);
	fchmod(fd, 0644);
	return fd;
}

int process_start(struct process *process, const struct start *start,
		  char **args, uint32_t index, int out, char **environment,
		  struct error *why)
{
	int report[2] = { -1, -1 };
	char **env = NULL;

	memset(process, 0, sizeof(*process));
	why->code = 0;
	process->rank = (uint32_t)start->first_rank + index;
	process->log = log_open(out, process->rank, why);
	if (process->log < 0)
		return -1;
	env = environment_new(environment, start, process->rank, index);
	if (!env)
		error_nomem(why, "environment");
	else if (pipe2(report, O_CLOEXEC) < 0)
		error_errno(why, "pipe");
	else if ((process->pid = fork()) < 0)
		error_errno(why, "cannot start process %u", index);
	else if (!process->pid)
		process_run_child(process, report[1], args, env);
	environment_free(env);
	if (report[1] >= 0)
		close(report[1]);
	if (!why->code)
		child_hear(report[0], args[0], why);
	if (report[0] >= 0)
		close(report[0]);
	if (process->pid > 0)
		return 0;
	close(process->log);
	return -1;
}

static int64_t process_convert_time(const struct timeval *time)
{
	return (int64_t)time->tv_sec * 1000 + time->tv_usec / 1000;
}

void process_end(struct process *process, int status,
		 const struct rusage *usage, int64_t now_ms)
{
	process->ended = true;
	process->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	process->exit_code =
		process->signal ? 128 + process->signal : WEXITSTATUS(status);
	process->ended_ms = now_ms;
	process->max_rss_kib = usage->ru_maxrss;
	process->user_ms = process_convert_time(&usage->ru_utime);
	process->system_ms = process_convert_time(&usage->ru_stime);
}

int64_t process_log_bytes(const struct process *process)
{
	struct stat stat;

	return fstat(process->log, &stat) < 0 ? 0 : (int64_t)stat.st_size;
}
