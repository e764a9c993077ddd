/* blob_store.h - a store of files by their SHA-256.
 *
 * <folder>/content/ (0700) holds
 *
 *	partial/<hash>	what has come so far of one
 *	partial/new-*	one that is being made, its hash not yet known
 *	loose/<hash>	whole ones that nothing durable speaks of
 *	kept/<hash>	whole ones that a job or sweep refers to
 *	users/<hash>/<user>	and which: an empty file for each
 *
 * <hash> is the SHA-256 of the bytes, as 64 hex digits. A file is whole when it
 * stands in loose/ or kept/: it gets there by one rename, after its hash was
 * checked and its bytes were synced. Loose ones and partial ones are removed
 * when nobody has used them for a while, kept ones with their last user. The
 * store must be the only writer of its folder, which ends what another process
 * left half-made.
 */
#ifndef PROTOCOL_BLOB_BLOB_STORE_H
#define PROTOCOL_BLOB_BLOB_STORE_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define CONTENT_HASH_SIZE 65                  /* with the 0 */
#define CONTENT_BYTES_MAX ((uint64_t)1 << 40) /* of one */

/* 64 hex digits in lower case? NULL is none. */
bool content_hash_valid(const char *hash);

struct blob_store;

/* The folder must exist; content/ below it is made. */
struct blob_store *blob_store_new(const char *folder, struct error *err);
void blob_store_free(struct blob_store *contents);
OWNED_POINTER(struct blob_store, blob_store_free)

/* Hashes below come from peers: EPROTO, not a hash. */

/* How much there is of it, and whether that is all. Nothing is success. */
int blob_store_look(struct blob_store *contents, const char *hash,
		    uint64_t *bytes, bool *whole, struct error *err);

/* Open a whole one for reading, which counts as use; ENOENT. */
int blob_store_open(struct blob_store *contents, const char *hash,
		    struct error *err);

/* A whole one into *text, whose limit bounds it (E2BIG); ENOENT. */
int blob_store_text(struct blob_store *contents, const char *hash,
		    struct buffer *text, struct error *err);

/* Whoever needs it will use it; NULL, or one that is not here: nothing. */
void blob_store_touch(struct blob_store *contents, const char *hash);

/* Read size bytes at offset, also of one that is still coming. 1: done; 0: so
 * much has not come yet; ENOENT: there is nothing of it.
 */
int blob_store_read(struct blob_store *contents, const char *hash,
		    uint64_t offset, void *data, size_t size,
		    struct error *err);

/* It is about to come: reads of it wait from now on. */
int blob_store_expect(struct blob_store *contents, const char *hash,
		      struct error *err);

/* Do not remove it by age while this user ([a-z0-9-], at most CONTENT_USER_MAX)
 * has not released it. Kept again, it was used again. ENOENT.
 */
#define CONTENT_USER_MAX 40
int blob_store_keep(struct blob_store *contents, const char *hash,
		    const char *user, struct error *err);

/* The user needs it no more: what has no other one is removed, and *bytes (or
 * NULL) grows by its size. Not kept, or not by this user, is success.
 */
int blob_store_release(struct blob_store *contents, const char *hash,
		       const char *user, uint64_t *bytes, struct error *err);

/* Each user of what is kept, and when it was kept for it last (wall clock); fn
 * may release it. Of so many contents now, each some 10 us: 1: there are more,
 * call again; 0: that was the last one.
 */
typedef void blob_store_user_fn(void *arg, const char *hash, const char *user,
				int64_t used_ms);
int blob_store_users(struct blob_store *contents, size_t count,
		     blob_store_user_fn *fn, void *arg, struct error *err);

/* Let what was kept survive a power cut: once for many, for it takes its time.
 */
int blob_store_sync(struct blob_store *contents, struct error *err);

/* Remove what is not kept, and was not used for age_ms. *bytes (or NULL) is how
 * much that was.
 */
int blob_store_clean(struct blob_store *contents, uint64_t age_ms,
		     uint64_t *bytes, struct error *err);

#endif
