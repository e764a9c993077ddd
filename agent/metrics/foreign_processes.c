/* foreign_processes.c - tells whether somebody else uses the devices of a
 * task.
 */
#include "agent/metrics/foreign_processes.h"

#include "agent/images/install.h"
#include "agent/devices/sysfs.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/base/subprocess.h"
#include "protocol/hardware/container.h"
#include "protocol/hardware/device_rows.h"
#include "protocol/hardware/processes.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CALL_MS 10000
#define TOOL_MS 10000
#define LOOKS_MAX 3
#define CONTAINERS_MAX 1024
#define FILES_MAX 4096 /* of one process */
#define TURN_MS 20     /* of looking through processes, then others' turn */
#define COMM_MAX 15    /* bytes that the kernel keeps of a program's name */
#define WORDS_MAX 200

/* A node of a device that is wanted. */
struct node_file {
	char *path; /* on the host */
	uint32_t device;
	dev_t number; /* 0: only the path tells */
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
	char seen[WORDS_MAX], before[WORDS_MAX];
};

/* One look ended. */

static int look_again(sd_event_source *source, uint64_t usec, void *arg);

static void end_look(struct foreign_processes *strangers)
{
	uint32_t pause_ms = strangers->source.pause_ms
				    ? strangers->source.pause_ms
				    : FOREIGN_PROCESSES_PAUSE_MS;
	bool stays =
		*strangers->seen && !strcmp(strangers->seen, strangers->before);

	if (*strangers->seen && !stays && ++strangers->looks < LOOKS_MAX) {
		loop_source_free(&strangers->timer);
		loop_timer(strangers->source.loop, &strangers->timer, pause_ms,
			   look_again, strangers, NULL);
		return;
	}
	strangers->done(strangers->arg, stays ? strangers->seen : NULL);
	foreign_processes_cancel(strangers);
}

__attribute__((format(printf, 2, 3))) static void
saw(struct foreign_processes *strangers, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(strangers->seen, sizeof(strangers->seen), fmt, args);
	va_end(args);
	printable(strangers->seen, strlen(strangers->seen));
}

/* Processes. */

/* The kernel's words on a process; false: it is gone. */
struct process {
	int64_t pid, parent, group;
	char name[COMM_MAX + 1];
};

static bool process_read(int64_t pid, struct process *process)
{
	owned(buffer_clear) struct buffer text;
	const char *open, *close;
	long long parent, group;

	buffer_init(&text, 4096);
	if (!sysfs_text(&text, "/proc", "%lld/stat", (long long)pid))
		return false;
	/* The name stands in parentheses, and may hold any byte. */
	open = strchr(text.data, '(');
	close = strrchr(text.data, ')');
	if (!open || !close || close < open ||
	    sscanf(close + 1, " %*c %lld %lld", &parent, &group) != 2)
		return false;
	*process = (struct process){ pid, parent, group, "" };
	snprintf(process->name, sizeof(process->name), "%.*s",
		 (int)(close - open - 1), open + 1);
	return true;
}

/* Of this agent, of a tool that it runs, or in one of its containers. */
static bool is_ours(const struct foreign_processes *strangers,
		    const struct process *process)
{
	owned(buffer_clear) struct buffer cgroup;
	struct process leader;
	int64_t self = getpid();

	buffer_init(&cgroup, 65536);
	if (process->pid == self || process->parent == self ||
	    (process_read(process->group, &leader) && leader.parent == self))
		return true;
	if (!sysfs_text(&cgroup, "/proc", "%lld/cgroup",
			(long long)process->pid))
		return false;
	for (size_t i = 0; i < strangers->ours.count; i++)
		if (strstr(cgroup.data, strangers->ours.items[i]))
			return true;
	return false;
}

static bool is_watcher(const struct foreign_processes *strangers,
		       const char *name)
{
	const struct profile_list *names =
		&strangers->source.profile->processes.ignore;
	const char *slash = strrchr(name, '/');

	name = slash ? slash + 1 : name;
	for (size_t i = 0; *name && i < names->count; i++)
		if (!strncmp(names->items[i], name, COMM_MAX))
			return true;
	return false;
}

static void saw_process(struct foreign_processes *strangers, int64_t pid,
			const char *name, uint32_t device)
{
	const struct device_info *info =
		&strangers->source.devices->list[device];
	struct process process = { .pid = pid };
	bool known = process_read(pid, &process);

	if ((known && (is_ours(strangers, &process) ||
		       is_watcher(strangers, process.name))) ||
	    is_watcher(strangers, name))
		return;
	saw(strangers, "%.60s (pid %lld) uses device %u%s%s",
	    *name   ? name
	    : known ? process.name
		    : "a process",
	    (long long)pid, device, info->bus_id ? " at " : "",
	    info->bus_id ? info->bus_id : "");
}

