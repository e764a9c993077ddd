/* registries.h - the logins and settings of this node for registries.
 */
#ifndef AGENT_DOCKER_REGISTRIES_H
#define AGENT_DOCKER_REGISTRIES_H

#include "protocol/base/error.h"
#include "protocol/wire/key.h"

#include <stdbool.h>

struct node_policy; /* agent/policy/node_policy.h */

/* Borrowed. */
struct registries {
	const char *credentials; /* a config.json as Docker's, or NULL */
	bool local;              /* the engine's disk is this machine's */
	const struct key *key;   /* opens the logins of a job */
	const char *controller;  /* public key that sealed them */
	const char *former;      /* the previous one; NULL or "": none */
	const struct node_policy *node_policy; /* NULL: all are allowed */
};

struct credential;
struct registry_login;

/* login_open() with these keys. */
int registries_open(const struct registries *registries,
		    const struct registry_login *login,
		    struct credential *credential, struct error *err);

#endif
