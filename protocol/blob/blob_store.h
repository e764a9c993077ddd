/* blob_store.h - a store of files by their SHA-256.
 *
 * <folder>/content/ (0700) holds
 *
 *	partial/<hash>	a blob that is incomplete
 *	partial/new-*	one that is being made; its hash is not known yet
 *	loose/<hash>	complete ones without a user
 *	kept/<hash>	complete ones with users: jobs or sweeps
 *	users/<hash>/<user>	an empty file for each user
 *
 * <hash> is the SHA-256 of the bytes, as 64 hex digits. Files in loose/ and
 * kept/ are complete: they are moved there by one rename, after their hash was
 * checked and their bytes were synced. Loose and partial ones are removed when
 * nobody has used them for a while, kept ones with their last user. The store
 * must be the only writer of its folder. At its start it removes unfinished
 * new-* files.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/digest.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define BLOB_HASH_SIZE DIGEST_HEX_SIZE     /* with the 0 */
#define BLOB_BYTES_MAX ((uint64_t)1 << 40) /* of one */

/* 64 hex digits in lower case? NULL is none. */
bool blob_hash_valid(const char *hash);

struct blob_store;

/* The folder must exist; content/ below it is made. */
struct blob_store *blob_store_new(const char *folder, struct error *err);
void blob_store_free(struct blob_store *blobs);
OWNED_POINTER(struct blob_store, blob_store_free)

/* Hashes below come from peers: EPROTO, not a hash. */

/* How many bytes are here, and whether it is complete. A blob that is not
 * here is success with 0 bytes.
 */
int blob_store_look(struct blob_store *blobs, const char *hash, uint64_t *bytes,
		    bool *whole, struct error *err);

/* Open a complete one for reading, which counts as use; ENOENT. */
int blob_store_open(struct blob_store *blobs, const char *hash,
		    struct error *err);

/* Read a complete one into *text, whose limit bounds it (E2BIG); ENOENT. */
int blob_store_text(struct blob_store *blobs, const char *hash,
		    struct buffer *text, struct error *err);

/* Mark it as used now. NULL, or one that is not here, is ignored. */
void blob_store_touch(struct blob_store *blobs, const char *hash);

/* Read size bytes at offset, also of one that is still arriving. 1: done; 0:
 * these bytes are not here yet; ENOENT: nothing of it is here.
 */
int blob_store_read(struct blob_store *blobs, const char *hash, uint64_t offset,
		    void *data, size_t size, struct error *err);

/* It will arrive: blob_store_read() of it returns 0 from now on, not ENOENT. */
int blob_store_expect(struct blob_store *blobs, const char *hash,
		      struct error *err);

/* Keep it until this user ([a-z0-9-], at most BLOB_USER_MAX bytes) releases
 * it. A second call marks it as used again. ENOENT.
 */
#define BLOB_USER_MAX 40
int blob_store_keep(struct blob_store *blobs, const char *hash,
		    const char *user, struct error *err);

/* Does this user keep it? */
bool blob_store_keeps(const struct blob_store *blobs, const char *hash,
		      const char *user);

/* The user does not need it any more. Without another user it is removed, and
 * *bytes (or NULL) grows by its size. A blob that this user does not keep is
 * success.
 */
int blob_store_release(struct blob_store *blobs, const char *hash,
		       const char *user, uint64_t *bytes, struct error *err);

/* Call fn for each user of kept blobs, with the time of the last keep (wall
 * clock); fn may release it. Handles `count` blobs, each some 10 us. 1:
 * there are more, call again; 0: that was the last one.
 */
typedef void blob_store_user_fn(void *arg, const char *hash, const char *user,
				int64_t used_ms);
int blob_store_users(struct blob_store *blobs, size_t count,
		     blob_store_user_fn *fn, void *arg, struct error *err);

/* Make kept blobs survive a power cut. It is slow; call it once for many. */
int blob_store_sync(struct blob_store *blobs, struct error *err);

/* Remove blobs that are not kept, and were not used for age_ms. *bytes (or
 * NULL): the bytes removed.
 */
int blob_store_clean(struct blob_store *blobs, uint64_t age_ms, uint64_t *bytes,
		     struct error *err);
