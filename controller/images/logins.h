/* logins.h - the registry logins and secrets of sweeps: kept sealed, given
 * to nodes.
 *
 * What came with a sweep stays as it came, sealed for the controller, until the
 * last of its jobs has ended; then it goes, and only which registries it was
 * for, and the names of its secrets, stay. A node is sent what its image needs,
 * and all the secrets, opened and sealed anew for that node, when it is told to
 * prepare.
 */
#ifndef CONTROLLER_IMAGES_LOGINS_H
#define CONTROLLER_IMAGES_LOGINS_H

#include "protocol/message/message.h"

struct key;
struct store;

/* What it is given is borrowed; key: the controller's own,
 * former: the one that it had before, or one without a secret.
 */
struct sweep_logins;
struct sweep_logins *sweep_logins_new(struct store *store,
				      const struct key *key,
				      const struct key *former,
				      struct error *err);
void sweep_logins_free(struct sweep_logins *kept);

/* Those that the store has. */
int logins_load(struct sweep_logins *kept, struct error *err);

/* Are these good, and sealed for us by the owner of that key? EINVAL, EPROTO.
 */
int logins_accept(const struct sweep_logins *kept,
		  const struct registry_login *logins, size_t count,
		  const char *from, struct error *err);

/* Keep them with the sweep; of the same registry the new one counts. */
int logins_put(struct sweep_logins *kept, uint64_t sweep,
	       const struct registry_login *logins, size_t count,
	       struct error *err);

/* Add to a list the registries and secrets whose logins are gone, but for
 * those given. */
int logins_gone(struct sweep_logins *kept, uint64_t sweep,
		const struct registry_login *given, size_t count,
		struct strings *list, struct error *err);

/* Add to a list the secrets and what an image needs (NULL: all that there are,
 * for what a build is made from only its node knows), for the owner of that
 * key. One that cannot be opened any more goes as one that is gone. On failure
 * the list is as far as it came.
 */
int logins_give(struct sweep_logins *kept, uint64_t sweep, const char *public,
		const char *image, struct registry_login **to, size_t *count,
		struct error *err);

/* Add to a list what is sealed for us, for the owner of that key; as above. */
int logins_reseal(struct sweep_logins *kept, const struct registry_login *from,
		  size_t from_count, const char *public,
		  struct registry_login **to, size_t *count, struct error *err);

/* A job of the sweep has ended. */
void logins_ended(struct sweep_logins *kept, uint64_t sweep);

/* Forget those of sweeps that are over, and what is open; after a commit. */
void logins_settle(struct sweep_logins *kept);

#endif
