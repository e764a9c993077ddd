/* workspace_upload.h - unpacks a workspace into a container.
 *
 * It makes a tar stream for engine_archive_put() at "/" from a content that is
 * a tar file, with every name moved below a folder. It converts 64 KiB at a
 * time. Only files, folders and links pass, and no name that leads out of the
 * folder.
 */
#ifndef AGENT_BLOBS_WORKSPACE_UPLOAD_H
#define AGENT_BLOBS_WORKSPACE_UPLOAD_H

#include "protocol/blob/blob_store.h"

struct workspace_upload;

/* folder: absolute, in the container. open: make everything writable for all
 * users, for a command that does not run as root. ENOENT: no such content.
 */
struct workspace_upload *workspace_upload_new(struct blob_store *contents,
					      const char *hash,
					      const char *folder, bool open,
					      struct error *err);
void workspace_upload_free(struct workspace_upload *upload);
OWNED_POINTER(struct workspace_upload, workspace_upload_free)

/* An engine_source_fn; its arg is the upload. */
ssize_t workspace_upload_read(void *upload, void *buffer, size_t size,
			      struct error *err);

#endif
