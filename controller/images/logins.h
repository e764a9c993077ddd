/* logins.h - the registry logins and secrets of sweeps: stored sealed, and
 * sealed again for nodes.
 *
 * The logins and secrets of a sweep are stored as they came, sealed for the
 * controller, until the last of its jobs has ended. Then they are removed; only
 * the names of the registries and secrets stay. With the order to prepare, a
 * node gets the logins for its image and all secrets, opened and sealed for
 * that node.
 */
#pragma once

#include "protocol/message/message.h"

struct key;
struct store;

/* The arguments are borrowed. key: the controller's own; former: its previous
 * one, or a key without a secret.
 */
struct sweep_logins;
struct sweep_logins *sweep_logins_new(struct store *store,
				      const struct key *key,
				      const struct key *former,
				      struct error *err);
void sweep_logins_free(struct sweep_logins *kept);

/* Are these valid, and sealed for this controller by the owner of that key?
 * EINVAL, EPROTO.
 */
int logins_accept(const struct sweep_logins *kept,
		  const struct registry_login *logins, size_t count,
		  const char *from, struct error *err);

/* Store them with the sweep; a new login for the same registry replaces the old
 * one.
 */
int logins_put(struct sweep_logins *kept, uint64_t sweep,
	       const struct registry_login *logins, size_t count,
	       struct error *err);

/* Add to a list the registries and secrets whose values were removed, and are
 * not in `given`.
 */
int logins_gone(struct sweep_logins *kept, uint64_t sweep,
		const struct registry_login *given, size_t count,
		struct strings *list, struct error *err);

/* Add to a list the secrets and the logins for an image, sealed for the owner
 * of that key. image NULL: all logins, for a build, whose base images only the
 * node knows. A login that cannot be opened any more is sent as removed. On
 * failure some may have been added.
 */
int logins_give(struct sweep_logins *kept, uint64_t sweep, const char *public,
		const char *image, struct registry_login **to, size_t *count,
		struct error *err);

/* Add to a list logins that are sealed for this controller, sealed for the
 * owner of that key; as above.
 */
int logins_reseal(struct sweep_logins *kept, const struct registry_login *from,
		  size_t from_count, const char *public,
		  struct registry_login **to, size_t *count, struct error *err);

/* A job of the sweep has ended. */
void logins_ended(struct sweep_logins *kept, uint64_t sweep);

/* Remove those of sweeps that have ended, and opened values from memory; after
 * a commit.
 */
void logins_settle(struct sweep_logins *kept);
