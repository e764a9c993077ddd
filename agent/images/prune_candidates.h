/* prune_candidates.h - chooses which images of a node may go, and in which
 * order. Pure.
 */
#ifndef AGENT_IMAGES_PRUNE_CANDIDATES_H
#define AGENT_IMAGES_PRUNE_CANDIDATES_H

#include "protocol/message/message.h"

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

#endif
