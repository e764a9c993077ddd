/* foreign_processes.c - detects others that use the devices of a task.
 */
#include "agent/metrics/foreign_processes.h"

#include "agent/images/install.h"
#include "agent/devices/sysfs.h"
#include "agent/evidence/process_state.h"
#include "protocol/base/clock.h"
#include "protocol/base/list.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/base/subprocess.h"
#include "agent/docker/create_body.h"
#include "protocol/hardware/processes.h"
#include "protocol/message/json_get.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CALL_MS 10000
#define TOOL_MS 10000
#define LOOKS_MAX 3
#define CONTAINERS_MAX 1024
#define FILES_MAX 4096 /* of one process */
#define TURN_MS 20     /* of one look at processes, before the loop runs */
/* Bytes that the kernel keeps of a program's name. */
#define NAME_BYTES (sizeof(((struct process_state *)0)->name) - 1)
#define WORDS_MAX 200

/* A node of a device of the task. */
struct node_file {
	char *path; /* on the host */
	uint32_t device;
	dev_t number; /* 0: unknown, so only the path is compared */
};

struct foreign_processes {
	struct foreign_processes_source source;
	uint64_t wanted;
	foreign_processes_fn *done;
	void *arg;
	struct node_file *files;
	size_t files_count;
	struct strings ours;   /* ids of our own containers */
	struct strings others; /* of those that are looked into */
	size_t next;           /* of the others */
	struct engine_call *call;
	struct subprocess *tool;
	DIR *processes;
	sd_event_source *timer;
	unsigned int looks;
	char found[WORDS_MAX], found_before[WORDS_MAX];
};

/* One look ended. */

static int foreign_look_again(sd_event_source *source, uint64_t usec,
			      void *arg);

static void end_look(struct foreign_processes *foreign)
{
	uint32_t pause_ms = foreign->source.pause_ms
				    ? foreign->source.pause_ms
				    : FOREIGN_PROCESSES_PAUSE_MS;
	bool stays = *foreign->found &&
		     !strcmp(foreign->found, foreign->found_before);

	if (*foreign->found && !stays && ++foreign->looks < LOOKS_MAX) {
		loop_source_free(&foreign->timer);
		loop_timer(foreign->source.loop, &foreign->timer, pause_ms,
			   foreign_look_again, foreign, NULL);
		return;
	}
	foreign->done(foreign->arg, stays ? foreign->found : NULL);
	foreign_processes_cancel(foreign);
}

__attribute__((format(printf, 2, 3))) static void
set_found(struct foreign_processes *foreign, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(foreign->found, sizeof(foreign->found), fmt, args);
	va_end(args);
	printable(foreign->found, strlen(foreign->found));
}

/* Processes. */

/* The process is this agent, a tool that it runs, or in one of its containers.
 */
static bool foreign_process_is_ours(const struct foreign_processes *foreign,
				    const struct process_state *process)
{
	owned(buffer_clear) struct buffer cgroup = BUFFER_INIT(65536);
	struct process_state leader;
	pid_t self = getpid();

	if (process->pid == self || process->parent == self ||
	    (process_state_read(process->group, &leader) &&
	     leader.parent == self))
		return true;
	if (!sysfs_text(&cgroup, "/proc", "%d/cgroup", (int)process->pid))
		return false;
	for (size_t i = 0; i < foreign->ours.count; i++)
		if (strstr(cgroup.data, foreign->ours.items[i]))
			return true;
	return false;
}

static bool is_watcher(const struct foreign_processes *foreign,
		       const char *name)
{
	const struct strings *names =
		&foreign->source.profile->processes.ignore;
	const char *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	for (size_t i = 0; *name && i < names->count; i++)
		if (!strncmp(names->items[i], name, NAME_BYTES))
			return true;
	return false;
}

static void check_process(struct foreign_processes *foreign, pid_t pid,
			  const char *name, uint32_t device)
{
	const struct device_info *info = &foreign->source.devices->list[device];
	struct process_state process;
	bool known = process_state_read(pid, &process);

	if ((known && (foreign_process_is_ours(foreign, &process) ||
		       is_watcher(foreign, process.name))) ||
	    is_watcher(foreign, name))
		return;
	set_found(foreign, "%.60s (pid %d) uses device %u%s%s",
		  *name   ? name
		  : known ? process.name
			  : "a process",
		  (int)pid, device, info->bus_id ? " at " : "",
		  info->bus_id ? info->bus_id : "");
}

