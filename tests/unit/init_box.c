/* init_box.c - regatta-init as a process over a folder that stands for
 * /regatta.
 */
#include "tests/unit/init_box.h"

#include "protocol/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

const char *box_path(struct box *box, const char *name)
{
	snprintf(box->path, sizeof(box->path), "%s/%s", box->root, name);
	return box->path;
}

const char *box_program(void)
{
	const char *path = getenv("REGATTA_INIT");

	return path ? path : "build/regatta-init";
}

bool box_ready_to_go(void)
{
	if (access(box_program(), X_OK) == 0)
		return true;
	printf("Bail out! %s: %s\n", box_program(), strerror(errno));
	return false;
}

void box_init(struct box *box)
{
	memset(box, 0, sizeof(*box));
	box->program = box_program();
	box->ready = -1;
	snprintf(box->root, sizeof(box->root), "/tmp/init_test.XXXXXX");
	if (!mkdtemp(box->root) || chmod(box->root, 0755) < 0 ||
	    mkdir(box_path(box, "in"), 0755) < 0 ||
	    mkdir(box_path(box, "out"), 0755) < 0 ||
	    chmod(box_path(box, "out"), 0777) < 0) {
		perror("init_test: cannot make a folder");
		exit(1);
	}
}

void box_clear(struct box *box)
{
	cJSON_Delete(box->record);
	if (box->ready >= 0)
		close(box->ready);
	file_remove_tree(AT_FDCWD, box->root, NULL);
}

void box_start_bytes(struct box *box, const void *bytes, size_t size)
{
	FILE *file = fopen(box_path(box, "in/start"), "we");

	if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) {
		perror("init_test: cannot write the start file");
		exit(1);
	}
}

void box_script(struct box *box, const char *head, const char *script)
{
	char text[4096];
	int size = snprintf(text, sizeof(text),
			    "version=1\n%sarg=/bin/sh%carg=-c%carg=%s", head, 0,
			    0, script);

	for (int i = 0; i < 10 + (int)strlen(head); i++) {
		if (text[i] == '\n')
			text[i] = 0;
	}
	box_start_bytes(box, text, (size_t)size + 1);
}

static _Noreturn void box_exec(struct box *box, int ready)
{
	char *argv[] = { (char *)"regatta-init", box->root, NULL };
	int err =
		open(box_path(box, "err"), O_WRONLY | O_CREAT | O_APPEND, 0666);
	/* As who we are now: another user may not reach the build folder. */
	int file = open(box->program, O_RDONLY | O_CLOEXEC);

	/* Out of the way of descriptor 9. */
	file = fcntl(file, F_DUPFD_CLOEXEC, 10);
	dup2(err, 2);
	dup2(ready, 9);
	if (ready != 9)
		close(ready);
	if (err != 2 && err != 9)
		close(err);
	if (box->nobody && (setgid(65534) < 0 || setuid(65534) < 0))
		_exit(99);
	fexecve(file, argv, environ);
	_exit(98);
}

/* fork(), or as the first process of a PID namespace. -1: not allowed. */
static pid_t box_fork(const struct box *box)
{
	long pid;

	if (!box->pid1)
		return fork();
	pid = syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL,
		      NULL);
	if (pid < 0)
		pid = syscall(SYS_clone, CLONE_NEWUSER | CLONE_NEWPID | SIGCHLD,
			      NULL, NULL, NULL, NULL);
	return (pid_t)pid;
}

bool box_begin(struct box *box)
{
	int ready[2];

	if (pipe2(ready, O_CLOEXEC) < 0)
		return false;
	if (box->ready >= 0)
		close(box->ready);
	box->ready = ready[0];
	box->pid = box_fork(box);
	if (box->pid == 0)
		box_exec(box, ready[1]);
	close(ready[1]);
	return box->pid > 0;
}

bool box_ready(struct box *box, int times)
{
	char byte;

	while (times > 0 && read(box->ready, &byte, 1) == 1)
		times -= byte == '\n';
	return times == 0;
}

int box_end(struct box *box)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 20);
	int status = 0;

	if (waitpid(box->pid, &status, 0) < 0)
		return -1;
	cJSON_Delete(box->record);
	box->record = NULL;
	if (file_read_any(box_path(box, "out/exit.json"), &text, NULL) == 0)
		box->record = cJSON_Parse(text.data);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int box_run(struct box *box)
{
	return box_begin(box) ? box_end(box) : -1;
}

bool box_silent(struct box *box)
{
	char byte[256];
	ssize_t got;

	fcntl(box->ready, F_SETFL, O_NONBLOCK);
	while ((got = read(box->ready, byte, sizeof(byte))) > 0)
		;
	return got == 0;
}

long long box_number(const struct box *box, const char *name)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(box->record, name);

	return cJSON_IsNumber(item) ? (long long)item->valuedouble : -1;
}

long long box_number_of(const struct box *box, int process, const char *name)
{
	cJSON *list =
		cJSON_GetObjectItemCaseSensitive(box->record, "processes");
	cJSON *item =
		cJSON_GetObjectItemCaseSensitive(cJSON_GetArrayItem(list,
								    process),
						 name);

	return cJSON_IsNumber(item) ? (long long)item->valuedouble : -1;
}

int box_process_count(const struct box *box)
{
	return cJSON_GetArraySize(
		cJSON_GetObjectItemCaseSensitive(box->record, "processes"));
}

const char *box_error(const struct box *box)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(box->record, "error"));
}

const char *box_note(const struct box *box)
{
	return cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(box->record, "note"));
}

bool box_pid1_allowed(void)
{
	pid_t pid = box_fork(&(struct box){ .pid1 = true });

	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}
