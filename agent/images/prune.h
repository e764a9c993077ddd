/* prune.h - which images of a node may go, the least recently used first, and
 * when: the watermark of the disk.
 *
 * The choice is pure. When less space than the watermark is free, or an image
 * does not fit, the controller is asked which images must stay. The answer is
 * an operation to prune, completed by this node's own watermark and number of
 * images to keep. Nothing is removed without a controller. Removed images are
 * reported to it (message_image_state, by_itself). image_prune.c removes them.
 */
#pragma once

#include "agent/images/image_services.h"
#include "protocol/base/owned.h"

struct image_needs {
	struct image_need *list;
	size_t count;
};

/* Does a job need the image? Then *needed is a sentence that says so; else
 * NULL. A need of a built image without a tag covers name:<hash> for every
 * hash. A need of a name with a tag also covers untagged images of the same
 * repository.
 */
int prune_candidates_needed(const struct image_info *image,
			    struct image_needs needs, char **needed,
			    struct error *err);

/* Find the image that a user means: name[:tag], name@digest, an id, or at least
 * the first 4 hex digits of an id. ENOENT: no image; EINVAL: several.
 */
int prune_candidates_find(const struct image_info *images, size_t count,
			  const char *word, size_t *found, struct error *err);

/* Choose the images that may be removed: pulled, built or loaded by Regatta,
 * without containers, needed by no job, and not among the `keep` newest of one
 * of their repositories. order[] (of size count) gets their indexes, least
 * recently used first. images[].needed of Regatta's other images says why they
 * stay. Returns the number of candidates, or -1.
 */
long prune_candidates_make(struct image_info *images, size_t count,
			   struct image_needs needs, uint32_t keep,
			   size_t *order, struct error *err);

/* a + b, at most UINT64_MAX: sizes come from outside. */
uint64_t prune_candidates_add(uint64_t a, uint64_t b);

/* The watermark. */

#define DISK_WATERMARK_FIRST_MS 2000 /* until the first look at the disk */
#define DISK_WATERMARK_LOOK_MS 60000 /* between looks at the disk */
#define DISK_WATERMARK_VAIN_MS                                                 \
	600000 /* after one that found nothing to remove */
#define DISK_WATERMARK_ANSWER_MS 10000 /* that the controller has to answer */

/* services are borrowed; they have a floor. */
struct disk_watermark *disk_watermark_new(const struct image_services *services,
					  struct error *err);
void disk_watermark_free(struct disk_watermark *watermark); /* NULL is fine */
OWNED_POINTER(struct disk_watermark, disk_watermark_free)

/* Complete an operation that answers our question; others stay as they are. */
void disk_watermark_answer(struct disk_watermark *watermark,
			   struct image_spec *spec);

/* Call it for each state before it is reported. True: it is of an operation
 * that the watermark started.
 */
bool disk_watermark_state(struct disk_watermark *watermark,
			  const struct message_image_state *state);

/* Remove images until so many bytes are free (0: unknown, then until the
 * threshold is). done() runs once, from the loop, unless it is cancelled; made:
 * something was removed. NULL: ENOMEM.
 */
typedef void disk_watermark_done_fn(void *arg, bool made);
struct disk_watermark_wait;
struct disk_watermark_wait *
disk_watermark_room(struct disk_watermark *watermark, uint64_t bytes,
		    disk_watermark_done_fn *done, void *arg);
void disk_watermark_cancel(struct disk_watermark_wait *wait); /* NULL is fine */