static const struct node_file *file_of(const struct foreign_processes *foreign,
				       int folder, const char *name)
{
	char path[PATH_MAX];
	ssize_t n = readlinkat(folder, name, path, sizeof(path) - 1);
	struct stat st = { 0 };

	if (n <= 0)
		return NULL;
	path[n] = 0;
	for (size_t i = 0; i < foreign->files_count; i++)
		if (!strcmp(foreign->files[i].path, path))
			return &foreign->files[i];
	/* In another mount namespace the path may differ. */
	if (!path_within(path, "/dev") || fstatat(folder, name, &st, 0) < 0 ||
	    !S_ISCHR(st.st_mode))
		return NULL;
	for (size_t i = 0; i < foreign->files_count; i++)
		if (foreign->files[i].number &&
		    foreign->files[i].number == st.st_rdev)
			return &foreign->files[i];
	return NULL;
}

static void look_into(struct foreign_processes *foreign, pid_t pid)
{
	char path[64];
	const struct dirent *entry;
	int files = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	while (folder && !*foreign->found && files++ < FILES_MAX &&
	       (entry = readdir(folder))) {
		const struct node_file *file =
			entry->d_name[0] == '.'
				? NULL
				: file_of(foreign, dirfd(folder),
					  entry->d_name);

		if (file)
			check_process(foreign, pid, "", file->device);
	}
	if (folder)
		closedir(folder);
}

/* Look at some of the processes, then let the loop run. */
static int processes_turn(sd_event_source *source, uint64_t usec, void *arg)
{
	struct foreign_processes *foreign = arg;
	int64_t end_ms = clock_mono_ms() + TURN_MS;
	const struct dirent *entry = NULL;

	while (!*foreign->found && clock_mono_ms() < end_ms &&
	       (entry = readdir(foreign->processes)))
		if (isdigit((unsigned char)entry->d_name[0]))
			look_into(foreign,
				  (pid_t)strtol(entry->d_name, NULL, 10));
	if (!*foreign->found && entry) {
		loop_timer(foreign->source.loop, &foreign->timer, 1,
			   processes_turn, foreign, NULL);
		return 0;
	}
	closedir(take(foreign->processes));
	end_look(foreign);
	return 0;
}

static void foreign_tool_done(void *arg, const struct error *err,
			      const struct subprocess_output *output)
{
	struct foreign_processes *foreign = arg;
	const struct foreign_processes_source *source = &foreign->source;
	const struct sampler *sampler = source->profile->monitor.sampler;
	const struct device_sample *samples[DEVICES_MAX] = { NULL };
	owned(process_rows_clear) struct process_rows rows = { 0 };
	owned(samples_clear) struct samples all = { 0 };

	foreign->tool = NULL;
	if (err || output->exit_code) {
		log_debug("processes: %s", err ? err->text : output->complaint);
		end_look(foreign);
		return;
	}
	process_rows_read(&source->profile->processes, output->text,
			  output->size, &rows, NULL);
	/* Many tools print both tables, with the same device numbers. */
	if (rows.count && sampler &&
	    sampler_read(sampler, output->text, output->size, &all, NULL) == 0)
		devices_rows(source->devices, &all, samples);
	for (size_t r = 0; r < rows.count; r++)
		for (uint32_t i = 0; i < source->devices->count; i++)
			if (!*foreign->found && foreign->wanted >> i & 1 &&
			    process_uses(&rows.list[r],
					 &source->devices->list[i], samples[i]))
				check_process(foreign, (pid_t)rows.list[r].pid,
					      rows.list[r].name, i);
	end_look(foreign);
}

static void look_at_processes(struct foreign_processes *foreign)
{
	const struct foreign_processes_source *source = &foreign->source;
	const struct process_rules *rules = &source->profile->processes;
	struct error err;

	if (rules->command.count) {
		const struct subprocess_command command = {
			.argv = &rules->command,
			.env = &source->profile->monitor.env,
			.bin = source->roots->bin,
			.timeout_ms = TOOL_MS,
			.output_max = SAMPLE_TEXT_MAX,
			.cpus = source->cpus,
		};

		foreign->tool =
			subprocess_run(source->loop, &command,
				       foreign_tool_done, foreign, &err);
	} else {
		foreign->processes = opendir("/proc");
	}
	loop_source_free(&foreign->timer);
	if (foreign->processes)
		loop_timer(source->loop, &foreign->timer, 0, processes_turn,
			   foreign, NULL);
	else if (!foreign->tool)
		end_look(foreign);
}

/* Containers. */

static void look_into_next(struct foreign_processes *foreign);

static void foreign_inspected(void *arg, const struct error *err, cJSON *answer)
{
	struct foreign_processes *foreign = arg;
	const cJSON *config = json_get(answer, "HostConfig");
	const char *name = json_get_text_or_empty(answer, "Name");
	const cJSON *given;

	foreign->call = NULL;
	if (err)
		log_debug("foreign: %s", err->text);
	cJSON_ArrayForEach(given, json_get(config, "Devices")) {
		const char *path = json_get_text_or_empty(given, "PathOnHost");

		for (size_t i = 0; i < foreign->files_count; i++)
			if (!*foreign->found && *path == '/' &&
			    path_within(foreign->files[i].path, path))
				set_found(foreign,
					  "container %.60s holds %.100s",
					  name + (*name == '/'),
					  foreign->files[i].path);
	}
	if (*foreign->found)
		end_look(foreign);
	else
		look_into_next(foreign);
}

