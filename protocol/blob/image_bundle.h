/* image_bundle.h - the images of a file as a list of blobs, one for each config
 * and layer.
 *
 * The bundle is itself a blob, as JSON. The command line makes it from a
 * file of docker save, or of an OCI layout. A node makes an archive for its
 * engine from it. Nothing else of the file goes further: neither its paths, nor
 * its own lists of names.
 */
#pragma once

#include "protocol/blob/blob_store.h"
#include "protocol/message/codec.h"

#define IMAGE_BUNDLE_BYTES_MAX (4 << 20) /* of the JSON */
#define IMAGE_BUNDLE_BLOBS_MAX 4000
#define IMAGE_BUNDLE_TAGS_MAX 128 /* different ones; engines list each */
#define IMAGE_BUNDLE_CONFIG_MAX (8 << 20) /* bytes of a config */

/* Hashes are those of blobs in the bundle. */
struct image_bundle_image {
	char *config;          /* "sha256:" and this is the image's id */
	char *platform;        /* "linux/amd64"; NULL: not known */
	struct strings tags;   /* name:tag */
	struct strings layers; /* from the lowest; each may be packed */
};

struct image_bundle_blob {
	char *hash;
	uint64_t bytes;
	bool spare; /* the engine does not need it; never sent */
};

struct image_bundle {
	struct image_bundle_image *images;
	size_t images_count;
	struct image_bundle_blob *blobs; /* in the order to send them; each hash
					    once */
	size_t blobs_count;
};
extern const struct schema image_bundle_schema;

void image_bundle_clear(struct image_bundle *bundle);
OWNED_VALUE(struct image_bundle, image_bundle_clear)

/* EINVAL: more than IMAGE_BUNDLE_TAGS_MAX names. */
int image_bundle_check_names(const struct image_bundle *bundle,
			     struct error *err);

/* Remove the last image; there is one. */
void image_bundle_drop_last(struct image_bundle *bundle);

/* Read a bundle of a peer, which is not trusted. EPROTO: it is not valid. */
int image_bundle_parse(const char *text, size_t size,
		       struct image_bundle *bundle, struct error *err);

/* Keep only the images for this platform, as "linux/amd64", and those of an
 * unknown one. EINVAL: then a name, or all, would be missing.
 */
int image_bundle_choose(struct image_bundle *bundle, const char *platform,
			struct error *err);

/* By its hash; NULL: it is not in the bundle. */
struct image_bundle_blob *image_bundle_blob(const struct image_bundle *bundle,
					    const char *hash);

/* Bytes of all blobs that are not spare. */
uint64_t image_bundle_bytes(const struct image_bundle *bundle);

/* The bundle as a stream that engines load: a manifest.json, and the blobs that
 * are not spare.
 */
struct assembly;
struct assembly *assembly_new(struct blob_store *blobs,
			      const struct image_bundle *bundle,
			      struct error *err);
void assembly_free(struct assembly *assembly);
OWNED_POINTER(struct assembly, assembly_free)

/* So many blobs, from the first one, are in the store or spare. */
void assembly_grow(struct assembly *assembly, size_t blobs);

/* Read the next bytes, at most size; 0: the end; -1 with *err set. EAGAIN: they
 * are of a blob that is not there yet.
 */
ssize_t assembly_read(void *assembly, void *buffer, size_t size,
		      struct error *err);
