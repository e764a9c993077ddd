/* context_hash.h - the SHA-256 of a build context.
 *
 * It reads the build context (agent/images/build_context.h) for a short time
 * per turn of the loop, so that a large folder delays nothing else.
 */
#ifndef AGENT_IMAGES_CONTEXT_HASH_H
#define AGENT_IMAGES_CONTEXT_HASH_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdint.h>
#include <systemd/sd-event.h>

struct context_hash;

/* Called once, from the loop. err NULL: hash (64 hex digits, borrowed) and
 * bytes of the context. context_hash_cancel() may be called within it.
 */
typedef void context_hash_fn(void *arg, const struct error *err,
			     const char *hash, uint64_t bytes);

/* folder is borrowed for the length of the call. */
struct context_hash *context_hash_begin(sd_event *loop, const char *folder,
					context_hash_fn *done, void *arg,
					struct error *err);
/* done() will not run any more. Required after done(), too. NULL is fine. */
void context_hash_cancel(struct context_hash *reading);
OWNED_POINTER(struct context_hash, context_hash_cancel)

#endif
