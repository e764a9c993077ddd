/* image_progress.c - images and contents on their way to the nodes of a job.
 */
#include "controller/jobs/image_progress.h"
#include "controller/jobs/job.h"
#include "controller/nodes/node.h"

#include <stdlib.h>
#include <string.h>

static int64_t mono_ms(const struct task *task)
{
	return cluster_mono_ms(task->job->gang->cluster);
}

static const struct schema *schema(void)
{
	return message_kinds[MESSAGE_PROGRESS].schema;
}

void image_progress_clear(struct task *task)
{
	if (!task->transfer)
		return;
	codec_clear(schema(), task->transfer);
	free(task->transfer);
	task->transfer = NULL;
}

static bool moved(const struct message_progress *from,
		  const struct message_progress *to)
{
	return !from || from->done_bytes != to->done_bytes ||
	       from->extracted_bytes != to->extracted_bytes ||
	       from->layers != to->layers || from->tries != to->tries ||
	       strcmp(from->phase, to->phase) != 0;
}

void image_progress_keep(struct task *task,
			 const struct message_progress *progress)
{
	cJSON *object = codec_object(schema(), progress, NULL);
	struct message_progress *copy = malloc(sizeof(*copy));

	if (copy && object &&
	    codec_from_object(schema(), object, copy, NULL) == 0) {
		if (!task->transfer)
			task->transfer_ms = mono_ms(task);
		if (moved(task->transfer, copy))
			task->transfer_moved_ms = mono_ms(task);
		image_progress_clear(task);
		task->transfer = copy;
		copy = NULL;
	}
	free(copy);
	cJSON_Delete(object);
}

static bool extracting(const struct message_progress *transfer)
{
	return !strcmp(transfer->phase, "extracting");
}

/* Of a node that has its image already, everything. */
static uint64_t done_bytes(const struct task *task)
{
	const struct message_progress *transfer = task->transfer;

	if (task->state > TASK_PREPARING)
		return transfer->total_bytes;
	return extracting(transfer) ? transfer->extracted_bytes
				    : transfer->done_bytes;
}

/* For how long, in ms; 0: it goes on. */
static int64_t silent_ms(const struct task *task)
{
	int64_t silent = mono_ms(task) - task->transfer_moved_ms;

	return silent < IMAGE_PROGRESS_SILENT_MS ? 0 : silent;
}

/* When all is here, it is not the transfer that takes its time. */
static int64_t awaited_ms(const struct task *task)
{
	uint64_t total = task->transfer->total_bytes;

	return total && done_bytes(task) >= total ? 0 : silent_ms(task);
}

static double rate_of(const struct task *task)
{
	return silent_ms(task) ? 0 : (double)task->transfer->rate;
}

/* -1: not known. */
static double seconds_left(const struct task *task)
{
	const struct message_progress *transfer = task->transfer;
	uint64_t done = done_bytes(task);

	if (transfer->partial || !(rate_of(task) > 0) ||
	    done > transfer->total_bytes)
		return -1;
	return (double)(transfer->total_bytes - done) / rate_of(task);
}

static void add_rate(cJSON *to, double rate, double left, int64_t silent)
{
	int64_t seconds = silent / 1000;

	if (seconds)
		cJSON_AddNumberToObject(to, "silent_seconds", (double)seconds);
	if (rate > 0)
		cJSON_AddNumberToObject(to, "rate", rate);
	if (rate > 0 && left >= 0)
		cJSON_AddNumberToObject(to, "eta_seconds",
					(double)(uint64_t)(left + 0.5));
}

static cJSON *describe_moving(const struct message_progress *transfer)
{
	cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; i < transfer->moving_count; i++) {
		const struct moving_layer *layer = &transfer->moving[i];
		cJSON *item = cJSON_CreateObject();

		cJSON_AddStringToObject(item, "id", layer->id);
		cJSON_AddStringToObject(item, "phase", layer->phase);
		cJSON_AddNumberToObject(item, "done_bytes",
					(double)layer->done_bytes);
		cJSON_AddNumberToObject(item, "total_bytes",
					(double)layer->total_bytes);
		cJSON_AddItemToArray(list, item);
	}
	return list;
}

