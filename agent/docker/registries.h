/* registries.h - what this node knows of registries: plain data.
 */
#ifndef AGENT_DOCKER_REGISTRIES_H
#define AGENT_DOCKER_REGISTRIES_H

#include "protocol/wire/key.h"

#include <stdbool.h>

struct node_policy; /* agent/policy/node_policy.h */

/* Borrowed. */
struct registries {
	const char *credentials; /* a config.json as Docker's, or NULL */
	bool local;              /* the engine's disk is this machine's */
	const struct key *key;   /* opens what came with a job */
	const char *controller;  /* public key of who sealed that */
	const struct node_policy *node_policy; /* NULL: nothing is judged */
};

#endif
