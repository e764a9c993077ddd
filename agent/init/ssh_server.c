/* ssh_server.c - runs the commands that other tasks of the job send here.
 */
#include "agent/init/ssh_server.h"
#include "agent/init/environment.h"
#include "agent/init/init.h"
#include "protocol/base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME_SIZE 64 /* "ssh-<N>-<ID>", and room for an ending */
#define HEAD_MAX 64  /* bytes before the output in an answer */

struct command {
	pid_t pid; /* 0: a free place */
	char name[NAME_SIZE];
	int output[2]; /* files of its standard output and error */
};

struct ssh_server {
	const struct start *start;
	char folder[PATH_MAX]; /* where commands arrive */
	int out;
	int64_t look_at;
	struct command commands[INIT_SSH_RUNNING_MAX];
	char request[INIT_SSH_REQUEST_MAX + 1];
	char answer[HEAD_MAX + 2 * INIT_SSH_OUTPUT_MAX];
};

struct ssh_server *ssh_server_new(const struct start *start, const char *in,
				  int out)
{
	struct ssh_server *server = calloc(1, sizeof(*server));
	char *slash;

	if (!server)
		return NULL;
	server->start = start;
	server->out = out;
	snprintf(server->folder, sizeof(server->folder), "%s", in);
	slash = strrchr(server->folder, '/');
	if (slash)
		*slash = 0;
	return server;
}

void ssh_server_free(struct ssh_server *server)
{
	free(server);
}

static int out_open(const struct ssh_server *server, const char *name,
		    const char *ending, int flags)
{
	char path[NAME_SIZE + 16];
	int fd;

	snprintf(path, sizeof(path), "%s.%s", name, ending);
	fd = openat(server->out, path,
		    flags | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_APPEND, 0644);
	if (fd >= 0)
		fchmod(fd, 0644);
	return fd;
}

static size_t ssh_server_read_file(int fd, char *bytes, size_t size)
{
	size_t have = 0;
	ssize_t got;

	while (have < size &&
	       (got = pread(fd, bytes + have, size - have, (off_t)have)) > 0)
		have += (size_t)got;
	return have;
}

/* Write the answer, and close the outputs. */
static void ssh_server_answer(struct ssh_server *server,
			      struct command *command, int code)
{
	char path[NAME_SIZE + 16], head[HEAD_MAX];
	char *begin, *text = server->answer + HEAD_MAX;
	size_t sizes[2], length;

	for (int i = 0; i < 2; i++) {
		sizes[i] = ssh_server_read_file(command->output[i], text,
						INIT_SSH_OUTPUT_MAX);
		text += sizes[i];
		close(command->output[i]);
	}
	length = 1 + (size_t)snprintf(head, sizeof(head), "exit=%d%cstdout=%zu",
				      code, 0, sizes[0]);
	begin = server->answer + HEAD_MAX - length;
	memcpy(begin, head, length);
	snprintf(path, sizeof(path), "%s.answer", command->name);
	file_write(server->out, path, begin, (size_t)(text - begin), 0644, 0,
		   NULL);
	command->pid = 0;
}

void ssh_server_reaped(struct ssh_server *server, pid_t pid, int status)
{
	for (size_t i = 0; i < INIT_SSH_RUNNING_MAX; i++)
		if (server->commands[i].pid == pid) {
			ssh_server_answer(server, &server->commands[i],
					  WIFSIGNALED(status)
						  ? 128 + WTERMSIG(status)
						  : WEXITSTATUS(status));
			return;
		}
}

void ssh_server_signal(struct ssh_server *server, int signal)
{
	for (size_t i = 0; i < INIT_SSH_RUNNING_MAX; i++)
		if (server->commands[i].pid)
			kill(-server->commands[i].pid, signal);
}

static _Noreturn void ssh_command_run(const struct command *command, int input,
				      char *text, char **env)
{
	char *args[] = { (char *)"sh", (char *)"-c", text, NULL };
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (dup2(input, 0) >= 0 && dup2(command->output[0], 1) >= 0 &&
	    dup2(command->output[1], 2) >= 0) {
		execve("/bin/sh", args, env);
		dprintf(2, "ssh: /bin/sh: %m\n");
	}
	_exit(127);
}

/* The text of the command. *input: where its input begins in the file. NULL:
 * not a valid request.
 */
static char *ssh_request_parse(char *bytes, size_t size, size_t *input)
{
	char *text = memchr(bytes, 0, size), *end;

	if (!text++ || strncmp(bytes, "host=", 5) != 0)
		return NULL;
	end = memchr(text, 0, (size_t)(bytes + size - text));
	if (!end || strncmp(text, "command=", 8) != 0)
		return NULL;
	*input = (size_t)(end + 1 - bytes);
	return text + 8;
}

static void ssh_command_start(struct ssh_server *server,
			      struct command *command, int fd)
{
	size_t size =
		ssh_server_read_file(fd, server->request, INIT_SSH_REQUEST_MAX);
	char *text, **env;
	size_t input = 0;
	pid_t pid = -1;

	server->request[size] = 0;
	text = ssh_request_parse(server->request, size, &input);
	env = text ? environment_new(environ, server->start,
				     (uint32_t)server->start->first_rank, 0)
		   : NULL;
	if (env && lseek(fd, (off_t)input, SEEK_SET) >= 0)
		pid = fork();
	if (pid == 0)
		ssh_command_run(command, fd, text, env);
	environment_free(env);
	if (pid > 0) {
		command->pid = pid;
		return;
	}
	dprintf(command->output[1], "ssh: the command cannot be started\n");
	ssh_server_answer(server, command, 255);
}

/* A command whose output file exists was started before. */
static void accept_file(struct ssh_server *server, struct command *command,
			int dir, const char *file)
{
	int fd;

	snprintf(command->name, sizeof(command->name), "%.*s",
		 (int)(strlen(file) - strlen(".run")), file);
	command->output[0] =
		out_open(server, command->name, "stdout", O_RDWR | O_EXCL);
	if (command->output[0] < 0)
		return;
	command->output[1] = out_open(server, command->name, "stderr", O_RDWR);
	fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && command->output[1] >= 0)
		ssh_command_start(server, command, fd);
	else
		ssh_server_answer(server, command, 255);
	if (fd >= 0)
		close(fd);
}

static struct command *free_place(struct ssh_server *server)
{
	for (size_t i = 0; i < INIT_SSH_RUNNING_MAX; i++)
		if (!server->commands[i].pid)
			return &server->commands[i];
	return NULL;
}

int64_t ssh_server_look(struct ssh_server *server, int64_t now_ms)
{
	struct command *place = free_place(server);
	struct dirent *entry;
	DIR *dir;

	if (now_ms < server->look_at)
		return server->look_at;
	server->look_at = now_ms + INIT_LOOK_MS;
	dir = place ? opendir(server->folder) : NULL;
	while (dir && place && (entry = readdir(dir))) {
		size_t length = strlen(entry->d_name);

		if (length < NAME_SIZE && !strncmp(entry->d_name, "ssh-", 4) &&
		    length > 8 && !strcmp(entry->d_name + length - 4, ".run")) {
			accept_file(server, place, dirfd(dir), entry->d_name);
			place = free_place(server);
		}
	}
	if (dir)
		closedir(dir);
	return server->look_at;
}