cJSON *image_progress_of_task(const struct task *task)
{
	const struct message_progress *transfer = task->transfer;
	cJSON *to;

	if (!transfer || task->state != TASK_PREPARING)
		return NULL;
	to = cJSON_CreateObject();
	cJSON_AddStringToObject(to, "phase", transfer->phase);
	cJSON_AddNumberToObject(to, "done_bytes", (double)done_bytes(task));
	cJSON_AddNumberToObject(to, "total_bytes",
				(double)transfer->total_bytes);
	cJSON_AddBoolToObject(to, "partial", transfer->partial);
	add_rate(to, rate_of(task), seconds_left(task), awaited_ms(task));
	cJSON_AddNumberToObject(to, "layers", transfer->layers);
	cJSON_AddNumberToObject(to, "layers_total", transfer->layers_total);
	cJSON_AddNumberToObject(to, "tries", transfer->tries);
	cJSON_AddItemToObject(to, "moving", describe_moving(transfer));
	return to;
}

cJSON *image_progress_summary(const struct task *task)
{
	const struct message_progress *transfer = task->transfer;
	cJSON *to;

	if (!transfer || !transfer->total_bytes)
		return NULL;
	to = cJSON_CreateObject();
	cJSON_AddStringToObject(to, "node", task->node->name);
	cJSON_AddNumberToObject(to, "bytes", (double)transfer->total_bytes);
	cJSON_AddNumberToObject(to, "seconds",
				(double)(mono_ms(task) - task->transfer_ms) /
					1000);
	return to;
}

/* What of a phase is still before a node, more for the earlier ones. */
static int distance(const char *phase)
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

void image_progress_add_sum(const struct gang *gang, cJSON *to)
{
	const struct message_progress *far = NULL;
	double done = 0, total = 0, rate = 0, left = -1, layers = 0, all = 0;
	int64_t silent = INT64_MAX;
	bool partial = false;
	uint32_t ready = 0;

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];
		const struct message_progress *one = task->transfer;

		ready += task->state > TASK_PREPARING;
		if (!one)
			continue;
		done += (double)done_bytes(task);
		total += (double)one->total_bytes;
		layers += one->layers;
		all += one->layers_total;
		if (task->state != TASK_PREPARING)
			continue;
		partial |= one->partial;
		rate += rate_of(task);
		if (awaited_ms(task) < silent)
			silent = awaited_ms(task);
		if (seconds_left(task) > left)
			left = seconds_left(task);
		if (!far || distance(one->phase) > distance(far->phase))
			far = one;
	}
	if (!far)
		return;
	cJSON_AddStringToObject(to, "phase", far->phase);
	cJSON_AddNumberToObject(to, "done_bytes", done);
	cJSON_AddNumberToObject(to, "total_bytes", total);
	cJSON_AddBoolToObject(to, "partial", partial);
	add_rate(to, rate, partial ? -1 : left, silent);
	cJSON_AddNumberToObject(to, "layers", layers);
	cJSON_AddNumberToObject(to, "layers_total", all);
	cJSON_AddNumberToObject(to, "tries", far->tries);
	cJSON_AddNumberToObject(to, "nodes_done", ready);
}

static bool stands_still(const struct gang *gang)
{
	if (gang->job->state != JOB_PREPARING)
		return false;
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (task->transfer && task->state == TASK_PREPARING &&
		    silent_ms(task))
			return true;
	}
	return false;
}

void image_progress_tick(struct cluster *cluster)
{
	const struct gang *gang;

	TAILQ_FOREACH(gang, &cluster->gangs, by_cluster)
	{
		if (!stands_still(gang))
			continue;
		cluster->progress_seq++;
		return;
	}
}
