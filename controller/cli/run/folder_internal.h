/* folder_internal.h - shared by folder.c (one machine) and folder_slurm.c
 * (Slurm allocations).
 */
#ifndef CONTROLLER_CLI_RUN_FOLDER_INTERNAL_H
#define CONTROLLER_CLI_RUN_FOLDER_INTERNAL_H

#include "controller/cli/run/folder.h"

/* Read *key from keys/FILE, or make the file. */
int folder_have_key(const struct folder *folder, const char *file,
		    const char *name, enum role role, struct key *key,
		    struct error *err);

/* Read path, keys and label of the folder of an earlier run; does not lock it.
 * ENOENT: the folder has no run.
 */
int folder_find(struct folder *folder, const char *name, struct error *err);

/* Try to lock the folder. 1: locked; 0: another process holds the lock. */
int folder_try_lock(struct folder *folder, struct error *err);

/* Make missing files of the locked folder, and wait for the daemons of an
 * earlier run as folder_resume() does.
 */
int folder_fill(struct folder *folder, void (*wait)(void *arg), void *arg,
		struct error *err);

#endif
