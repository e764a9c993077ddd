/* environment.h - the environment of a process: the container's, then ours.
 */
#ifndef AGENT_INIT_ENVIRONMENT_H
#define AGENT_INIT_ENVIRONMENT_H

#include "agent/init/start.h"

/* A NULL-ended array of NAME=VALUE: `base`, over it the start file's env=
 * records (the last of a name counts), over both RANK and LOCAL_RANK when it
 * asks for them. Sorted by name. The strings of base and start are borrowed.
 * NULL: out of memory.
 */
char **environment_new(char **base, const struct start *start, uint32_t rank,
		       uint32_t local_rank);
void environment_free(char **environment); /* NULL is fine */

/* The value of a name, or NULL. */
const char *environment_get(char **environment, const char *name);

#endif
