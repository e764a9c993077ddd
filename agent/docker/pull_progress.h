/* pull_progress.h - sums up the engine's progress messages of a pull or
 * build.
 *
 * Pure. It takes the progress objects of engine_image_pull() or
 * engine_image_build(), and gives one image_progress. At most
 * PULL_PROGRESS_LAYERS_MAX layers are counted.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/image_info.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PULL_PROGRESS_LAYERS_MAX 512

#define IMAGE_LAYER_ID_SIZE 72
#define IMAGE_MOVING_MAX 8 /* the engine takes three to five at a time */

struct pull_progress;

struct pull_progress *pull_progress_new(struct error *err);
void pull_progress_free(struct pull_progress *progress);
OWNED_POINTER(struct pull_progress, pull_progress_free)

/* Forget all, for another attempt. */
void pull_progress_reset(struct pull_progress *progress);

/* Take in one object. Any object is safe; unknown ones change nothing. True: it
 * is no repetition of what is known of a layer. A count whose "units" are "s"
 * is the time that a layer takes, which passes by itself.
 */
bool pull_progress_pull(struct pull_progress *progress, const cJSON *object);
void pull_progress_build(struct pull_progress *progress, const cJSON *object);

/* Phase, bytes and layers of *sum are set, over all layers whose sizes the
 * engine has reported; in a build the layers are steps and the bytes are left
 * as they are. sum->moving is borrowed until the next call.
 */
void pull_progress_sum(struct pull_progress *progress,
		       struct image_progress *sum);

/* How fast a count grows, smoothed over RATE_SPAN_MS. A count that falls (a
 * retry) starts again. All zero: nothing was counted yet.
 */
#define RATE_STEP_MS 500 /* counts closer together are one */
#define RATE_SPAN_MS 5000
struct pull_rate {
	int64_t time_ms; /* of the last count that was used; 0: none */
	uint64_t count;
	double per_second;
};

/* Add a count with its time (not 0, never falling) and return the growth per
 * second; 0 until it is known. Pure.
 */
uint64_t rate_feed(struct pull_rate *rate, int64_t now_ms, uint64_t count);
