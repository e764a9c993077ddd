/* image_progress.c - the progress of images on their way to nodes, for tasks
 * and for operations.
 */
#include "controller/images/image_progress.h"
#include "controller/cluster/active_job.h"
#include "controller/nodes/node.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct image_transfer {
	struct image_progress last;
	int64_t begun_ms;
	int64_t moved_ms; /* when it changed last */
};

void image_transfer_free(struct image_transfer *transfer)
{
	if (transfer)
		codec_clear(&image_progress_schema, &transfer->last);
	free(transfer);
}

bool image_progress_moved(const struct image_progress *from,
			  const struct image_progress *to)
{
	return from->done_bytes != to->done_bytes ||
	       from->layers != to->layers || from->tries != to->tries ||
	       strcmp(from->phase, to->phase) != 0;
}

void image_transfer_keep(struct image_transfer **transfer,
			 const struct image_progress *progress, int64_t now_ms)
{
	const struct image_transfer *was = *transfer;
	owned_free struct image_transfer *now = malloc(sizeof(*now));

	if (!now ||
	    codec_copy(&image_progress_schema, progress, &now->last, NULL) < 0)
		return;
	now->begun_ms = was ? was->begun_ms : now_ms;
	now->moved_ms = !was || image_progress_moved(&was->last, &now->last)
				? now_ms
				: was->moved_ms;
	image_transfer_free(*transfer);
	*transfer = take(now);
}

static bool progress_is_silent(int64_t moved_ms, int64_t now_ms)
{
	return now_ms - moved_ms >= IMAGE_PROGRESS_SILENT_MS;
}

void image_progress_pace(struct image_progress *progress, int64_t moved_ms,
			 int64_t now_ms)
{
	uint64_t done = progress->done_bytes, total = progress->total_bytes;
	bool timed = progress->tries && strcmp(progress->phase, "ready") != 0 &&
		     strcmp(progress->phase, "failed") != 0;
	bool silent = progress_is_silent(moved_ms, now_ms);

	/* When all bytes are there, the node does not wait for more. */
	progress->silent_seconds =
		timed && silent && (!total || done < total)
			? (uint64_t)((now_ms - moved_ms) / 1000)
			: 0;
	progress->eta_seconds = (double)NAN;
	if (!timed || silent || !(progress->rate > 0))
		progress->rate = (double)NAN;
	else if (!progress->partial && done <= total)
		progress->eta_seconds =
			(double)(uint64_t)((double)(total - done) /
						   progress->rate +
					   0.5);
}

/* The last report with its pace; its texts are borrowed. */
static struct image_progress transfer_now(const struct image_transfer *transfer,
					  int64_t now_ms)
{
	struct image_progress now = transfer->last;

	image_progress_pace(&now, transfer->moved_ms, now_ms);
	return now;
}

int image_progress_of_task(const struct task *task, int64_t now_ms,
			   struct image_progress **to, struct error *err)
{
	const struct image_transfer *transfer = task_transfer(task);
	struct image_progress now;

	if (!transfer || task_state(task) != TASK_PREPARING)
		return 0;
	*to = calloc(1, sizeof(**to));
	if (!*to)
		return error_nomem(err, "transfer");
	now = transfer_now(transfer, now_ms);
	return codec_copy(&image_progress_schema, &now, *to, err);
}

cJSON *image_progress_summary(const struct task *task, int64_t now_ms)
{
	const struct image_transfer *transfer = task_transfer(task);
	cJSON *to;

	if (!transfer || !transfer->last.total_bytes)
		return NULL;
	to = cJSON_CreateObject();
	cJSON_AddStringToObject(to, "node", node_name(task_node(task)));
	cJSON_AddNumberToObject(to, "bytes",
				(double)transfer->last.total_bytes);
	cJSON_AddNumberToObject(to, "seconds",
				(double)(now_ms - transfer->begun_ms) / 1000);
	return to;
}

/* Larger for phases that are earlier. */
static int phase_distance(const char *phase)
{
	static const char *const order[] = { "extracting", "fetching",
					     "building", "pulling",
					     "checking" };
	int count = (int)(sizeof(order) / sizeof(order[0]));

	for (int i = 0; i < count; i++)
		if (!strcmp(order[i], phase))
			return i;
	return count;
}

int image_progress_add_sum(const struct gang *gang, int64_t now_ms,
			   struct progress_info *to, struct error *err)
{
	struct image_progress sum = { .silent_seconds = UINT64_MAX };
	const char *phase = NULL; /* of the node with most left */
	uint32_t nodes_done = 0;
	double left = -1;

	for (uint32_t i = 0; i < gang_nodes(gang); i++) {
		const struct task *task = gang_task(gang, i);
		const struct image_transfer *transfer = task_transfer(task);
		bool prepared = task_state(task) > TASK_PREPARING;
		struct image_progress one;

		nodes_done += prepared;
		if (!transfer)
			continue;
		one = transfer_now(transfer, now_ms);
		sum.done_bytes += prepared ? one.total_bytes : one.done_bytes;
		sum.total_bytes += one.total_bytes;
		sum.layers += one.layers;
		sum.layers_total += one.layers_total;
		if (task_state(task) != TASK_PREPARING)
			continue;
		sum.partial |= one.partial;
		sum.rate += isnan(one.rate) ? 0 : one.rate;
		left = fmax(left, one.eta_seconds);
		if (one.silent_seconds < sum.silent_seconds)
			sum.silent_seconds = one.silent_seconds;
		if (phase && phase_distance(one.phase) <= phase_distance(phase))
			continue;
		phase = one.phase;
		sum.tries = one.tries;
	}
	if (!phase)
		return 0;
	if (!(sum.rate > 0))
		sum.rate = (double)NAN;
	sum.eta_seconds = sum.partial || left < 0 ? (double)NAN : left;
	to->image = sum;
	to->nodes_done = nodes_done;
	return string_set(&to->image.phase, phase, err);
}

static bool gang_stands_still(const struct gang *gang, int64_t now_ms)
{
	if (job_state(gang_job(gang)) != JOB_PREPARING)
		return false;
	for (uint32_t i = 0; i < gang_nodes(gang); i++) {
		const struct task *task = gang_task(gang, i);
		const struct image_transfer *one = task_transfer(task);

		if (one && task_state(task) == TASK_PREPARING &&
		    progress_is_silent(one->moved_ms, now_ms))
			return true;
	}
	return false;
}

bool image_progress_stalled(const struct job_table *table, int64_t now_ms)
{
	const struct gang *gang;

	for (gang = gang_first(table); gang; gang = gang_next(gang))
		if (gang_stands_still(gang, now_ms))
			return true;
	return false;
}
