/* blob_users.h - content that is kept for jobs and sweeps.
 *
 * What a job collected is kept until its output goes. A workspace is kept until
 * its sweep has been over for BLOB_USERS_OVER_MS. `contents` is the
 * controller's own store.
 */
#ifndef CONTROLLER_BLOBS_BLOB_USERS_H
#define CONTROLLER_BLOBS_BLOB_USERS_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/reply_logs.h"

#define BLOB_USERS_OVER_MS ((int64_t)30 * 24 * 3600 * 1000)

struct store;

/* Keep a collected file for its job, or a workspace for its sweep, from now on.
 * blob_store_sync() follows.
 */
int blob_users_keep_file(struct blob_store *contents, uint64_t job,
			 const char *hash, struct error *err);
int blob_users_keep_workspace(struct blob_store *contents, uint64_t sweep,
			      const char *hash, struct error *err);

/* Remove what the job collected, unless others collected the same; *bytes grows
 * by what is gone. Again is success.
 */
int blob_users_forget_job(struct blob_store *contents, struct store *store,
			  uint64_t job, uint64_t *bytes, struct error *err);

/* Name those files of a list that are gone. */
int blob_users_note_gone(struct blob_store *contents, struct file_info *files,
			 size_t count, struct error *err);

/* Release the workspaces of some of the sweeps that are over. true: there are
 * more to look at.
 */
bool blob_users_release(struct blob_store *contents, struct store *store);

#endif
