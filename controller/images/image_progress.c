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

static bool transfer_moved(const struct image_progress *from,
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
	now->moved_ms = !was || transfer_moved(&was->last, &now->last)
				? now_ms
				: was->moved_ms;
	image_transfer_free(*transfer);
	*transfer = take(now);
}

/* Milliseconds without progress; 0: it has not stalled. */
static int64_t transfer_silent_ms(const struct image_transfer *transfer,
				  int64_t now_ms)
{
	int64_t silent = now_ms - transfer->moved_ms;

	return silent < IMAGE_PROGRESS_SILENT_MS ? 0 : silent;
}

/* When all bytes are there, the node does not wait for the transfer. */
static int64_t transfer_awaited_ms(const struct image_transfer *transfer,
				   int64_t now_ms)
{
	const struct image_progress *last = &transfer->last;

	return last->total_bytes && last->done_bytes >= last->total_bytes
		       ? 0
		       : transfer_silent_ms(transfer, now_ms);
}

static double transfer_rate(const struct image_transfer *transfer,
			    int64_t now_ms)
{
	double rate = transfer->last.rate;

	return transfer_silent_ms(transfer, now_ms) || !(rate > 0) ? 0 : rate;
}

/* -1: not known. */
static double transfer_seconds_left(const struct image_transfer *transfer,
				    int64_t now_ms)
{
	const struct image_progress *last = &transfer->last;
	double rate = transfer_rate(transfer, now_ms);

	return last->partial || !(rate > 0) ||
			       last->done_bytes > last->total_bytes
		       ? -1
		       : (double)(last->total_bytes - last->done_bytes) / rate;
}

static void progress_set_pace(struct image_progress *to, double rate,
			      double left, int64_t silent_ms)
{
	to->silent_seconds = (uint64_t)(silent_ms / 1000);
	to->rate = rate > 0 ? rate : (double)NAN;
	to->eta_seconds = rate > 0 && left >= 0 ? (double)(uint64_t)(left + 0.5)
						: (double)NAN;
}

int image_transfer_describe(const struct image_transfer *transfer,
			    int64_t now_ms, struct image_progress *to,
			    struct error *err)
{
	bool timed = transfer->last.tries &&
		     strcmp(transfer->last.phase, "ready") != 0 &&
		     strcmp(transfer->last.phase, "failed") != 0;

	if (codec_copy(&image_progress_schema, &transfer->last, to, err) < 0)
		return -1;
	progress_set_pace(to, timed ? transfer_rate(transfer, now_ms) : 0,
			  transfer_seconds_left(transfer, now_ms),
			  timed ? transfer_awaited_ms(transfer, now_ms) : 0);
	return 0;
}

int image_progress_of_task(const struct task *task, int64_t now_ms,
			   struct image_progress **to, struct error *err)
{
	const struct image_transfer *transfer = task_transfer(task);

	if (!transfer || task_state(task) != TASK_PREPARING)
		return 0;
	*to = calloc(1, sizeof(**to));
	return *to ? image_transfer_describe(transfer, now_ms, *to, err)
		   : error_nomem(err, "transfer");
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
	const struct image_progress *far = NULL;
	struct image_progress sum = { 0 };
	double rate = 0, left = -1;
	int64_t silent = INT64_MAX;
	uint32_t nodes_done = 0;

	for (uint32_t i = 0; i < gang_nodes(gang); i++) {
		const struct task *task = gang_task(gang, i);
		const struct image_transfer *one = task_transfer(task);
		bool prepared = task_state(task) > TASK_PREPARING;

		nodes_done += prepared;
		if (!one)
			continue;
		sum.done_bytes +=
			prepared ? one->last.total_bytes : one->last.done_bytes;
		sum.total_bytes += one->last.total_bytes;
		sum.layers += one->last.layers;
		sum.layers_total += one->last.layers_total;
		if (task_state(task) != TASK_PREPARING)
			continue;
		sum.partial |= one->last.partial;
		rate += transfer_rate(one, now_ms);
		if (transfer_awaited_ms(one, now_ms) < silent)
			silent = transfer_awaited_ms(one, now_ms);
		if (transfer_seconds_left(one, now_ms) > left)
			left = transfer_seconds_left(one, now_ms);
		if (!far || phase_distance(one->last.phase) >
				    phase_distance(far->phase))
			far = &one->last;
	}
	if (!far)
		return 0;
	progress_set_pace(&sum, rate, sum.partial ? -1 : left, silent);
	sum.tries = far->tries;
	to->image = sum;
	to->nodes_done = nodes_done;
	return string_set(&to->image.phase, far->phase, err);
}

static bool gang_stands_still(const struct gang *gang, int64_t now_ms)
{
	if (job_state(gang_job(gang)) != JOB_PREPARING)
		return false;
	for (uint32_t i = 0; i < gang_nodes(gang); i++) {
		const struct task *task = gang_task(gang, i);
		const struct image_transfer *one = task_transfer(task);

		if (one && task_state(task) == TASK_PREPARING &&
		    transfer_silent_ms(one, now_ms))
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
