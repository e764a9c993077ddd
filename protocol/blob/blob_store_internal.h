/* blob_store_internal.h - the folders of a store: blob_store.c has the complete
 * blobs, incoming.c receives new ones.
 */
#pragma once

#include "protocol/blob/blob_store.h"

#include <dirent.h>
#include <sys/stat.h>

#define HASH_PIECE (256 << 10)

enum place { PARTIAL, LOOSE, KEPT, PLACES };

struct blob_store {
	int folders[PLACES];
	int users;     /* the folder */
	DIR *walk;     /* through users, in progress */
	bool unsynced; /* kept/ must be synced */
	uint64_t made; /* counter for new-* names */
	char *piece;   /* HASH_PIECE */
};

/* EPROTO: not a hash. */
int blob_check_hash(const char *hash, struct error *err);

/* Where it is; complete ones are found first. PLACES: nowhere. */
enum place blob_find(struct blob_store *blobs, const char *hash,
		     struct stat *st);
