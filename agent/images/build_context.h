/* build_context.h - the build context of a folder, as a tar stream.
 *
 * The tar stream of the folder (protocol/blob/tarball.h), without the paths
 * that its .dockerignore excludes. As with Docker, the Dockerfile and
 * .dockerignore are always included.
 */
#ifndef AGENT_IMAGES_BUILD_CONTEXT_H
#define AGENT_IMAGES_BUILD_CONTEXT_H

#include "protocol/blob/tarball.h"

struct build_context;

/* EINVAL: the folder or its .dockerignore is not valid. */
struct build_context *build_context_new(const char *folder, struct error *err);
void build_context_free(struct build_context *context);
OWNED_POINTER(struct build_context, build_context_free)

/* Borrowed. The caller reads it to its end. */
struct tarball *build_context_tarball(struct build_context *context);

#endif
