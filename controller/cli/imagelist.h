/* imagelist.h - finds the images of an image file by its manifest.
 *
 * Reads manifest.json of docker save, or index.json of an OCI image layout,
 * which may have an image for each of several platforms. Attestations are no
 * images. Sources: OCI Image Layout Specification 1.0, OCI Image Manifest
 * Specification 1.0; Docker Image Specification 1.2, "Combined Image JSON +
 * Filesystem Changeset Format"; BuildKit, "Image attestation storage".
 */
#pragma once

#include "protocol/blob/image_bundle.h"

#define IMAGE_FILE_ENTRIES_MAX 20000
#define IMAGE_FILE_TEXT_MAX (256 << 10) /* bytes of one text */
#define IMAGE_FILE_TEXTS_MAX (64 << 20) /* of all */

/* A file in the image file, or a link. */
struct image_file_entry {
	char *path; /* as unpack_path() makes it */
	char *link; /* a link: where it leads, as a path; else NULL */
	char hash[BLOB_HASH_SIZE]; /* "": of a layer, as its config tells */
	uint64_t bytes;
	char *text;   /* of small JSON; else NULL */
	size_t place; /* its number in the file */
};

struct image_file_entries {
	struct image_file_entry *list;
	size_t count;
	size_t text_bytes;
};

void image_file_entries_clear(struct image_file_entries *entries);

/* Add an entry of this path, a link to target (from its folder) or (NULL) a
 * file. The caller sets hash, bytes and place. Returns it until the next call;
 * NULL with EINVAL: it is not in the file, or there already.
 */
struct image_file_entry *
image_file_entry_add(struct image_file_entries *entries, const char *path,
		     const char *target, struct error *err);

/* Store a copy of the text, unless it is too much. */
int image_file_entry_keep(struct image_file_entries *entries,
			  struct image_file_entry *entry, const char *text,
			  size_t size, struct error *err);

/* The file of this path; links are followed. NULL: there is none. */
const struct image_file_entry *
image_file_entry_find(const struct image_file_entries *entries,
		      const char *path);

/* Fill the empty bundle: all images, and their blobs, configs first, then the
 * layers in the order of the file. EINVAL: not an image file, or a part is
 * missing. Layers get the hashes that they lack.
 */
int image_list(struct image_file_entries *entries, struct image_bundle *bundle,
	       struct error *err);
