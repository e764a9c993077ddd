/* image_references.c - the images that jobs still need.
 */
#include "controller/images/image_references.h"
#include "controller/store/store.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Jobs of a sweep that are alike in this. */
struct image_reference {
	uint64_t sweep;
	char *vendor;
	char *image;
	char *build; /* or NULL */
	size_t uses; /* jobs there are */
	size_t left; /* of these, that are not over */
};

struct image_references {
	struct store *store;
	void *tree; /* tsearch(3), of struct image_reference */
};

struct image_references *image_references_new(struct store *store,
					      struct error *err)
{
	struct image_references *references = calloc(1, sizeof(*references));

	if (!references) {
		error_nomem(err, "image references");
		return NULL;
	}
	references->store = store;
	return references;
}

void image_references_free(struct image_references *references)
{
	free(references);
}

static void image_reference_free(struct image_reference *need)
{
	if (!need)
		return;
	free(need->vendor);
	free(need->image);
	free(need->build);
	free(need);
}
OWNED_POINTER(struct image_reference, image_reference_free)

static int compare(const void *a, const void *b)
{
	const struct image_reference *x = a, *y = b;
	int rc;

	if (x->sweep != y->sweep)
		return x->sweep < y->sweep ? -1 : 1;
	rc = strcmp(x->vendor, y->vendor);
	if (!rc)
		rc = strcmp(x->image, y->image);
	return rc ? rc
		  : strcmp(x->build ? x->build : "", y->build ? y->build : "");
}

static struct image_reference *
image_reference_new(const struct image_reference *from)
{
	owned(image_reference_free) struct image_reference *need =
		calloc(1, sizeof(*need));

	if (!need)
		return NULL;
	need->sweep = from->sweep;
	need->vendor = strdup(from->vendor);
	need->image = strdup(from->image);
	need->build = from->build ? strdup(from->build) : NULL;
	return need->vendor && need->image && !need->build == !from->build
		       ? take(need)
		       : NULL;
}

struct image_reference *image_reference_get(struct image_references *references,
					    uint64_t sweep,
					    const struct job_spec *spec,
					    struct error *err)
{
	const struct image_reference key = {
		.sweep = sweep,
		.vendor = spec->vendor,
		.image = spec->container.image,
		.build = spec->container.build,
	};
	owned(image_reference_free) struct image_reference *made = NULL;
	void *place = tfind(&key, &references->tree, compare);
	struct image_reference *found;

	if (!place) {
		made = image_reference_new(&key);
		place = made ? tsearch(made, &references->tree, compare) : NULL;
		if (!place) {
			error_nomem(err, "job");
			return NULL;
		}
		made = NULL;
	}
	found = *(struct image_reference **)place;
	found->uses++;
	return found;
}

void image_reference_drop(struct image_references *references,
			  struct image_reference *reference)
{
	if (!reference || --reference->uses)
		return;
	tdelete(reference, &references->tree, compare);
	image_reference_free(reference);
}

void image_reference_count(struct image_reference *reference, bool more)
{
	reference->left += more ? 1 : (size_t)-1;
}

/* Telling. */

struct telling {
	struct image_references *references;
	const char *vendor;
	struct image_need *list;
	size_t count;
	uint64_t sweep; /* whose pins are there already */
	uint64_t left;  /* of the need at hand */
	struct error *err;
	int rc;
};

void needs_free(struct image_need *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(list[i].reference);
		free(list[i].build);
	}
	free(list);
}

static int add(struct telling *to, const char *reference, const char *build)
{
	struct image_need *list;
	struct image_need item = { .sweep = to->sweep, .jobs = to->left };

	if (to->count >= NEEDS_MAX)
		return error_set(to->err, E2BIG,
				 "jobs need more than %d images; wait until "
				 "some have ended",
				 NEEDS_MAX);
	list = reallocarray(to->list, to->count + 1, sizeof(*list));
	if (!list)
		return error_nomem(to->err, "images");
	to->list = list;
	item.reference = strdup(reference);
	item.build = build ? strdup(build) : NULL;
	list[to->count++] = item;
	return item.reference && !item.build == !build
		       ? 0
		       : error_nomem(to->err, "images");
}

static int add_pin(const struct pin_row *row, void *arg)
{
	return add(arg, row->found, NULL);
}

static void tell_one(const void *at, VISIT visit, void *arg)
{
	const struct image_reference *need =
		*(struct image_reference *const *)at;
	struct telling *to = arg;
	bool other = to->sweep != need->sweep;

	if ((visit != postorder && visit != leaf) || to->rc < 0 ||
	    !need->left || strcmp(need->vendor, to->vendor) != 0)
		return;
	to->sweep = need->sweep;
	to->left = need->left;
	to->rc = add(to, need->image, need->build);
	if (to->rc == 0 && other)
		to->rc = store_pins(to->references->store, need->sweep, add_pin,
				    to, to->err);
}

int image_references_list(struct image_references *references,
			  const char *vendor, struct image_need **list,
			  size_t *count, struct error *err)
{
	struct telling to = {
		.references = references,
		.vendor = vendor,
		.err = err,
	};

	twalk_r(references->tree, tell_one, &to);
	if (to.rc < 0) {
		needs_free(to.list, to.count);
		return -1;
	}
	*list = to.list;
	*count = to.count;
	return 0;
}
