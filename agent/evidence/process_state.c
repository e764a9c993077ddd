/* process_state.c - reads what a process does from /proc.
 */
#include "agent/evidence/process_state.h"
#include "agent/devices/sysfs.h"
#include "protocol/base/printable.h"

#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROC "/proc"
#define ENVIRON_MAX (1 << 20)
#define PROCESSES_MAX 65536 /* of the node */

/* Launchers' names of a global rank: torchrun and regatta-init, Open MPI,
 * MPICH, Slurm, Paddle, MindSpore.
 */
static const char *const rank_names[] = { "RANK",
					  "OMPI_COMM_WORLD_RANK",
					  "PMI_RANK",
					  "SLURM_PROCID",
					  "PADDLE_TRAINER_ID",
					  "RANK_ID",
					  NULL };

bool process_state_read(pid_t pid, struct process_state *state)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	struct process_state read = { .pid = pid };
	unsigned long long user, system, began;
	const char *open, *close;
	long threads;

	if (!sysfs_text(&text, PROC, "%d/stat", (int)pid))
		return false;
	/* The name stands in parentheses, and may hold any byte. */
	open = strchr(text.data, '(');
	close = strrchr(text.data, ')');
	if (!open || !close || close < open ||
	    sscanf(close + 1,
		   " %c %d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %*d "
		   "%*d %*d %*d %ld %*d %llu",
		   &read.state, &read.parent, &read.group, &user, &system,
		   &threads, &began) != 7)
		return false;
	snprintf(read.name, sizeof(read.name), "%.*s", (int)(close - open - 1),
		 open + 1);
	read.threads = (uint32_t)threads;
	read.cpu_ms = (user + system) * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
	read.began = began;
	*state = read;
	return true;
}

bool process_state_again(const struct process_state *seen,
			 struct process_state *now)
{
	return process_state_read(seen->pid, now) && now->began == seen->began;
}

bool process_state_signal(const struct process_state *seen, int number)
{
	/* While it is open the number may become another's; it does not. */
	owned_fd int process = (int)syscall(SYS_pidfd_open, seen->pid, 0);
	struct process_state now;

	return process >= 0 && process_state_again(seen, &now) &&
	       syscall(SYS_pidfd_send_signal, process, number, NULL, 0) == 0;
}

struct states {
	struct process_state *list; /* PROCESSES_MAX */
	size_t count;
};

/* sysfs_fn */
static bool add_state(void *arg, const char *name)
{
	struct states *states = arg;

	if (isdigit((unsigned char)*name) &&
	    process_state_read((pid_t)strtol(name, NULL, 10),
			       &states->list[states->count]))
		states->count++;
	return states->count < PROCESSES_MAX;
}

static int64_t rank_in(const char *name, const struct buffer *environ)
{
	size_t length = strlen(name);

	for (size_t at = 0; at < environ->size;) {
		const char *item = environ->data + at;
		char *end;
		long rank;

		at += strlen(item) + 1;
		if (strncmp(item, name, length) != 0 || item[length] != '=')
			continue;
		rank = strtol(item + length + 1, &end, 10);
		if (!*end && end > item + length + 1 && rank >= 0)
			return rank;
	}
	return -1;
}

static int64_t process_find_rank(pid_t pid)
{
	owned(buffer_clear) struct buffer environ = BUFFER_INIT(ENVIRON_MAX);
	int64_t rank = -1;

	if (sysfs_text(&environ, PROC, "%d/environ", (int)pid))
		for (const char *const *name = rank_names; *name && rank < 0;
		     name++)
			rank = rank_in(*name, &environ);
	return rank;
}

