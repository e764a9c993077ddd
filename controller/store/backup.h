/* backup.h - saves the controller's whole state to one file, and restores
 * it.
 *
 * A backup is a tar file, compressed by gzip, of the state folder: a snapshot
 * of the database, then logs and blobs. The controller may run meanwhile:
 * the snapshot is of one moment, and the files only grow, so they contain
 * everything that was committed then. The controller's keys are not in it.
 *
 * A controller that starts from a backup continues as after a restart: running
 * jobs go on, and nodes send the missing output again. Jobs that were submitted
 * after the backup are not known; agents remove them.
 */
#pragma once

#include "protocol/base/error.h"

/* Blocks; a running controller calls it in a child process. The file (0600) is
 * complete, or does not exist. EPROTO: the folder has no store.
 */
int backup_write(const char *state, const char *file, struct error *err);

/* Restore into a folder that does not exist or is empty. The files get the
 * folder's owner. EEXIST: it is not empty; EPROTO: not a backup, or one of a
 * newer version.
 */
int backup_restore(const char *file, const char *state, struct error *err);
