/* prune_candidates.c - chooses which images of a node may go, and in which
 * order. Pure.
 */
#include "agent/images/prune_candidates.h"

#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ID_PREFIX "sha256:"
#define ID_DIGITS 64
#define WORD_DIGITS 4 /* of an id, at least */

uint64_t prune_candidates_add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Names. */

/* Does the image have this name or id? */
static bool candidate_is_called(const struct image_info *image,
				const struct reference *parts)
{
	char name[REFERENCE_LISTED_SIZE];

	reference_listed(parts, name);
	return !strcmp(image->id, name) || strings_has(&image->tags, name) ||
	       strings_has(&image->digests, name);
}

/* The length of the repository in name:tag or name@digest. */
static size_t repository(const char *name)
{
	const char *end = strchr(name, '@');
	const char *slash = strrchr(name, '/');

	if (!end)
		end = strchr(slash ? slash : name, ':');
	return end ? (size_t)(end - name) : strlen(name);
}

static bool same_repository(const char *a, const char *b)
{
	size_t size = repository(a);

	return size == repository(b) && !strncmp(a, b, size);
}

static bool in_repository(const struct image_info *image, const char *name)
{
	for (size_t i = 0; i < image->tags.count; i++)
		if (same_repository(image->tags.items[i], name))
			return true;
	for (size_t i = 0; i < image->digests.count; i++)
		if (same_repository(image->digests.items[i], name))
			return true;
	return false;
}

/* Need. */

static bool meets(const struct image_info *image, const struct image_need *need)
{
	struct reference parts;

	if (reference_parse(need->reference, &parts, NULL) < 0)
		return false;
	/* A build without a tag, and an image that was pulled by digest, can
	 * only be matched by their repository.
	 */
	if (parts.name[0] && !parts.digest[0] &&
	    (need->build ? !parts.tag[0] : !image->tags.count))
		return in_repository(image, parts.name);
	return candidate_is_called(image, &parts);
}

int prune_candidates_needed(const struct image_info *image,
			    struct image_needs needs, char **needed,
			    struct error *err)
{
	*needed = NULL;
	for (size_t i = 0; i < needs.count; i++) {
		const struct image_need *need = &needs.list[i];
		int rc;

		if (!meets(image, need))
			continue;
		if (need->sweep)
			rc = asprintf(needed,
				      "sweep %" PRIu64 " has %" PRIu64
				      " job%s left that need%s it",
				      need->sweep, need->jobs,
				      need->jobs == 1 ? "" : "s",
				      need->jobs == 1 ? "s" : "");
		else
			rc = asprintf(needed, "a task on this node has it");
		if (rc >= 0)
			return 0;
		*needed = NULL;
		return error_nomem(err, "images");
	}
	return 0;
}

/* Names that a user gives. */

static bool is_id_word(const char *word)
{
	size_t size = strlen(word);

	return size >= WORD_DIGITS && size <= ID_DIGITS &&
	       strspn(word, "0123456789abcdef") == size;
}

int prune_candidates_find(const struct image_info *images, size_t count,
			  const char *word, size_t *found, struct error *err)
{
	struct reference parts;
	size_t matches = 0;

	if (reference_parse(word, &parts, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (candidate_is_called(&images[i], &parts)) {
			*found = i;
			return 0;
		}
	}
	for (size_t i = 0; is_id_word(word) && i < count; i++) {
		const char *id = images[i].id;

		if (!strncmp(id, ID_PREFIX, strlen(ID_PREFIX)) &&
		    !strncmp(id + strlen(ID_PREFIX), word, strlen(word))) {
			*found = i;
			matches++;
		}
	}
	if (matches == 1)
		return 0;
	return matches ? error_set(err, EINVAL,
				   "%s: the ids of %zu images start with this",
				   word, matches)
		       : error_set(err, ENOENT, "no image %s", word);
}

/* Choosing. */

/* How many images of ours are newer in that repository? */
static size_t newer(const struct image_info *images, size_t count, size_t at,
		    const char *name)
{
	size_t found = 0;

	for (size_t i = 0; i < count; i++) {
		const struct image_info *other = &images[i];

		if (i == at || !other->origin || !in_repository(other, name))
			continue;
		found += other->created_ms > images[at].created_ms ||
			 (other->created_ms == images[at].created_ms &&
			  (other->used_ms > images[at].used_ms ||
			   (other->used_ms == images[at].used_ms && i < at)));
	}
	return found;
}

static bool is_kept(const struct image_info *images, size_t count, size_t at,
		    uint32_t keep)
{
	const struct strings *lists[] = { &images[at].tags,
					  &images[at].digests };

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < lists[i]->count; j++)
			if (newer(images, count, at, lists[i]->items[j]) < keep)
				return true;
	return false;
}

/* Set image->needed to the reason why it stays; NULL: it may be removed. */
static int set_reason(struct image_info *images, size_t count, size_t at,
		      struct image_needs needs, uint32_t keep,
		      struct error *err)
{
	struct image_info *image = &images[at];
	int rc = 0;

	free(image->needed);
	if (prune_candidates_needed(image, needs, &image->needed, err) < 0)
		return -1;
	if (image->needed)
		return 0;
	if (image->containers)
		rc = asprintf(&image->needed, "%u container%s made from it",
			      image->containers,
			      image->containers == 1 ? " is" : "s are");
	else if (is_kept(images, count, at, keep))
		rc = asprintf(&image->needed, "one of the %u newest", keep);
	if (rc >= 0)
		return 0;
	image->needed = NULL;
	return error_nomem(err, "images");
}

static int by_use(const void *a, const void *b, void *arg)
{
	const struct image_info *images = arg;
	size_t i = *(const size_t *)a, j = *(const size_t *)b;
	uint64_t x = images[i].used_ms, y = images[j].used_ms;

	/* The time of creation counts for an unused image. */
	if (!x)
		x = images[i].created_ms;
	if (!y)
		y = images[j].created_ms;
	if (x != y)
		return x < y ? -1 : 1;
	return i < j ? -1 : i > j;
}

long prune_candidates_make(struct image_info *images, size_t count,
			   struct image_needs needs, uint32_t keep,
			   size_t *order, struct error *err)
{
	long found = 0;

	for (size_t i = 0; i < count; i++) {
		if (!images[i].origin)
			continue;
		if (set_reason(images, count, i, needs, keep, err) < 0)
			return -1;
		if (!images[i].needed)
			order[found++] = i;
	}
	qsort_r(order, (size_t)found, sizeof(*order), by_use, images);
	return found;
}
