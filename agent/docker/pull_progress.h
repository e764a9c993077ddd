/* pull_progress.h - the engine's many small words about a pull or build, summed
 * up.
 *
 * Pure: objects of engine_image_pull() or engine_image_build() go in, one
 * image_progress comes out. At most PULL_PROGRESS_LAYERS_MAX layers are
 * counted.
 */
#ifndef AGENT_DOCKER_PULL_PROGRESS_H
#define AGENT_DOCKER_PULL_PROGRESS_H

#include "agent/docker/image.h"

#include <cjson/cJSON.h>

#define PULL_PROGRESS_LAYERS_MAX 512

struct pull_progress;

struct pull_progress *pull_progress_new(struct error *err);
void pull_progress_free(struct pull_progress *progress);
OWNED_POINTER(struct pull_progress, pull_progress_free)

/* Forget all, for another attempt. */
void pull_progress_reset(struct pull_progress *progress);

/* Take in one object. Any object is safe; unknown ones change nothing. */
void pull_progress_pull(struct pull_progress *progress, const cJSON *object);
void pull_progress_build(struct pull_progress *progress, const cJSON *object);

/* Phase, bytes and layers of *sum are set; in a build the layers are steps and
 * the bytes are left as they are.
 */
void pull_progress_sum(const struct pull_progress *progress,
		       struct image_progress *sum);

#endif
