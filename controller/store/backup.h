/* backup.h - saves the controller's whole state to one file, and restores
 * it.
 *
 * A backup is a tar file, compressed by gzip, of what lies in the state folder:
 * a snapshot of the database, then logs and contents. The controller may run:
 * the snapshot is one moment of the database, and what was committed then is
 * in the files, which only grow. The keys of the controller are not in it.
 *
 * A controller that starts from it goes on as one that was away since: jobs
 * that still run are taken up, what their logs lack is sent again. Jobs that
 * were submitted since are strays, which agents remove.
 */
#ifndef CONTROLLER_STORE_BACKUP_H
#define CONTROLLER_STORE_BACKUP_H

#include "protocol/base/error.h"

/* Blocks; from a process of its own where a controller runs. The file (0600)
 * is there whole or not at all. EPROTO: the folder has no store.
 */
int backup_write(const char *state, const char *file, struct error *err);

/* Into a folder that is not there, or empty; what comes into it belongs to the
 * folder's owner. EEXIST: it is not empty; EPROTO: no backup of ours, or one of
 * a newer program.
 */
int backup_restore(const char *file, const char *state, struct error *err);

#endif
