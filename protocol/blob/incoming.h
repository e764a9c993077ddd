/* incoming.h - receives a blob: writes, hashes and syncs it, then stores
 * it.
 *
 * Until it is complete it is in partial/ of its store (blob_store.h). When its
 * sender goes, the received bytes stay there, and the next sender continues.
 */
#pragma once

#include "protocol/blob/blob_store.h"

struct incoming;

/* hash: of the blob, which has exactly `bytes` bytes; earlier received bytes
 * are used. hash NULL: it is computed, and bytes is a limit. EBUSY: it is being
 * received already. E2BIG: more than BLOB_BYTES_MAX. ENOSPC: the missing
 * bytes do not fit on the disk.
 */
struct incoming *incoming_new(struct blob_store *blobs, const char *hash,
			      uint64_t bytes, struct error *err);

/* The received bytes stay for the next one, if the hash is known. */
void incoming_free(struct incoming *incoming);
OWNED_POINTER(struct incoming, incoming_free)

uint64_t incoming_length(const struct incoming *incoming);

/* Append. E2BIG: more than `bytes`; ENOSPC ... */
int incoming_write(struct incoming *incoming, const void *data, size_t size,
		   struct error *err);

/* All bytes are here: check and store them. 1: not done, call again (a call
 * takes 0.1 s at most); 0: it is in the store, under `hash`; -1: EBADMSG, the
 * hash is wrong; EIO, ENOSPC ..., they could not be synced. On failure they are
 * removed.
 */
int incoming_finish(struct incoming *incoming, char hash[BLOB_HASH_SIZE],
		    struct error *err);
