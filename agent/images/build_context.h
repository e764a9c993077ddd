/* build_context.h - the build context of a folder, as a tar stream.
 *
 * The tar stream of the folder (protocol/blob/tarball.h), without the paths
 * that its .dockerignore excludes. As with Docker, the Dockerfile and
 * .dockerignore are always included.
 */
#pragma once

#include "protocol/blob/tarball.h"

#include <systemd/sd-event.h>

struct build_context;

/* EINVAL: the folder or its .dockerignore is not valid. An agent as root reads
 * with the rights of him to whom the Dockerfile belongs, also from a folder
 * that others may write: what he cannot read is an error (EINVAL), and of
 * root's files, too, those that its mode closes.
 */
struct build_context *build_context_new(const char *folder, struct error *err);
void build_context_free(struct build_context *context); /* NULL is fine */
OWNED_POINTER(struct build_context, build_context_free)

/* As tarball_read(). */
ssize_t build_context_read(struct build_context *context, void *buffer,
			   size_t size, struct error *err);

/* For the hash and the size of what was read; borrowed. */
struct tarball *build_context_tarball(struct build_context *context);

/* Called once, from the loop. err NULL: the SHA-256 of the context (64 hex
 * digits, borrowed) and its size. build_context_free() may be called within it.
 */
typedef void build_context_hash_fn(void *arg, const struct error *err,
				   const char *hash, uint64_t bytes);

/* Read the context to its end, for a short time per turn of the loop, so that a
 * large folder delays nothing else.
 */
int build_context_hash(struct build_context *context, sd_event *loop,
		       build_context_hash_fn *done, void *arg,
		       struct error *err);
