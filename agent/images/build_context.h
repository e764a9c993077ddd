/* build_context.h - the build context of a folder, as a tar stream.
 *
 * The tar stream of the folder (protocol/blob/tarball.h), without what its
 * .dockerignore names. The Dockerfile and the .dockerignore themselves are
 * always there, as Docker has it.
 */
#ifndef AGENT_IMAGES_BUILD_CONTEXT_H
#define AGENT_IMAGES_BUILD_CONTEXT_H

#include "protocol/blob/tarball.h"

struct build_context;

/* EINVAL: what is wrong with the folder, or its .dockerignore. */
struct build_context *build_context_new(const char *folder, struct error *err);
void build_context_free(struct build_context *context);
OWNED_POINTER(struct build_context, build_context_free)

/* Borrowed: to be read to its end. */
struct tarball *build_context_tarball(struct build_context *context);

#endif