static size_t descendants(pid_t root, struct ranked_process *list, size_t max,
			  size_t *left_out)
{
	owned_free struct process_state *states =
		calloc(PROCESSES_MAX, sizeof(*states));
	struct states all = { .list = states };
	size_t count = 0, next = 0;
	pid_t parent = root;

	*left_out = 0;
	if (states)
		sysfs_each(PROC, ".", PROCESSES_MAX, add_state, &all);
	while (parent) {
		for (size_t i = 0; i < all.count; i++) {
			if (all.list[i].parent != parent)
				continue;
			if (count < max)
				list[count++].state = all.list[i];
			else
				(*left_out)++;
		}
		parent = next < count ? list[next++].state.pid : 0;
	}
	return count;
}

/* A process leads its rank if its parent is of another rank. */
static bool leads(const struct ranked_process *list, size_t count,
		  const struct ranked_process *process)
{
	if (process->rank < 0)
		return false;
	for (size_t i = 0; i < count; i++)
		if (list[i].state.pid == process->state.parent)
			return list[i].rank != process->rank;
	return true;
}

size_t process_ranks(pid_t root, int64_t first_rank,
		     struct ranked_process *list, size_t max, size_t *left_out)
{
	size_t count = descendants(root, list, max, left_out);
	bool ranked = false;

	for (size_t i = 0; i < count; i++) {
		list[i].rank = process_find_rank(list[i].state.pid);
		ranked |= list[i].rank >= 0;
	}
	for (size_t i = 0; i < count; i++) {
		if (!ranked)
			list[i].rank = first_rank;
		list[i].leads = leads(list, i, &list[i]);
	}
	return count;
}

/* The arguments with blanks between them, or the kernel's name of the program.
 */
static char *command_of(pid_t pid)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(ENVIRON_MAX);
	char *command;

	if (!sysfs_text(&text, PROC, "%d/cmdline", (int)pid) || !text.size) {
		buffer_clear(&text);
		if (!sysfs_text(&text, PROC, "%d/comm", (int)pid))
			return NULL;
	}
	for (size_t i = 0; i + 1 < text.size; i++)
		if (!text.data[i])
			text.data[i] = ' ';
	if (asprintf(&command, "%.*s", EVIDENCE_COMMAND_MAX, text.data) < 0)
		return NULL;
	printable(command, strlen(command));
	return command;
}

static char *wait_of(pid_t pid)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(256);

	if (!sysfs_text(&text, PROC, "%d/wchan", (int)pid) || !text.size ||
	    !strcmp(text.data, "0"))
		return NULL;
	printable(text.data, text.size);
	return strdup(text.data);
}

/* "[<0>] hrtimer_nanosleep+0x74/0xf0" is hrtimer_nanosleep. */
static int process_add_frames(pid_t pid, struct strings *stack,
			      struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(65536);
	char *line, *rest;

	if (!sysfs_text(&text, PROC, "%d/stack", (int)pid))
		return 0;
	for (line = strtok_r(text.data, "\n", &rest);
	     line && stack->count < EVIDENCE_FRAMES_MAX;
	     line = strtok_r(NULL, "\n", &rest)) {
		char *name = strstr(line, "] ");

		name = name ? name + 2 : line;
		name[strcspn(name, "+")] = 0;
		if (strings_add(stack, name, err) < 0)
			return -1;
	}
	return 0;
}

static uint64_t written_by(pid_t pid)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(4096);
	owned_free char *bytes = NULL;

	if (sysfs_text(&text, PROC, "%d/io", (int)pid))
		bytes = sysfs_line(text.data, "write_bytes", ':');
	return bytes ? strtoull(bytes, NULL, 10) : 0;
}

int process_observe(pid_t pid, struct evidence *evidence, struct error *err)
{
	evidence->waits = wait_of(pid);
	if (process_add_frames(pid, &evidence->stack, err) < 0)
		return -1;
	evidence->written_bytes = written_by(pid);
	evidence->command = command_of(pid);
	return 0;
}

bool process_catches_abort(pid_t pid)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(16384);
	owned_free char *caught = NULL;

	if (sysfs_text(&text, PROC, "%d/status", (int)pid))
		caught = sysfs_line(text.data, "SigCgt", ':');
	return caught && (strtoull(caught, NULL, 16) & (1ULL << (SIGABRT - 1)));
}
