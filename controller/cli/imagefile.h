/* imagefile.h - a file with images, taken apart into contents.
 *
 * What docker save writes, and OCI image layouts as a tar file; plain or
 * compressed (gzip, zstd, xz, bzip2). It is read once to learn the hash of each
 * file in it, and once more as far as the controller lacks some.
 */
#ifndef CONTROLLER_CLI_IMAGEFILE_H
#define CONTROLLER_CLI_IMAGEFILE_H

#include "controller/cli/blob_transfer.h"
#include "protocol/blob/image_bundle.h"

struct image_file;

/* So many bytes of the (packed) file were read. */
typedef void image_file_progress_fn(void *arg, uint64_t bytes, uint64_t total);

/* EINVAL: what is wrong with it. */
struct image_file *image_file_open(const char *path,
				   image_file_progress_fn *progress, void *arg,
				   struct error *err);
void image_file_free(struct image_file *file);
OWNED_POINTER(struct image_file, image_file_free)

const struct image_bundle *image_file_bundle(const struct image_file *file);

/* Have its bundle at the controller; *hash: which that is. */
int image_file_send_bundle(const struct image_file *file, struct client *client,
			   char hash[CONTENT_HASH_SIZE], struct error *err);

/* Have all its parts there, in their order. */
int image_file_send(struct image_file *file, struct client *client,
		    blob_transfer_progress_fn *progress, void *arg,
		    struct error *err);

#endif
