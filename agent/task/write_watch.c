/* write_watch.c - limits what a container writes to its own disk and to its
 * folder on the host.
 */
#include "agent/task/write_watch.h"
#include "agent/init/init.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"
#include "protocol/message/json_get.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALL_MS 600000
#define SHARE 50 /* pause between two counts, in lengths of the last one */
#define PAUSE_MIN_MS 2000
#define PAUSE_REST_MS 10000 /* the longest one, if counts are quick */
#define PAUSE_MAX_MS 600000
#define FILL_BYTES (1u << 20) /* that a container may write in a ms */
#define FILL_FILES 100        /* likewise */

struct write_watch {
	struct write_watch_config config;
	sd_event_source *counts, *output; /* timers of the next looks */
	struct engine_call *call;
	struct subprocess *child; /* regatta-init count */
	struct strings volumes;   /* folders of the engine, as it last said */
	uint64_t own_bytes;       /* by the last count, as the next three */
	uint64_t files;
	uint64_t nameless_bytes; /* of the output */
	uint64_t disk_bytes;     /* with its layer */
	int64_t asked_ms;
	bool complained; /* that the size of the disk is unknown */
};

static int write_count(sd_event_source *source, uint64_t usec, void *arg);

static const struct policy *write_rules(const struct write_watch *watch)
{
	return node_policy_rules(watch->config.node_policy);
}

/* How soon a limit can be reached; 0: no limit. */
static int64_t fill_ms(uint64_t limit, uint64_t used, uint64_t rate)
{
	if (!limit)
		return PAUSE_REST_MS;
	return used < limit ? (int64_t)((limit - used) / rate) : 0;
}

static int64_t watch_pause_ms(const struct write_watch *watch)
{
	const struct policy *policy = write_rules(watch);
	int64_t pauses[] = {
		fill_ms(policy->limits.disk_bytes, watch->disk_bytes,
			FILL_BYTES),
		fill_ms(policy->limits.files, watch->files, FILL_FILES),
		fill_ms(watch->config.output_bytes + WRITE_SLACK_BYTES,
			watch->nameless_bytes, FILL_BYTES),
	};
	int64_t least = watch->asked_ms
				? (clock_mono_ms() - watch->asked_ms) * SHARE
				: 0;
	int64_t pause = PAUSE_REST_MS;

	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++)
		if (pauses[i] < pause)
			pause = pauses[i];
	if (least < PAUSE_MIN_MS)
		least = PAUSE_MIN_MS;
	if (least > PAUSE_MAX_MS)
		least = PAUSE_MAX_MS;
	return pause > least ? pause : least;
}

static int count_later(struct write_watch *watch, struct error *err)
{
	return loop_timer(watch->config.loop, &watch->counts,
			  (uint64_t)watch_pause_ms(watch), write_count, watch,
			  err);
}

static void disk_judge(struct write_watch *watch, uint64_t bytes)
{
	const struct policy *policy = write_rules(watch);
	uint64_t limit = policy->limits.disk_bytes;
	char why[200];

	watch->disk_bytes = bytes;
	if (!limit || bytes <= limit) {
		count_later(watch, NULL);
		return;
	}
	snprintf(why, sizeof(why),
		 "limits.disk: the container wrote %" PRIu64
		 " MiB to its own disk; %.60s allows %" PRIu64 " MiB",
		 bytes >> 20, policy->file, limit >> 20);
	watch->config.over(watch->config.arg, why);
}

static void disk_complain(struct write_watch *watch, const struct error *err)
{
	if (err && !watch->complained)
		log_warning("container=%s: what it keeps on the disk is "
			    "unknown: %s",
			    watch->config.container, err->text);
	watch->complained = err != NULL;
}

/* Folders that are made for this container, and go with it. */
static void volumes_note(struct strings *volumes, const cJSON *answer)
{
	const cJSON *mount;

	strings_clear(volumes);
	cJSON_ArrayForEach(mount, json_get(answer, "Mounts"))
		if (!strcmp(json_get_text_or_empty(mount, "Type"), "volume"))
			strings_add(volumes,
				    json_get_text_or_empty(mount, "Source"),
				    NULL);
}

static void layer_counted(void *arg, const struct error *err, cJSON *answer)
{
	struct write_watch *watch = arg;
	const cJSON *size = json_get(answer, "SizeRw");

	watch->call = NULL;
	disk_complain(watch, err);
	if (!err)
		volumes_note(&watch->volumes, answer);
	disk_judge(watch, watch->own_bytes +
				  (cJSON_IsNumber(size) && size->valuedouble > 0
					   ? (uint64_t)size->valuedouble
					   : 0));
}

