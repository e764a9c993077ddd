/* image_inspect.h - reads what the engine reports of an image that it has.
 * Pure.
 *
 * Source: Docker Engine API 1.41, "Inspect an image".
 */
#pragma once

#include "protocol/base/digest.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdint.h>

#define IMAGE_CONTENT_SIZE (DIGEST_HEX_SIZE + 7)

/* An image that the engine has; all borrowed for the time of the callback. */
struct image {
	const char *id; /* sha256:<64 hex>, by which this engine calls it */
	char content[IMAGE_CONTENT_SIZE]; /* as image_content() tells it */
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

/* What an image is: "sha256:" and the hash of its layers (the hashes of their
 * unpacked tar files) and of its entry point, command, environment, user,
 * working folder and volumes. Engines call the same image by different ids, by
 * the hash of its config or of a manifest; this is the same on all of them, and
 * in the config itself. config: "Config" of an engine's answer, or "config" of
 * an image's config; layers: "RootFS"."Layers", or "rootfs"."diff_ids".
 * Source: Docker Engine API 1.51, OCI image specification 1.1.
 */
void image_content(const cJSON *config, const cJSON *layers,
		   char content[IMAGE_CONTENT_SIZE]);

/* The same, of an engine's answer. */
void image_inspect_content(const cJSON *answer,
			   char content[IMAGE_CONTENT_SIZE]);

/* Label of an image that an agent built: the hash of its build context. */
#define CONTEXT_LABEL "regatta.context"

/* The value of a label of the image; "": no such label. */
const char *image_inspect_label(const cJSON *answer, const char *name);
