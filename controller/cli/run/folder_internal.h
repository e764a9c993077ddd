/* folder_internal.h - shared by folder.c (one machine) and folder_slurm.c
 * (Slurm allocations).
 */
#pragma once

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

/* Set the absolute path. ENOENT: no such folder; EINVAL: the path is too long.
 */
int folder_set_path(struct folder *folder, const char *name, struct error *err);

/* Make missing files of the locked folder, after the daemons of an earlier run
 * have ended. cli: for a message while it waits; NULL: there is none.
 */
int folder_fill(struct folder *folder, struct cli *cli, struct error *err);

/* Write the keys that the controller accepts: of the agents, of the operator.
 */
int folder_authorize(const struct folder *folder, const struct key *agents,
		     size_t count, struct error *err);