static const struct node_file *
file_of(const struct foreign_processes *strangers, int folder, const char *name)
{
	char path[PATH_MAX];
	ssize_t n = readlinkat(folder, name, path, sizeof(path) - 1);
	struct stat st = { 0 };

	if (n <= 0)
		return NULL;
	path[n] = 0;
	for (size_t i = 0; i < strangers->files_count; i++)
		if (!strcmp(strangers->files[i].path, path))
			return &strangers->files[i];
	/* In another mount namespace it may be called otherwise. */
	if (!path_within(path, "/dev") || fstatat(folder, name, &st, 0) < 0 ||
	    !S_ISCHR(st.st_mode))
		return NULL;
	for (size_t i = 0; i < strangers->files_count; i++)
		if (strangers->files[i].number &&
		    strangers->files[i].number == st.st_rdev)
			return &strangers->files[i];
	return NULL;
}

static void look_into(struct foreign_processes *strangers, int64_t pid)
{
	char path[64];
	const struct dirent *entry;
	int files = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%lld/fd", (long long)pid);
	folder = opendir(path);
	while (folder && !*strangers->seen && files++ < FILES_MAX &&
	       (entry = readdir(folder))) {
		const struct node_file *file =
			entry->d_name[0] == '.'
				? NULL
				: file_of(strangers, dirfd(folder),
					  entry->d_name);

		if (file)
			saw_process(strangers, pid, "", file->device);
	}
	if (folder)
		closedir(folder);
}

/* Some of the processes, then the loop's turn. */
static int processes_turn(sd_event_source *source, uint64_t usec, void *arg)
{
	struct foreign_processes *strangers = arg;
	int64_t end_ms = clock_mono_ms() + TURN_MS;
	const struct dirent *entry = NULL;

	while (!*strangers->seen && clock_mono_ms() < end_ms &&
	       (entry = readdir(strangers->processes)))
		if (isdigit((unsigned char)entry->d_name[0]))
			look_into(strangers, strtoll(entry->d_name, NULL, 10));
	if (!*strangers->seen && entry) {
		loop_timer(strangers->source.loop, &strangers->timer, 1,
			   processes_turn, strangers, NULL);
		return 0;
	}
	closedir(take(strangers->processes));
	end_look(strangers);
	return 0;
}

static void tool_told(void *arg, const struct error *err,
		      const struct subprocess_output *output)
{
	struct foreign_processes *strangers = arg;
	const struct foreign_processes_source *source = &strangers->source;
	const struct sampler *sampler = source->profile->monitor.sampler;
	const struct device_sample *samples[DEVICES_MAX] = { NULL };
	owned(process_rows_clear) struct process_rows rows = { 0 };
	owned(samples_clear) struct samples told = { 0 };

	strangers->tool = NULL;
	if (err || output->exit_code) {
		log_debug("processes: %s", err ? err->text : output->complaint);
		end_look(strangers);
		return;
	}
	process_rows_read(&source->profile->processes, output->text,
			  output->size, &rows, NULL);
	/* Many tools print both tables, and count alike in them. */
	if (rows.count && sampler &&
	    sampler_read(sampler, output->text, output->size, &told, NULL) == 0)
		device_rows(source->devices, &told, samples);
	for (size_t r = 0; r < rows.count; r++)
		for (uint32_t i = 0; i < source->devices->count; i++)
			if (!*strangers->seen && strangers->wanted >> i & 1 &&
			    process_uses(&rows.list[r],
					 &source->devices->list[i], samples[i]))
				saw_process(strangers, rows.list[r].pid,
					    rows.list[r].name, i);
	end_look(strangers);
}

static void look_at_processes(struct foreign_processes *strangers)
{
	const struct foreign_processes_source *source = &strangers->source;
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

		strangers->tool = subprocess_run(source->loop, &command,
						 tool_told, strangers, &err);
	} else {
		strangers->processes = opendir("/proc");
	}
	loop_source_free(&strangers->timer);
	if (strangers->processes)
		loop_timer(source->loop, &strangers->timer, 0, processes_turn,
			   strangers, NULL);
	else if (!strangers->tool)
		end_look(strangers);
}

/* Containers. */

static const char *text_at(const cJSON *object, const char *name)
{
	const char *text = cJSON_GetStringValue(
		cJSON_GetObjectItemCaseSensitive(object, name));

	return text ? text : "";
}

static void look_into_next(struct foreign_processes *strangers);

static void inspected(void *arg, const struct error *err, cJSON *answer)
{
	struct foreign_processes *strangers = arg;
	const cJSON *config =
		cJSON_GetObjectItemCaseSensitive(answer, "HostConfig");
	const char *name = text_at(answer, "Name");
	const cJSON *given;

	strangers->call = NULL;
	if (err)
		log_debug("strangers: %s", err->text);
	cJSON_ArrayForEach(given,
			   cJSON_GetObjectItemCaseSensitive(config, "Devices"))
	{
		const char *path = text_at(given, "PathOnHost");

		for (size_t i = 0; i < strangers->files_count; i++)
			if (!*strangers->seen && *path == '/' &&
			    path_within(strangers->files[i].path, path))
				saw(strangers, "container %.60s holds %.100s",
				    name + (*name == '/'),
				    strangers->files[i].path);
	}
	if (*strangers->seen)
		end_look(strangers);
	else
		look_into_next(strangers);
}

