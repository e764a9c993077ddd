/* registries.h - the registries that this node knows.
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
	const struct key *key;   /* opens what came with a job */
	const char *controller;  /* public key of who sealed that */
	const char *former;      /* the one before it; NULL, "": none */
	const struct node_policy *node_policy; /* NULL: nothing is judged */
};

struct credential;
struct registry_login;

/* login_open() of what the controller sealed for this node. */
int registries_open(const struct registries *registries,
		    const struct registry_login *login,
		    struct credential *credential, struct error *err);

#endif