static void look_into_next(struct foreign_processes *foreign)
{
	while (foreign->next < foreign->others.count) {
		foreign->call =
			engine_container_inspect(foreign->source.engine,
						 foreign->others.items
							 [foreign->next++],
						 CALL_MS, foreign_inspected,
						 foreign, NULL);
		if (foreign->call)
			return;
	}
	look_at_processes(foreign);
}

static void foreign_listed(void *arg, const struct error *err, cJSON *answer)
{
	struct foreign_processes *foreign = arg;
	const struct foreign_processes_source *source = &foreign->source;
	const cJSON *container;

	foreign->call = NULL;
	/* Who is ours is not known, so nobody can be told to be a stranger. */
	if (err) {
		log_warning("the devices are not checked for other users: %s",
			    err->text);
		end_look(foreign);
		return;
	}
	strings_clear(&foreign->ours);
	strings_clear(&foreign->others);
	foreign->next = 0;
	cJSON_ArrayForEach(container, answer) {
		const cJSON *labels = json_get(container, "Labels");
		bool ours =
			(container_is_named(container, CONTAINER_NAMES, "") &&
			 !strcmp(json_get_text_or_empty(labels, LABEL_CLUSTER),
				 source->cluster) &&
			 !strcmp(json_get_text_or_empty(labels, LABEL_NODE),
				 source->node)) ||
			install_is_of(container, source->cluster, source->node);
		struct strings *to = ours ? &foreign->ours : &foreign->others;

		if (*json_get_text_or_empty(container, "Id") &&
		    to->count < CONTAINERS_MAX)
			strings_add(to, json_get_text_or_empty(container, "Id"),
				    NULL);
	}
	look_into_next(foreign);
}

static int foreign_look_again(sd_event_source *source, uint64_t usec, void *arg)
{
	struct foreign_processes *foreign = arg;

	snprintf(foreign->found_before, sizeof(foreign->found_before), "%s",
		 foreign->found);
	foreign->found[0] = 0;
	if (foreign->source.engine)
		foreign->call =
			engine_container_list(foreign->source.engine, false,
					      NULL, CALL_MS, foreign_listed,
					      foreign, NULL);
	if (!foreign->source.engine)
		look_at_processes(foreign);
	else if (!foreign->call)
		end_look(foreign);
	return 0;
}

/* Beginning and ending. */

static int add_files(struct foreign_processes *foreign, uint32_t device,
		     struct error *err)
{
	const struct foreign_processes_source *source = &foreign->source;
	owned(strings_clear) struct strings nodes = { 0 };
	struct node_file *files;
	struct stat st;

	/* The inventory reports a device that lacks a node. */
	if (device_nodes(source->profile, source->roots,
			 &source->devices->list[device], &nodes, NULL) < 0)
		return 0;
	for (size_t i = 0; i < nodes.count; i++) {
		char *path = nodes.items[i];

		path[strcspn(path, ":")] = 0;
		files = LIST_ADD(foreign->files, foreign->files_count, err);
		if (!files)
			return -1;
		files->device = device;
		/* All nodes of a simulated machine have one number. */
		if (!sysroot_simulated(source->roots) && stat(path, &st) == 0)
			files->number = st.st_rdev;
		files->path = strdup(path);
		if (!files->path)
			return error_nomem(err, "foreign");
	}
	return 0;
}

struct foreign_processes *
foreign_processes_look(const struct foreign_processes_source *source,
		       uint64_t wanted, foreign_processes_fn *done, void *arg,
		       struct error *err)
{
	owned(foreign_processes_cancel) struct foreign_processes *foreign =
		calloc(1, sizeof(*foreign));

	if (!foreign)
		return error_null(error_nomem(err, "foreign"));
	foreign->source = *source;
	foreign->wanted = wanted;
	foreign->done = done;
	foreign->arg = arg;
	for (uint32_t i = 0; i < source->devices->count; i++)
		if (wanted >> i & 1 && add_files(foreign, i, err) < 0)
			return NULL;
	if (loop_timer(source->loop, &foreign->timer, 0, foreign_look_again,
		       foreign, err) < 0)
		return NULL;
	return take(foreign);
}

void foreign_processes_cancel(struct foreign_processes *foreign)
{
	if (!foreign)
		return;
	if (foreign->call)
		engine_call_cancel(foreign->call);
	subprocess_cancel(foreign->tool);
	if (foreign->processes)
		closedir(foreign->processes);
	loop_source_free(&foreign->timer);
	for (size_t i = 0; i < foreign->files_count; i++)
		free(foreign->files[i].path);
	free(foreign->files);
	strings_clear(&foreign->ours);
	strings_clear(&foreign->others);
	free(foreign);
}
