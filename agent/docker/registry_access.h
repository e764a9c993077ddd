/* registry_access.h - access to registries: which login, and whether with
 * TLS.
 *
 * Only the engine speaks to registries; here it is found out what it must be
 * told, and whether it may. Who we are there: what came with the job goes
 * before this node's own file. Without TLS, or with whatever certificate, the
 * engine reaches those registries that its own settings say so of; the node's
 * policy has the last word about them (insecure_registries).
 */
#ifndef AGENT_DOCKER_REGISTRY_ACCESS_H
#define AGENT_DOCKER_REGISTRY_ACCESS_H

#include "agent/docker/engine.h"
#include "agent/docker/registries.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"

struct registry_access_way {
	const char *header; /* X-Registry-Auth: or, of many, X-Registry-Config:;
			       NULL: we are nobody there */
	bool gone;        /* what came with the job for it is no longer there */
	const char *root; /* the engine's folder; NULL: not told */
};

/* Runs from the loop, once; exactly one of err and way is NULL, way and what is
 * in it live as long as the call. EPERM: the policy forbids it.
 */
typedef void registry_access_done_fn(void *arg, const struct error *err,
				     const struct registry_access_way *way);

struct registry_access;

/* host: HOST[:PORT], "docker.io" for the Hub. NULL: any, as the engine alone
 * knows where the base images of a build come from; then all credentials that
 * there are go into the header, and the policy must allow all that the engine
 * reaches without TLS. logins are copied.
 */
struct registry_access *
registry_access_begin(sd_event *loop, struct engine *engine,
		      const struct registries *registries, const char *host,
		      const struct registry_login *logins, size_t count,
		      registry_access_done_fn *done, void *arg,
		      struct error *err);
/* done() does not run. NULL is fine. */
void registry_access_cancel(struct registry_access *approach);
OWNED_POINTER(struct registry_access, registry_access_cancel)

/* Can all of them be opened? EKEYREJECTED: this node had another key then. One
 * that is gone is fine.
 */
int registry_access_check(const struct registries *registries,
			  const struct registry_login *logins, size_t count,
			  struct error *err);

#define REGISTRY_ACCESS_WHO_BYTES 16
#define REGISTRY_ACCESS_KEY_BYTES 32

/* What the logins for a host (NULL: for all) amount to: the same for the same
 * credentials, whoever sealed them how often; all zero where there are none.
 * Nothing of them can be told from it. key: random, of this process.
 */
void registry_access_who(const struct registries *registries, const char *host,
			 const struct registry_login *logins, size_t count,
			 const unsigned char key[REGISTRY_ACCESS_KEY_BYTES],
			 unsigned char who[REGISTRY_ACCESS_WHO_BYTES]);

#endif
