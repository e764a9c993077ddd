/* environment.h - the environment of a process of the command.
 */
#pragma once

#include "agent/init/start.h"

/* Where programs are looked for without a PATH. */
#define DEFAULT_PATH                                                           \
	"/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* A NULL-ended array of NAME=VALUE, sorted by name. RANK and LOCAL_RANK, if the
 * start file asks for them, override its env= records (the last one of a name),
 * which override base. The strings of base and start are borrowed. NULL: out of
 * memory.
 */
char **environment_new(char **base, const struct start *start, uint32_t rank,
		       uint32_t local_rank);
/* Prepend INIT_BIN to the PATH of all processes; call it once. -1: no memory.
 */
int environment_prepend(char **base, struct start *start);
void environment_free(char **environment); /* NULL is fine */

/* The value of a name, or NULL. */
const char *environment_get(char **environment, const char *name);
