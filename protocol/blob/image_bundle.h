/* image_bundle.h - an image file as a list of contents, in order.
 *
 * The bundle is itself a content, as JSON. The command line makes it from a
 * file of docker save. Nodes assemble the file again from its parts, of which
 * images may share some.
 */
#ifndef PROTOCOL_BLOB_IMAGE_BUNDLE_H
#define PROTOCOL_BLOB_IMAGE_BUNDLE_H

#include "protocol/blob/blob_store.h"
#include "protocol/message/codec.h"

#define IMAGE_BUNDLE_BYTES_MAX (4 << 20) /* of the JSON */
#define IMAGE_BUNDLE_ENTRIES_MAX 20000

struct image_bundle_image {
	char *id; /* sha256:<64 hex> */
	struct strings tags;
};

/* A file has a content, a link has a target. */
struct image_bundle_entry {
	char *path;
	char *content;
	uint64_t bytes;
	char *link;
};

struct image_bundle {
	struct image_bundle_image *images;
	size_t images_count;
	struct image_bundle_entry *entries;
	size_t entries_count;
};
extern const struct schema image_bundle_schema;

void image_bundle_clear(struct image_bundle *bundle);
OWNED_VALUE(struct image_bundle, image_bundle_clear)

/* Read a bundle of a peer, which is not trusted. EPROTO: it is not valid, also
 * when a path occurs twice, in whatever form, or leads through a link.
 */
int image_bundle_parse(const char *text, size_t size,
		       struct image_bundle *bundle, struct error *err);

/* Remove the entries for which which() returns true; returns their number. */
typedef bool image_bundle_entry_fn(const struct image_bundle_entry *entry,
				   const void *arg);
size_t image_bundle_drop(struct image_bundle *bundle,
			 image_bundle_entry_fn *which, const void *arg);

/* Bytes of all its contents, each counted once. */
uint64_t image_bundle_bytes(const struct image_bundle *bundle);

/* Has an earlier entry the same content? */
bool image_bundle_repeats(const struct image_bundle *bundle, size_t entry);

/* The image file as a stream. */
struct assembly;
struct assembly *assembly_new(struct blob_store *contents,
			      const struct image_bundle *bundle,
			      struct error *err);
void assembly_free(struct assembly *assembly);
OWNED_POINTER(struct assembly, assembly_free)

/* The contents of the first `entries` entries are here (at first none): the
 * stream may continue up to the head of the next entry.
 */
void assembly_let(struct assembly *assembly, size_t entries);

/* Read the next bytes, at most size; 0: the end; -1 with *err set. EAGAIN: the
 * stream must wait for assembly_let().
 */
ssize_t assembly_read(void *assembly, void *buffer, size_t size,
		      struct error *err);

#endif
