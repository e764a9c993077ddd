/* prune_candidates.h - chooses which images of a node may go, and in which
 * order. Pure.
 */
#ifndef AGENT_IMAGES_PRUNE_CANDIDATES_H
#define AGENT_IMAGES_PRUNE_CANDIDATES_H

#include "protocol/message/message.h"

struct image_needs {
	const struct image_need *list;
	size_t count;
};

/* Does a job need the image? Then *needed says which one; else it is NULL. A
 * name that is built into name:<hash> is needed in each state of its folder,
 * and a name with a tag in each image of its repository that has no tags.
 */
int prune_candidates_needed(const struct image_info *image,
			    struct image_needs needs, char **needed,
			    struct error *err);

/* What is meant by a word of people: name[:tag], name@digest, an id, or 4 and
 * more hex digits of the beginning of one. ENOENT: no image; EINVAL: several.
 */
int prune_candidates_find(const struct image_info *images, size_t count,
			  const char *word, size_t *found, struct error *err);

/* Which may go: those that we brought, that have no container, that no job
 * needs and that are not among the `keep` newest of ours in one of their
 * repositories. order[] (room for count) gets their places, the one first that
 * was used longest ago; images[].needed says of all others of ours why they
 * stay. Returns how many, or -1.
 */
long prune_candidates_make(struct image_info *images, size_t count,
			   struct image_needs needs, uint32_t keep,
			   size_t *order, struct error *err);

/* a + b, or the largest number there is: sizes come from outside. */
uint64_t prune_candidates_add(uint64_t a, uint64_t b);

#endif
