/* imagefile.h - finds the blobs of an image file and sends them.
 *
 * Accepts the output of docker save and tar files of OCI image layouts, plain
 * or compressed (gzip, zstd, xz, bzip2). The file is read once to find its
 * lists, and a second time to send the blobs that the controller lacks. A hash
 * that the file tells is not computed: in its name, or, of a layer that is not
 * packed, in its image's config. The controller checks what it gets.
 */
#pragma once

#include "controller/cli/blob_transfer.h"
#include "protocol/blob/image_bundle.h"

struct image_file;

/* Reports how many bytes of the (compressed) file were read. */
typedef void image_file_progress_fn(void *arg, uint64_t bytes, uint64_t total);

/* EINVAL: not a valid image file; the text says why. */
struct image_file *image_file_open(const char *path,
				   image_file_progress_fn *progress, void *arg,
				   struct error *err);
void image_file_free(struct image_file *file);
OWNED_POINTER(struct image_file, image_file_free)

const struct image_bundle *image_file_bundle(const struct image_file *file);

/* Send the file's bundle; hash: that of the bundle. */
int image_file_send_bundle(const struct image_file *file, struct client *client,
			   char hash[BLOB_HASH_SIZE], struct error *err);

/* Send all blobs of the bundle that the controller lacks, in its order: configs
 * first, because they tell nodes what else they need.
 */
int image_file_send(struct image_file *file, struct client *client,
		    blob_transfer_progress_fn *progress, void *arg,
		    struct error *err);
