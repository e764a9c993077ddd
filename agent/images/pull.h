/* pull.h - pulls one image from its registry to the engine.
 *
 * It first finds the login and whether the registry has TLS
 * (registry_access.h). If the engine can resolve a name to a digest, it pulls
 * by digest, so that a moving tag does no harm. Sizes come from the engine's
 * progress messages.
 *
 * A pull fails when nothing of the image moves for stall_ms, or for ten times
 * as long while layers are unpacked; there is no other time limit. An engine
 * that repeats its last report moves nothing. It is tried three times, with a
 * pause of retry_ms and then of four times that, or fifteen times as long when
 * the registry limits requests. An error that no retry can help (no such image,
 * no access, the policy) is final at once. When the disk is full, the pull
 * frees space once, if it can (agent/images/prune.h), and is tried
 * again.
 */
#pragma once

#include "agent/images/image_services.h"

/* How long a build, or its script, may be silent: ten times stall_ms. */
uint32_t image_silence_ms(const struct image_services *services);

/* Called once. err NULL: the engine has the image, as target. */
typedef void pull_done_fn(void *arg, const struct error *err,
			  const char *target);

struct pull;

/* logins: the job's, sealed for this node; copied. Callbacks come from the loop
 * only, never from inside the call. The handle is freed after done().
 */
struct pull *pull_begin(const struct image_services *services,
			const char *reference,
			const struct registry_login *logins, size_t count,
			image_news_fn *news, pull_done_fn *done, void *arg,
			struct error *err);

/* Only ask the registry whether it has name@digest: that is the target then.
 * ENOTSUP: the engine does not tell. It is tried once.
 */
struct pull *pull_ask(const struct image_services *services,
		      const char *reference,
		      const struct registry_login *logins, size_t count,
		      pull_done_fn *done, void *arg, struct error *err);

/* Before done(): no callback runs any more. NULL is fine. */
void pull_cancel(struct pull *pull);
OWNED_POINTER(struct pull, pull_cancel)
