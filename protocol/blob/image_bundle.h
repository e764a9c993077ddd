/* image_bundle.h - an image file as a list of contents, in order.
 *
 * Itself a content, as JSON. The command line makes it of a file as docker save
 * writes it; nodes put that file together again, of parts of which many images
 * share some.
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

/* Read one that a peer made: EPROTO says what is wrong. No path is there twice,
 * however it is written, nor leads over a link.
 */
int image_bundle_parse(const char *text, size_t size,
		       struct image_bundle *bundle, struct error *err);

/* Take out the entries that which() says; how many. */
typedef bool image_bundle_entry_fn(const struct image_bundle_entry *entry,
				   const void *arg);
size_t image_bundle_drop(struct image_bundle *bundle,
			 image_bundle_entry_fn *which, const void *arg);

/* Bytes of all its contents, each once. */
uint64_t image_bundle_bytes(const struct image_bundle *bundle);

/* Is the content of this entry that of an earlier one? */
bool image_bundle_repeats(const struct image_bundle *bundle, size_t entry);

/* The file again, as a stream. */
struct assembly;
struct assembly *assembly_new(struct blob_store *contents,
			      const struct image_bundle *bundle,
			      struct error *err);
void assembly_free(struct assembly *assembly);
OWNED_POINTER(struct assembly, assembly_free)

/* The contents of so many entries, from the first one on, are there (at first
 * none): the stream may go on to the head of the next one.
 */
void assembly_let(struct assembly *assembly, size_t entries);

/* The next bytes, at most size; 0: the end; -1 with *err set. EAGAIN: there are
 * none before assembly_let() lets more.
 */
ssize_t assembly_read(void *assembly, void *buffer, size_t size,
		      struct error *err);

#endif
