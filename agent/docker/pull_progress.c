/* pull_progress.c - sums up the engine's progress messages of a pull or
 * build.
 */
#include "agent/docker/pull_progress.h"
#include "protocol/message/json_get.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BYTES_LIMIT 9007199254740992.0 /* 2^53 */

enum layer_state {
	LAYER_WAITING,
	LAYER_DOWNLOADING,
	LAYER_DOWNLOADED,
	LAYER_EXTRACTING,
	LAYER_DONE,
};

struct layer {
	char id[IMAGE_LAYER_ID_SIZE];
	enum layer_state state;
	uint64_t bytes;
	uint64_t total;
	uint64_t extracted; /* of total */
};

struct pull_progress {
	struct layer layers[PULL_PROGRESS_LAYERS_MAX];
	uint32_t count;
	bool extracting; /* has begun */
	bool building;
	uint32_t step;
	uint32_t steps;
	struct moving_layer moving[IMAGE_MOVING_MAX]; /* of the last sum */
};

/* The engine's texts and the state of the layer. Other texts ("Pulling from
 * library/x", "Digest: ...") are not about a layer.
 */
/* clang-format off */
static const struct {
	const char *status;
	enum layer_state state;
} words[] = {
	{ "Pulling fs layer", LAYER_WAITING },
	{ "Waiting", LAYER_WAITING },
	{ "Retrying in ", LAYER_WAITING },
	{ "Downloading", LAYER_DOWNLOADING },
	{ "Verifying Checksum", LAYER_DOWNLOADED },
	{ "Download complete", LAYER_DOWNLOADED },
	{ "Extracting", LAYER_EXTRACTING },
	{ "Pull complete", LAYER_DONE },
	{ "Already exists", LAYER_DONE },
};
/* clang-format on */

struct pull_progress *pull_progress_new(struct error *err)
{
	struct pull_progress *progress = calloc(1, sizeof(*progress));

	if (!progress)
		error_nomem(err, "progress");
	return progress;
}

void pull_progress_free(struct pull_progress *progress)
{
	free(progress);
}

void pull_progress_reset(struct pull_progress *progress)
{
	*progress = (struct pull_progress){ 0 };
}

static struct layer *layer_find(struct pull_progress *progress, const char *id)
{
	struct layer *layer;

	for (uint32_t i = 0; i < progress->count; i++) {
		layer = &progress->layers[i];
		if (!strcmp(layer->id, id))
			return layer;
	}
	if (progress->count == PULL_PROGRESS_LAYERS_MAX ||
	    strlen(id) >= IMAGE_LAYER_ID_SIZE)
		return NULL;
	layer = &progress->layers[progress->count++];
	*layer = (struct layer){ 0 };
	memcpy(layer->id, id, strlen(id) + 1);
	return layer;
}

static uint64_t byte_count(const cJSON *detail, const char *name)
{
	const cJSON *item = json_get(detail, name);

	if (!cJSON_IsNumber(item) ||
	    !(item->valuedouble > 0 && item->valuedouble <= BYTES_LIMIT))
		return 0;
	return (uint64_t)item->valuedouble;
}

static void layer_update(struct layer *layer, enum layer_state state,
			 const cJSON *detail)
{
	uint64_t current = json_get_text(detail, "units")
				   ? 0
				   : byte_count(detail, "current");

	layer->state = state;
	if (state == LAYER_DOWNLOADING) {
		layer->bytes = current;
		if (byte_count(detail, "total"))
			layer->total = byte_count(detail, "total");
		if (layer->total < layer->bytes)
			layer->total = layer->bytes;
	} else if (state == LAYER_WAITING) {
		layer->bytes = 0;
	} else {
		layer->bytes = layer->total;
	}
	if (state == LAYER_EXTRACTING)
		layer->extracted =
			current < layer->total ? current : layer->total;
	else
		layer->extracted = state == LAYER_DONE ? layer->total : 0;
}

