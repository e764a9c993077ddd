/* blob_store_internal.h - the folders of a store, for the files that make it
 * up: blob_store.c keeps what is whole, incoming.c takes in what comes.
 */
#ifndef PROTOCOL_BLOB_BLOB_STORE_INTERNAL_H
#define PROTOCOL_BLOB_BLOB_STORE_INTERNAL_H

#include "protocol/blob/blob_store.h"

#include <dirent.h>
#include <sys/stat.h>

#define HASH_PIECE (256 << 10)

enum place { PARTIAL, LOOSE, KEPT, PLACES };

struct blob_store {
	int folders[PLACES];
	int users;     /* the folder */
	DIR *walk;     /* through it, under way */
	bool unsynced; /* kept/ has names that a power cut may take */
	uint64_t made; /* names of the new ones */
	char *piece;   /* HASH_PIECE */
};

/* EPROTO: no hash. */
int blob_check_hash(const char *hash, struct error *err);

/* Where it is, whole ones first; PLACES: nowhere. */
enum place blob_find(struct blob_store *contents, const char *hash,
		     struct stat *st);

#endif
