/* blob_uploads.h - the blobs that people upload to the controller.
 *
 * At most BLOB_UPLOADS_MAX arrive at a time. An upload without bytes for a
 * minute frees its place, and may continue later. Nodes may await a blob
 * that is not here yet. It is expected until BLOB_UPLOADS_AWAIT_MS after the
 * last upload, or BLOB_UPLOADS_BACK_MS after the last uploader disconnected.
 */
#ifndef CONTROLLER_BLOBS_BLOB_UPLOADS_H
#define CONTROLLER_BLOBS_BLOB_UPLOADS_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/message.h"
#include "protocol/message/reply_logs.h"

#include <sys/types.h>

#define BLOB_UPLOADS_MAX 16
#define BLOB_UPLOADS_AWAIT_MS 600000
#define BLOB_UPLOADS_BACK_MS 60000
#define BLOB_UPLOADS_SENDERS_MAX 64 /* uploaders whose end is noticed */

struct wire_peer;

/* blobs is borrowed. */
struct blob_uploads;
struct blob_uploads *blob_uploads_new(struct blob_store *blobs,
				      struct error *err);
void blob_uploads_free(struct blob_uploads *uploads);
OWNED_POINTER(struct blob_uploads, blob_uploads_free)

/* Take the bytes if they continue the blob; *begins: it arrives from now on.
 * Returns how many were taken, or -1. EBUSY: too many uploads, or another size
 * than before.
 */
ssize_t blob_uploads_put(struct blob_uploads *uploads,
			 const struct wire_peer *sender,
			 const struct message_blob_put *message,
			 const void *data, size_t size,
			 struct reply_blob_put *reply, bool *begins,
			 struct error *err);

/* Is the blob arriving? Then *bytes is its whole size, and *stalled says
 * that its uploader is silent.
 */
bool blob_uploads_find(const struct blob_uploads *uploads, const char *hash,
		       uint64_t *bytes, bool *stalled);

/* May further blobs still come? */
bool blob_uploads_expected(const struct blob_uploads *uploads);

/* The person's session has ended. */
void blob_uploads_sender_gone(struct blob_uploads *uploads,
			      const struct wire_peer *sender);

/* Every half second. */
void blob_uploads_tick(struct blob_uploads *uploads);

#endif