static void write_counted(void *arg, const struct error *err,
			  const struct subprocess_output *output)
{
	struct write_watch *watch = arg;
	const struct policy *policy = write_rules(watch);
	char why[200];

	watch->child = NULL;
	disk_complain(watch, err);
	if (output)
		sscanf(output->text, "%" SCNu64 " %" SCNu64 " %" SCNu64,
		       &watch->own_bytes, &watch->files,
		       &watch->nameless_bytes);
	if (policy->limits.files && watch->files > policy->limits.files) {
		snprintf(why, sizeof(why),
			 "limits.files: the task made more than %" PRIu64
			 " files on the node, as %.60s allows",
			 policy->limits.files, policy->file);
		watch->config.over(watch->config.arg, why);
		return;
	}
	watch->call = policy->limits.disk_bytes
			      ? engine_container_size(watch->config.engine,
						      watch->config.container,
						      CALL_MS, layer_counted,
						      watch, NULL)
			      : NULL;
	if (!watch->call)
		count_later(watch, NULL);
}

static int count_argv(const struct write_watch *watch, const char *folder,
		      const char *process, const char *files,
		      struct strings *argv, struct error *err)
{
	const char *const words[] = { watch->config.init_program, INIT_COUNT,
				      folder, process, files };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strings_add(argv, words[i], err) < 0)
			return -1;
	for (size_t i = 0; i < watch->volumes.count; i++)
		if (strings_add(argv, watch->volumes.items[i], err) < 0)
			return -1;
	return 0;
}

/* A task may have as many files as it likes: not in our loop. */
static int write_count(sd_event_source *source, uint64_t usec, void *arg)
{
	struct write_watch *watch = arg;
	const struct write_watch_config *config = &watch->config;
	uint64_t most = write_rules(watch)->limits.files;
	pid_t pid = spool_holder(config->spool, config->id);
	char folder[PATH_MAX], process[24], files[24];
	owned(strings_clear) struct strings argv = { 0 };
	const struct subprocess_command command = {
		.argv = &argv,
		.timeout_ms = CALL_MS,
		.output_max = 128,
	};
	struct error err;

	watch->asked_ms = clock_mono_ms();
	spool_path(config->spool, config->id, SPOOL_WORK, folder);
	*strrchr(folder, '/') = 0;
	snprintf(process, sizeof(process), "%d", pid > 0 ? (int)pid : 0);
	snprintf(files, sizeof(files), "%" PRIu64, most ? most : UINT64_MAX);
	watch->child =
		count_argv(watch, folder, process, files, &argv, &err) < 0
			? NULL
			: subprocess_run(config->loop, &command, write_counted,
					 watch, &err);
	if (!watch->child) {
		disk_complain(watch, &err);
		count_later(watch, NULL);
	}
	return 0;
}

static int look_at_output(sd_event_source *source, uint64_t usec, void *arg)
{
	struct write_watch *watch = arg;
	const struct write_watch_config *config = &watch->config;
	uint64_t limit = config->output_bytes + WRITE_SLACK_BYTES;
	struct spool_usage usage;
	int64_t pause;
	char why[200];

	spool_measure(config->spool, config->id, WRITE_NAMES_MAX, &usage);
	if (usage.names > WRITE_NAMES_MAX) {
		snprintf(why, sizeof(why),
			 "output: the output folder contains more than %d "
			 "files",
			 WRITE_NAMES_MAX);
	} else if (usage.bytes + watch->nameless_bytes > limit) {
		snprintf(why, sizeof(why),
			 "output: the output folder contains %" PRIu64
			 " MiB; the limit is %" PRIu64 " MiB",
			 (usage.bytes + watch->nameless_bytes) >> 20,
			 limit >> 20);
	} else {
		pause = fill_ms(limit, usage.bytes + watch->nameless_bytes,
				FILL_BYTES);
		loop_timer(config->loop, &watch->output,
			   pause < INT64_C(2) * WRITE_LOOK_MS
				   ? WRITE_LOOK_MS
				   : 2 * WRITE_LOOK_MS,
			   look_at_output, watch, NULL);
		return 0;
	}
	config->over(config->arg, why);
	return 0;
}

struct write_watch *write_watch_new(const struct write_watch_config *config,
				    struct error *err)
{
	owned(write_watch_free) struct write_watch *watch =
		error_calloc(sizeof(*watch), "limits", err);

	if (!watch)
		return NULL;
	watch->config = *config;
	if (loop_timer(config->loop, &watch->output, WRITE_LOOK_MS,
		       look_at_output, watch, err) < 0 ||
	    count_later(watch, err) < 0)
		return NULL;
	return take(watch);
}

void write_watch_free(struct write_watch *watch)
{
	if (!watch)
		return;
	loop_source_free(&watch->counts);
	loop_source_free(&watch->output);
	engine_call_cancel(watch->call);
	subprocess_cancel(watch->child);
	strings_clear(&watch->volumes);
	free(watch);
}
