/* blob_users.h - blobs that are kept for jobs and sweeps.
 *
 * Collected files are kept until the output of their job is removed. A
 * workspace is kept until BLOB_USERS_OVER_MS after the end of its sweep.
 * `blobs` is the controller's store.
 */
#pragma once

#include "protocol/blob/blob_store.h"
#include "protocol/message/reply_logs.h"

#define BLOB_USERS_OVER_MS ((int64_t)30 * 24 * 3600 * 1000)

struct store;

/* Keep a collected file for its job, or a workspace for its sweep, from now on.
 * blob_store_sync() follows.
 */
int blob_users_keep_file(struct blob_store *blobs, uint64_t job,
			 const char *hash, struct error *err);
int blob_users_keep_workspace(struct blob_store *blobs, uint64_t sweep,
			      const char *hash, struct error *err);

/* Is it a collected file of the job, whose output is still here? */
bool blob_users_has_file(const struct blob_store *blobs, uint64_t job,
			 const char *hash);

/* Remove the collected files of the job, unless other jobs have the same;
 * *bytes grows by the bytes removed. A second call is success.
 */
int blob_users_forget_job(struct blob_store *blobs, struct store *store,
			  uint64_t job, uint64_t *bytes, struct error *err);

/* Set the text of those files of the list that were removed. */
int blob_users_note_gone(struct blob_store *blobs, struct file_info *files,
			 size_t count, struct error *err);

/* Release the workspaces of some sweeps that ended long ago. True: call again.
 */
bool blob_users_release(struct blob_store *blobs, struct store *store);
