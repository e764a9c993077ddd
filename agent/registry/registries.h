/* registries.h - what this node knows of registries: plain data.
 */
#ifndef AGENT_REGISTRY_REGISTRIES_H
#define AGENT_REGISTRY_REGISTRIES_H

#include <stdbool.h>

/* Borrowed. */
struct registries {
	const char *credentials; /* a config.json as Docker's, or NULL */
	const char *authorities; /* HOST[:PORT]/ca.crt below it, or NULL */
	bool local;              /* the engine's disk is this machine's */
};

#endif
