/* image_inspect.h - what the engine says of an image that it has. Pure.
 *
 * Source: Docker Engine API 1.41, "Inspect an image".
 */
#ifndef AGENT_DOCKER_IMAGE_INSPECT_H
#define AGENT_DOCKER_IMAGE_INSPECT_H

#include "agent/docker/image.h"

#include <cjson/cJSON.h>

/* All of *image but its reference; it borrows from the answer. target: what the
 * engine was asked for, by which one of several registries' names is chosen.
 * EPROTO: the answer has no id.
 */
int image_inspect_read(const cJSON *answer, const char *target,
		       struct image *image, struct error *err);

/* A label of the image; "": it has none of that name. */
const char *image_inspect_label(const cJSON *answer, const char *name);

#endif
