/* blob_transfer.h - sends blobs to the controller, and fetches them.
 */
#pragma once

#include "controller/cli/client.h"
#include "protocol/blob/blob_store.h"

/* Read the next bytes of the blob, at most size; 0: the end. */
typedef ssize_t blob_transfer_read_fn(void *arg, void *buffer, size_t size,
				      struct error *err);
/* Reports how many bytes have arrived at the other side. */
typedef void blob_transfer_progress_fn(void *arg, uint64_t bytes,
				       uint64_t total);

/* A blob to send. begin() (re)starts reading at its first byte. */
struct blob_transfer {
	const char *hash;
	uint64_t bytes;
	const char *data; /* it is in memory; NULL: it is read */
	int (*begin)(void *arg, struct error *err);
	blob_transfer_read_fn *read;
	blob_transfer_progress_fn *progress; /* or NULL */
	void *arg;
};

/* Make sure that the controller has the blob. Bytes that it already has,
 * from an earlier attempt, are not sent again. EINVAL: the blob changed
 * meanwhile.
 */
int blob_transfer_put(struct client *client,
		      const struct blob_transfer *transfer, struct error *err);

/* Write bytes that came; 0, or -1. */
typedef int blob_transfer_write_fn(void *to, const void *data, size_t size,
				   struct error *err);

blob_transfer_write_fn blob_transfer_to_file; /* to: int *, its fd */

/* Fetch the blob, a file of this job (0: of none). EBADMSG: the bytes, all
 * written, do not match the hash.
 */
int blob_transfer_get(struct client *client, uint64_t job, const char *hash,
		      blob_transfer_write_fn *write, void *to,
		      blob_transfer_progress_fn *progress, void *arg,
		      struct error *err);