static void look_into_next(struct foreign_processes *strangers)
{
	while (strangers->next < strangers->others.count) {
		strangers->call =
			engine_container_inspect(strangers->source.engine,
						 strangers->others.items
							 [strangers->next++],
						 CALL_MS, inspected, strangers,
						 NULL);
		if (strangers->call)
			return;
	}
	look_at_processes(strangers);
}

static void listed(void *arg, const struct error *err, cJSON *answer)
{
	struct foreign_processes *strangers = arg;
	const struct foreign_processes_source *source = &strangers->source;
	const cJSON *container;

	strangers->call = NULL;
	strings_clear(&strangers->ours);
	strings_clear(&strangers->others);
	strangers->next = 0;
	if (err)
		log_debug("strangers: %s", err->text);
	cJSON_ArrayForEach(container, answer)
	{
		const cJSON *labels =
			cJSON_GetObjectItemCaseSensitive(container, "Labels");
		bool ours =
			(!strcmp(text_at(labels, LABEL_CLUSTER),
				 source->cluster) &&
			 !strcmp(text_at(labels, LABEL_NODE), source->node)) ||
			install_is_of(container, source->cluster, source->node);
		struct strings *to =
			ours ? &strangers->ours : &strangers->others;

		if (*text_at(container, "Id") && to->count < CONTAINERS_MAX)
			strings_add(to, text_at(container, "Id"), NULL);
	}
	look_into_next(strangers);
}

static int look_again(sd_event_source *source, uint64_t usec, void *arg)
{
	struct foreign_processes *strangers = arg;

	snprintf(strangers->before, sizeof(strangers->before), "%s",
		 strangers->seen);
	strangers->seen[0] = 0;
	if (strangers->source.engine)
		strangers->call =
			engine_container_list(strangers->source.engine, false,
					      NULL, CALL_MS, listed, strangers,
					      NULL);
	if (!strangers->call)
		look_at_processes(strangers);
	return 0;
}

/* Beginning and ending. */

static int add_files(struct foreign_processes *strangers, uint32_t device,
		     struct error *err)
{
	const struct foreign_processes_source *source = &strangers->source;
	owned(strings_clear) struct strings nodes = { 0 };
	struct node_file *files;
	struct stat st;

	/* One that lacks a node is somebody else's to complain of. */
	if (device_nodes(source->profile, source->roots,
			 &source->devices->list[device], &nodes, NULL) < 0)
		return 0;
	for (size_t i = 0; i < nodes.count; i++) {
		char *path = nodes.items[i];

		path[strcspn(path, ":")] = 0;
		files = realloc(strangers->files,
				(strangers->files_count + 1) * sizeof(*files));
		if (!files)
			return error_nomem(err, "strangers");
		strangers->files = files;
		files += strangers->files_count++;
		*files = (struct node_file){ .device = device };
		/* A pretended machine's nodes all have the number of one. */
		if (!sysroot_pretended(source->roots) && stat(path, &st) == 0)
			files->number = st.st_rdev;
		files->path = strdup(path);
		if (!files->path)
			return error_nomem(err, "strangers");
	}
	return 0;
}

struct foreign_processes *
foreign_processes_look(const struct foreign_processes_source *source,
		       uint64_t wanted, foreign_processes_fn *done, void *arg,
		       struct error *err)
{
	owned(foreign_processes_cancel) struct foreign_processes *strangers =
		calloc(1, sizeof(*strangers));

	if (!strangers) {
		error_nomem(err, "strangers");
		return NULL;
	}
	strangers->source = *source;
	strangers->wanted = wanted;
	strangers->done = done;
	strangers->arg = arg;
	for (uint32_t i = 0; i < source->devices->count; i++)
		if (wanted >> i & 1 && add_files(strangers, i, err) < 0)
			return NULL;
	if (loop_timer(source->loop, &strangers->timer, 0, look_again,
		       strangers, err) < 0)
		return NULL;
	return take(strangers);
}

void foreign_processes_cancel(struct foreign_processes *strangers)
{
	if (!strangers)
		return;
	if (strangers->call)
		engine_call_cancel(strangers->call);
	subprocess_cancel(strangers->tool);
	if (strangers->processes)
		closedir(strangers->processes);
	loop_source_free(&strangers->timer);
	for (size_t i = 0; i < strangers->files_count; i++)
		free(strangers->files[i].path);
	free(strangers->files);
	strings_clear(&strangers->ours);
	strings_clear(&strangers->others);
	free(strangers);
}
