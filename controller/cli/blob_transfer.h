/* blob_transfer.h - contents between this machine and the controller.
 */
#ifndef CONTROLLER_CLI_BLOB_TRANSFER_H
#define CONTROLLER_CLI_BLOB_TRANSFER_H

#include "controller/cli/calls.h"
#include "protocol/blob/blob_store.h"

/* The next bytes of what is sent: at most size; 0: the end. */
typedef ssize_t blob_transfer_read_fn(void *arg, void *buffer, size_t size,
				      struct error *err);
/* So much of it is at the other side. */
typedef void blob_transfer_progress_fn(void *arg, uint64_t bytes,
				       uint64_t total);

/* What is sent, and how it is read: begin() starts at its first byte again. */
struct blob_transfer {
	const char *hash;
	uint64_t bytes;
	int (*begin)(void *arg, struct error *err);
	blob_transfer_read_fn *read;
	blob_transfer_progress_fn *progress; /* or NULL */
	void *arg;
};

/* Have the content at the controller: sent from where an earlier try ended, and
 * not at all when it is there. EINVAL: it has changed meanwhile.
 */
int blob_transfer_put(struct client *client,
		      const struct blob_transfer *transfer, struct error *err);

/* Write the content to fd, from its first byte. EBADMSG: other bytes came. */
int blob_transfer_get(struct client *client, const char *hash, int fd,
		      blob_transfer_progress_fn *progress, void *arg,
		      struct error *err);

#endif