static bool layer_moved(const struct layer *before, const struct layer *now)
{
	return before->state != now->state || before->bytes != now->bytes ||
	       before->extracted != now->extracted;
}

bool pull_progress_pull(struct pull_progress *progress, const cJSON *object)
{
	const char *id = json_get_text(object, "id");
	const char *status = json_get_text(object, "status");
	const cJSON *detail = json_get(object, "progressDetail");
	uint32_t count = progress->count;
	struct layer *layer, before;

	if (!id || !status)
		return true;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strncmp(status, words[i].status, strlen(words[i].status)))
			continue;
		layer = layer_find(progress, id);
		progress->extracting |= words[i].state == LAYER_EXTRACTING;
		if (!layer)
			return true;
		before = *layer;
		layer_update(layer, words[i].state, detail);
		return progress->count != count || layer_moved(&before, layer);
	}
	return true;
}

/* "Step 2/7 : RUN ..."; another engine says "STEP 2/7: RUN ...". */
void pull_progress_build(struct pull_progress *progress, const cJSON *object)
{
	const char *text = json_get_text(object, "stream");
	unsigned int step, steps;

	progress->building = true;
	if (!text || strncasecmp(text, "step ", 5) != 0 ||
	    sscanf(text + 5, "%4u/%4u", &step, &steps) != 2 || !step ||
	    step > steps)
		return;
	progress->step = step;
	progress->steps = steps;
}

/* Add a layer that is downloaded or extracted at present. */
static void add_moving(struct image_progress *sum, struct layer *layer)
{
	bool extracting = layer->state == LAYER_EXTRACTING;

	if (sum->moving_count == IMAGE_MOVING_MAX ||
	    !(extracting || layer->state == LAYER_DOWNLOADING))
		return;
	sum->moving[sum->moving_count++] = (struct moving_layer){
		.id = layer->id,
		.phase = (char *)(extracting ? "extracting" : "pulling"),
		.done_bytes = extracting ? layer->extracted : layer->bytes,
		.total_bytes = layer->total,
	};
}

void pull_progress_sum(struct pull_progress *progress,
		       struct image_progress *sum)
{
	bool downloaded = progress->extracting;
	uint64_t extracted = 0;

	sum->moving = progress->moving;
	sum->moving_count = 0;
	if (progress->building) {
		sum->phase = (char *)"building";
		sum->layers = progress->step ? progress->step - 1 : 0;
		sum->layers_total = progress->steps;
		return;
	}
	sum->done_bytes = sum->total_bytes = 0;
	sum->partial = false;
	sum->layers = 0;
	sum->layers_total = progress->count;
	for (uint32_t i = 0; i < progress->count; i++) {
		struct layer *layer = &progress->layers[i];

		sum->done_bytes += layer->bytes;
		sum->total_bytes += layer->total;
		sum->partial |= layer->state == LAYER_WAITING && !layer->total;
		extracted += layer->extracted;
		add_moving(sum, layer);
		sum->layers += layer->state == LAYER_DONE;
		downloaded = downloaded && layer->state >= LAYER_DOWNLOADED;
	}
	if (downloaded)
		sum->done_bytes = extracted;
	sum->phase = (char *)(downloaded ? "extracting" : "pulling");
}

uint64_t rate_feed(struct pull_rate *rate, int64_t now_ms, uint64_t count)
{
	int64_t passed = now_ms - rate->time_ms;
	double grown, weight;

	if (!rate->time_ms || count < rate->count) {
		*rate = (struct pull_rate){ .time_ms = now_ms, .count = count };
	} else if (passed >= RATE_STEP_MS) {
		grown = (double)(count - rate->count) * 1000 / (double)passed;
		weight = passed >= RATE_SPAN_MS || !(rate->per_second > 0)
				 ? 1
				 : (double)passed / RATE_SPAN_MS;
		rate->per_second += weight * (grown - rate->per_second);
		rate->time_ms = now_ms;
		rate->count = count;
	}
	return (uint64_t)rate->per_second;
}
