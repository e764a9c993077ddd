/* workspace_upload.h - unpacks a workspace into a container.
 *
 * A tar stream for engine_archive_put() at "/", made from a content that is a
 * tar file: every name is put below a folder. It is read and written anew as it
 * goes, 64 KiB at a time. Only files, folders and links get through; nothing
 * that leads up.
 */
#ifndef AGENT_BLOBS_WORKSPACE_UPLOAD_H
#define AGENT_BLOBS_WORKSPACE_UPLOAD_H

#include "protocol/blob/blob_store.h"

struct workspace_upload;

/* folder: absolute, in the container. open: anyone there may write, for a
 * command that does not run as root. ENOENT: no such content.
 */
struct workspace_upload *workspace_upload_new(struct blob_store *contents,
					      const char *hash,
					      const char *folder, bool open,
					      struct error *err);
void workspace_upload_free(struct workspace_upload *insert);
OWNED_POINTER(struct workspace_upload, workspace_upload_free)

/* An engine_source_fn with the insert as its arg. */
ssize_t workspace_upload_read(void *insert, void *buffer, size_t size,
			      struct error *err);

#endif
