/* folder_internal.h - what the files of a run's folder share: folder.c has the
 * folder of one machine, folder_slurm.c what allocations add to it.
 */
#ifndef CONTROLLER_CLI_RUN_FOLDER_INTERNAL_H
#define CONTROLLER_CLI_RUN_FOLDER_INTERNAL_H

#include "controller/cli/run/folder.h"

/* Into *key from keys/FILE, which is made if it is not there. */
int folder_have_key(const struct folder *folder, const char *file,
		    const char *name, enum role role, struct key *key,
		    struct error *err);

/* Path and keys of the folder of an earlier run, and its label; it is not
 * locked. ENOENT: no run was ever in it.
 */
int folder_find(struct folder *folder, const char *name, struct error *err);

/* Lock what is found, if nobody has it: 1. 0: somebody has. */
int folder_try_lock(struct folder *folder, struct error *err);

/* Make what is not there yet, once it is locked, and wait for daemons of an
 * earlier run, as folder_resume() says.
 */
int folder_fill(struct folder *folder, void (*wait)(void *arg), void *arg,
		struct error *err);

#endif
