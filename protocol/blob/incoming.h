/* incoming.h - receives a content: writes, hashes and syncs it, then stores
 * it.
 *
 * Until it is whole it stands in partial/ of its store (blob_store.h). What has
 * come of it stays there when its sender goes, and the next one goes on.
 */
#ifndef PROTOCOL_BLOB_INCOMING_H
#define PROTOCOL_BLOB_INCOMING_H

#include "protocol/blob/blob_store.h"

struct incoming;

/* hash: what it is to be, of exactly `bytes` bytes, taken up where an earlier
 * one ended; or NULL: that is found out, and bytes is a limit. EBUSY: it is
 * coming in already. E2BIG: more than CONTENT_BYTES_MAX. ENOSPC: what is still
 * to come does not fit on the disk.
 */
struct incoming *incoming_new(struct blob_store *contents, const char *hash,
			      uint64_t bytes, struct error *err);

/* What has come is kept for the next one, if the hash is known. */
void incoming_free(struct incoming *incoming);
OWNED_POINTER(struct incoming, incoming_free)

uint64_t incoming_length(const struct incoming *incoming);

/* Append. E2BIG: more than `bytes`; ENOSPC ... */
int incoming_write(struct incoming *incoming, const void *data, size_t size,
		   struct error *err);

/* All has come: check it and put it into its place. 1: not done, call again
 * (each call takes 0.1 s at most); 0: it is there, as `hash` says; -1: EBADMSG,
 * the bytes are not what they should be, and are dropped; EIO, ENOSPC: they did
 * not get onto the disk, and are dropped ...
 */
int incoming_finish(struct incoming *incoming, char hash[CONTENT_HASH_SIZE],
		    struct error *err);

#endif
