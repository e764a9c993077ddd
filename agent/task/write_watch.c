/* write_watch.c - limits what a container writes to its own disk and to its
 * folder on the host.
 */
#include "agent/task/write_watch.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/base/subprocess.h"
#include "protocol/message/json_get.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define CALL_MS 600000
#define SHARE 50 /* pause between two counts, in lengths of the last one */
#define PAUSE_MIN_MS 2000
#define PAUSE_MAX_MS 600000

struct write_watch {
	struct write_watch_config config;
	sd_event_source *disk, *output; /* timers of the next looks */
	struct engine_call *call;
	struct subprocess *count; /* of the code tree */
	uint64_t layer_bytes;     /* the last answer */
	int64_t asked_ms;
	char work[PATH_MAX]; /* path of the code tree; "": there is none */
	bool complained;     /* that the size of the disk is unknown */
};

static int ask_disk(sd_event_source *source, uint64_t usec, void *arg);

static int ask_later(struct write_watch *watch, int64_t took_ms,
		     struct error *err)
{
	int64_t pause_ms = took_ms * SHARE;

	if (pause_ms < PAUSE_MIN_MS)
		pause_ms = PAUSE_MIN_MS;
	if (pause_ms > PAUSE_MAX_MS)
		pause_ms = PAUSE_MAX_MS;
	return loop_timer(watch->config.loop, &watch->disk, (uint64_t)pause_ms,
			  ask_disk, watch, err);
}

static void disk_judge(struct write_watch *watch, uint64_t bytes)
{
	const struct write_watch_config *config = &watch->config;
	const struct policy *policy = node_policy_rules(config->node_policy);
	uint64_t limit = policy->limits.disk_bytes;
	char why[200];

	if (!limit || bytes <= limit) {
		ask_later(watch, clock_mono_ms() - watch->asked_ms, NULL);
		return;
	}
	snprintf(why, sizeof(why),
		 "limits.disk: the container wrote %" PRIu64
		 " MiB to its own disk; %.60s allows %" PRIu64 " MiB",
		 bytes >> 20, policy->file, limit >> 20);
	config->over(config->arg, why);
}

static void disk_complain(struct write_watch *watch, const struct error *err)
{
	if (err && !watch->complained)
		log_warning("container=%s: the size of its disk is unknown: %s",
			    watch->config.container, err->text);
	watch->complained = err != NULL;
}

/* du prints the bytes that it could count, also when it exits with 1. */
static void tree_counted(void *arg, const struct error *err,
			 const struct subprocess_output *output)
{
	struct write_watch *watch = arg;

	watch->count = NULL;
	disk_complain(watch, err);
	disk_judge(watch, watch->layer_bytes +
				  (err ? 0 : strtoull(output->text, NULL, 10)));
}

/* A tree may have as many files as the command likes: not in our loop. */
static int count_tree(struct write_watch *watch, struct error *err)
{
	char *items[] = { (char *)"du", (char *)"-sxB1", watch->work };
	const struct strings argv = { .items = items, .count = 3 };
	const struct subprocess_command command = {
		.argv = &argv,
		.timeout_ms = CALL_MS,
		.output_max = PATH_MAX + 64,
	};

	watch->count = subprocess_run(watch->config.loop, &command,
				      tree_counted, watch, err);
	return watch->count ? 0 : -1;
}

static void disk_counted(void *arg, const struct error *err, cJSON *answer)
{
	struct write_watch *watch = arg;
	const cJSON *size = json_get(answer, "SizeRw");
	struct error wrong;

	watch->call = NULL;
	watch->layer_bytes = cJSON_IsNumber(size) && size->valuedouble > 0
				     ? (uint64_t)size->valuedouble
				     : 0;
	if (!err && *watch->work && count_tree(watch, &wrong) == 0)
		return;
	disk_complain(watch, err ? err : *watch->work ? &wrong : NULL);
	disk_judge(watch, watch->layer_bytes);
}

static int ask_disk(sd_event_source *source, uint64_t usec, void *arg)
{
	struct write_watch *watch = arg;

	watch->asked_ms = clock_mono_ms();
	watch->call = engine_container_size(watch->config.engine,
					    watch->config.container, CALL_MS,
					    disk_counted, watch, NULL);
	if (!watch->call)
		ask_later(watch, 0, NULL);
	return 0;
}

static int look_at_output(sd_event_source *source, uint64_t usec, void *arg)
{
	struct write_watch *watch = arg;
	const struct write_watch_config *config = &watch->config;
	uint64_t limit = config->output_bytes + WRITE_SLACK_BYTES;
	struct spool_usage usage;
	char why[200];

	spool_measure(config->spool, config->id, WRITE_NAMES_MAX, &usage);
	if (usage.names > WRITE_NAMES_MAX) {
		snprintf(why, sizeof(why),
			 "output: the output folder contains more than %d "
			 "files",
			 WRITE_NAMES_MAX);
	} else if (usage.bytes > limit) {
		snprintf(why, sizeof(why),
			 "output: the output folder contains %" PRIu64
			 " MiB; the limit is %" PRIu64 " MiB",
			 usage.bytes >> 20, limit >> 20);
	} else {
		loop_timer(config->loop, &watch->output, WRITE_LOOK_MS,
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
	if (config->has_tree)
		spool_path(config->spool, config->id, SPOOL_WORK, watch->work);
	if (loop_timer(config->loop, &watch->output, WRITE_LOOK_MS,
		       look_at_output, watch, err) < 0 ||
	    (node_policy_rules(config->node_policy)->limits.disk_bytes &&
	     ask_later(watch, 0, err) < 0))
		return NULL;
	return take(watch);
}

void write_watch_free(struct write_watch *watch)
{
	if (!watch)
		return;
	loop_source_free(&watch->disk);
	loop_source_free(&watch->output);
	engine_call_cancel(watch->call);
	subprocess_cancel(watch->count);
	free(watch);
}
