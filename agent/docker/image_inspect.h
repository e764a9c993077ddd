/* image_inspect.h - reads what the engine reports of an image that it has.
 * Pure.
 *
 * Source: Docker Engine API 1.41, "Inspect an image".
 */
#ifndef AGENT_DOCKER_IMAGE_INSPECT_H
#define AGENT_DOCKER_IMAGE_INSPECT_H

#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* An image that the engine has; all borrowed for the time of the callback. */
struct image {
	const char *id;        /* sha256:<64 hex> */
	const char *reference; /* the requested one; of a build, with its tag */
	const char *digest;    /* name@sha256:...; NULL: of no registry */
	const cJSON *entrypoint; /* array of strings, or NULL: none */
	const cJSON *command;    /* likewise */
	const cJSON *env;        /* likewise, NAME=VALUE */
	const char *user;        /* "" : root */
	const char *workdir;     /* "" : / */
	uint64_t size_bytes;
};

/* Fill *image except its reference; it borrows from the answer. target: the
 * name in the request, which chooses among names in several registries. EPROTO:
 * the answer has no id.
 */
int image_inspect_read(const cJSON *answer, const char *target,
		       struct image *image, struct error *err);

/* Label of an image that an agent built: the hash of its build context. */
#define CONTEXT_LABEL "regatta.context"

/* The value of a label of the image; "": no such label. */
const char *image_inspect_label(const cJSON *answer, const char *name);

#endif
