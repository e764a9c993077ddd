/* context.h - what a folder of ours is built from: a build context.
 *
 * The tar stream of the folder (protocol/blob/tarball.h), without what its
 * .dockerignore names. The Dockerfile and the .dockerignore themselves are
 * always there, as Docker has it.
 */
#ifndef AGENT_ENGINE_CONTEXT_H
#define AGENT_ENGINE_CONTEXT_H

#include "protocol/blob/tarball.h"

struct context;

/* EINVAL: what is wrong with the folder, or its .dockerignore. */
struct context *context_new(const char *folder, struct error *err);
void context_free(struct context *context);
OWNED_POINTER(struct context, context_free)

/* Borrowed: to be read to its end. */
struct tarball *context_tarball(struct context *context);

#endif
