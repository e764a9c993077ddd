/* registry_access.h - access to registries: which login, and whether with
 * TLS.
 *
 * Only the engine connects to registries. This module finds the login that it
 * needs, and whether it may use the registry. A login of the job takes
 * precedence over the node's own file. The engine's settings say which
 * registries it reaches without TLS or a checked certificate; the node's policy
 * must allow these (insecure_registries).
 */
#pragma once

#include "agent/docker/engine.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"

struct node_policy; /* agent/policy/node_policy.h */

/* The logins and settings of this node for registries; borrowed. */
struct registries {
	const char *credentials; /* a config.json as Docker's, or NULL */
	bool local;              /* the engine's disk is this machine's */
	const struct key *key;   /* opens the logins of a job */
	const char *controller;  /* public key that sealed them */
	const char *former;      /* the previous one; NULL or "": none */
	const struct node_policy *node_policy; /* NULL: all are allowed */
};

/* The rules of the node; NULL: none. */
const struct policy *registries_policy(const struct registries *registries);

/* login_open() with these keys. */
int registries_open(const struct registries *registries,
		    const struct registry_login *login,
		    struct credential *credential, struct error *err);

struct registry_access_way {
	const char *header; /* "X-Registry-Auth: ...", or for all registries
			       "X-Registry-Config: ..."; NULL: no login */
	bool gone;          /* the job's login for it was deleted */
	const cJSON *info;  /* of the engine */
};

/* Called from the loop, once. Exactly one of err and way is NULL; way is valid
 * during the call. EPERM: the policy forbids it.
 */
typedef void registry_access_done_fn(void *arg, const struct error *err,
				     const struct registry_access_way *way);

struct registry_access;

/* host: HOST[:PORT], "docker.io" for the Hub. NULL: any, for a build, whose
 * base images only the engine knows. Then the header has all logins, and the
 * policy must allow all registries that the engine reaches without TLS. logins
 * are copied.
 */
struct registry_access *
registry_access_begin(sd_event *loop, struct engine *engine,
		      const struct registries *registries, const char *host,
		      const struct registry_login *logins, size_t count,
		      registry_access_done_fn *done, void *arg,
		      struct error *err);
/* done() does not run. NULL is fine. */
void registry_access_cancel(struct registry_access *access);
OWNED_POINTER(struct registry_access, registry_access_cancel)

/* Can all of them be opened? EKEYREJECTED: they are sealed for an earlier key
 * of this node. A deleted one is fine.
 */
int registry_access_check(const struct registries *registries,
			  const struct registry_login *logins, size_t count,
			  struct error *err);

#define REGISTRY_ACCESS_WHO_BYTES 16
#define REGISTRY_ACCESS_KEY_BYTES 32

/* An identifier of the logins for a host (NULL: for all): equal for equal
 * credentials, all zero without any. It reveals nothing of them. key: random,
 * of this process.
 */
void registry_access_who(const struct registries *registries, const char *host,
			 const struct registry_login *logins, size_t count,
			 const unsigned char key[REGISTRY_ACCESS_KEY_BYTES],
			 unsigned char who[REGISTRY_ACCESS_WHO_BYTES]);
