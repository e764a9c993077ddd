/* progress.h - the engine's many small words about a pull or build, summed up.
 *
 * Pure: objects of engine_image_pull() or engine_image_build() go in, one
 * image_progress comes out. At most PROGRESS_LAYERS_MAX layers are counted.
 */
#ifndef AGENT_ENGINE_PROGRESS_H
#define AGENT_ENGINE_PROGRESS_H

#include "agent/engine/image.h"

#include <cjson/cJSON.h>

#define PROGRESS_LAYERS_MAX 512

struct progress;

struct progress *progress_new(struct error *err);
void progress_free(struct progress *progress);
OWNED_POINTER(struct progress, progress_free)

/* Forget all, for another attempt. */
void progress_reset(struct progress *progress);

/* Take in one object. Any object is safe; unknown ones change nothing. */
void progress_pull(struct progress *progress, const cJSON *object);
void progress_build(struct progress *progress, const cJSON *object);

/* Phase, bytes and layers of *sum are set; in a build the layers are steps and
 * the bytes are left as they are.
 */
void progress_sum(const struct progress *progress, struct image_progress *sum);

#endif
