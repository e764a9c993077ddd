/* sweep_image.c - the images of sweeps: how many jobs need each, and what its
 * name resolves to.
 */
#include "controller/images/sweep_image.h"

#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/list.h"
#include "protocol/base/log.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

/* Jobs that need an image on nodes of one vendor. */
struct vendor_jobs {
	struct vendor_jobs *next;
	size_t left; /* that are not final */
	char vendor[];
};

struct sweep_image {
	uint64_t sweep;
	char *name; /* in the store: "build image" if it is built, else image */
	char *image; /* as in the sweep */
	char *build; /* the folder that it is built from, or NULL */
	size_t uses; /* jobs */
	struct vendor_jobs *vendors;
	bool loaded;              /* from the store: */
	char *found;              /* what it resolves to; NULL: not known yet */
	char *node;               /* that found it */
	uint64_t asking;          /* the job that resolves it; 0: none */
	const struct node *asked; /* by that job; its engine may be away */
};

struct sweep_images {
	struct store *store;
	void *tree; /* tsearch(3), of struct sweep_image */
};

struct sweep_images *sweep_images_new(struct store *store, struct error *err)
{
	struct sweep_images *images = calloc(1, sizeof(*images));

	if (!images)
		return error_null(error_nomem(err, "images"));
	images->store = store;
	return images;
}

void sweep_images_free(struct sweep_images *images)
{
	free(images);
}

static void sweep_image_free(struct sweep_image *image)
{
	struct vendor_jobs *jobs;

	if (!image)
		return;
	while ((jobs = image->vendors)) {
		image->vendors = jobs->next;
		free(jobs);
	}
	free(image->name);
	free(image->image);
	free(image->build);
	free(image->found);
	free(image->node);
	free(image);
}
OWNED_POINTER(struct sweep_image, sweep_image_free)

static int sweep_image_compare(const void *a, const void *b)
{
	const struct sweep_image *x = a, *y = b;

	if (x->sweep != y->sweep)
		return x->sweep < y->sweep ? -1 : 1;
	return strcmp(x->name, y->name);
}

static struct sweep_image *sweep_image_new(uint64_t sweep,
					   const struct container_spec *spec)
{
	owned(sweep_image_free) struct sweep_image *image =
		calloc(1, sizeof(*image));

	if (!image || string_set(&image->image, spec->image, NULL) < 0 ||
	    string_set(&image->build, spec->build, NULL) < 0)
		return NULL;
	image->sweep = sweep;
	if (asprintf(&image->name, "%s%s%s", spec->build ? spec->build : "",
		     spec->build ? " " : "", spec->image) < 0) {
		image->name = NULL;
		return NULL;
	}
	return take(image);
}

static struct vendor_jobs *jobs_for(struct sweep_image *image,
				    const char *vendor)
{
	struct vendor_jobs *jobs;

	for (jobs = image->vendors; jobs; jobs = jobs->next)
		if (!strcmp(jobs->vendor, vendor))
			return jobs;
	jobs = calloc(1, sizeof(*jobs) + strlen(vendor) + 1);
	if (!jobs)
		return NULL;
	memcpy(jobs->vendor, vendor, strlen(vendor));
	jobs->next = image->vendors;
	image->vendors = jobs;
	return jobs;
}

struct sweep_image *sweep_image_get(struct sweep_images *images, uint64_t sweep,
				    const struct job_spec *spec,
				    struct error *err)
{
	owned(sweep_image_free) struct sweep_image *made =
		sweep_image_new(sweep, &spec->container);
	void *place =
		made ? tsearch(made, &images->tree, sweep_image_compare) : NULL;
	struct sweep_image *image =
		place ? *(struct sweep_image **)place : NULL;

	if (image == made)
		made = NULL;
	if (image && jobs_for(image, spec->vendor)) {
		image->uses++;
		return image;
	}
	if (image && !image->uses) {
		tdelete(image, &images->tree, sweep_image_compare);
		sweep_image_free(image);
	}
	return error_null(error_nomem(err, "job"));
}

void sweep_image_drop(struct sweep_images *images, struct sweep_image *image)
{
	if (!image || --image->uses)
		return;
	tdelete(image, &images->tree, sweep_image_compare);
	sweep_image_free(image);
}

void sweep_image_count(struct sweep_image *image, const char *vendor, bool more)
{
	jobs_for(image, vendor)->left += more ? 1 : (size_t)-1;
}

/* The images that jobs need. */

struct listing {
	struct sweep_images *images;
	const char *vendor;
	struct image_need *list;
	size_t count;
	uint64_t sweep; /* of the last image, whose pins are listed */
	uint64_t left;  /* jobs that need the last image */
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

static int needs_add(struct listing *to, const char *reference,
		     const char *build)
{
	const struct image_need item = { .sweep = to->sweep, .jobs = to->left };
	struct image_need *list;

	if (to->count >= NEEDS_MAX)
		return error_set(to->err, E2BIG,
				 "jobs need more than %d images; wait until "
				 "some have ended",
				 NEEDS_MAX);
	list = LIST_ADD(to->list, to->count, to->err);
	if (!list)
		return -1;
	*list = item;
	if (string_set(&list->reference, reference, to->err) < 0)
		return -1;
	return string_set(&list->build, build, to->err);
}

static int needs_add_pin(const struct pin_row *row, void *arg)
{
	return needs_add(arg, row->found, NULL);
}

static void list_one(const void *at, VISIT visit, void *arg)
{
	struct sweep_image *image = *(struct sweep_image *const *)at;
	struct listing *to = arg;
	bool other = to->sweep != image->sweep;
	const struct vendor_jobs *jobs = image->vendors;

	if (visit != postorder && visit != leaf)
		return;
	while (jobs && strcmp(jobs->vendor, to->vendor) != 0)
		jobs = jobs->next;
	if (to->rc < 0 || !jobs || !jobs->left)
		return;
	to->sweep = image->sweep;
	to->left = jobs->left;
	to->rc = needs_add(to, image->image, image->build);
	if (to->rc == 0 && other)
		to->rc = store_pins(to->images->store, image->sweep,
				    needs_add_pin, to, to->err);
}

int sweep_images_list(struct sweep_images *images, const char *vendor,
		      struct image_need **list, size_t *count,
		      struct error *err)
{
	struct listing to = {
		.images = images,
		.vendor = vendor,
		.err = err,
	};

	twalk_r(images->tree, list_one, &to);
	if (to.rc < 0) {
		needs_free(to.list, to.count);
		return -1;
	}
	*list = to.list;
	*count = to.count;
	return 0;
}

/* What names resolve to. */

static int read_pin(const struct pin_row *row, void *arg)
{
	struct sweep_image *image = arg;

	return !strcmp(row->image, image->name) &&
			       (string_set(&image->found, row->found, NULL) <
					0 ||
				string_set(&image->node, row->node, NULL) < 0)
		       ? -1
		       : 0;
}

static bool is_hash(const char *text)
{
	return !strncmp(text, "sha256:", 7) && strlen(text) == 71;
}

/* NULL: its name is not resolved. */
static struct sweep_image *resolved_image(struct sweep_images *images,
					  const struct job *job)
{
	struct sweep_image *image = job_image(job);
	const char *at = strchr(image->image, '@');

	if (!image->build && (is_hash(image->image) || (at && is_hash(at + 1))))
		return NULL;
	if (!image->loaded)
		image->loaded = store_pins(images->store, image->sweep,
					   read_pin, image, NULL) == 0;
	return image;
}

const char *sweep_image_digest(struct sweep_images *images,
			       const struct job *job)
{
	const struct sweep_image *image = resolved_image(images, job);

	return image && !image->build ? image->found : NULL;
}

static bool is_away(const struct node *node)
{
	return node && node_view(node)->engine_away.text;
}

bool sweep_image_may_prepare(struct sweep_images *images,
			     const struct task *task)
{
	struct sweep_image *image = resolved_image(images, task_job(task));
	uint64_t job = job_id(task_job(task));
	const struct node *first = task_node(gang_task(task_gang(task), 0));

	if (!image || image->found || image->build)
		return true;
	if (!image->asking || (is_away(image->asked) && !is_away(first))) {
		image->asking = job;
		image->asked = first;
	}
	return image->asking == job && task_rank(task) == 0 &&
	       gang_has_looked(task_gang(task));
}

bool sweep_image_must_look(struct sweep_images *images, const struct task *task)
{
	const struct job *job = task_job(task);
	const struct sweep_image *image = resolved_image(images, job);

	return image && image->asking == job_id(job) &&
	       gang_nodes(task_gang(task)) > 1 && !task_has_looked(task);
}

/* Can the name resolve to that? An id may be of any image; a digest must be of
 * the name's own repository. A built image has its own name on each node.
 */
static bool is_possible(const struct sweep_image *image, const char *found)
{
	struct reference asked, told;
	char hosts[2][REFERENCE_HOST_MAX + 1], paths[2][REFERENCE_PATH_MAX + 1];

	if (image->build || is_hash(found))
		return true;
	if (reference_parse(image->image, &asked, NULL) < 0 ||
	    reference_parse(found, &told, NULL) < 0 || !told.digest[0])
		return false;
	reference_place(&asked, hosts[0], paths[0]);
	reference_place(&told, hosts[1], paths[1]);
	return !strcmp(hosts[0], hosts[1]) && !strcmp(paths[0], paths[1]);
}

static enum image_learnt pin_keep(struct sweep_images *images,
				  struct sweep_image *image, const char *node,
				  const char *found)
{
	struct pin_row row = { image->sweep, image->name, found, node };
	char *copy = strdup(found), *name = strdup(node);

	if (!copy || !name || store_put_pin(images->store, &row, NULL) < 0) {
		free(copy);
		free(name);
		return IMAGE_UNSTORED;
	}
	image->found = copy;
	image->node = name;
	log_info("sweep=%" PRIu64 " image=%s is %s node=%s", image->sweep,
		 image->name, found, node);
	return IMAGE_NEW;
}

enum image_learnt sweep_image_learn(struct sweep_images *images,
				    struct task *task, const char *found,
				    char *text, size_t size)
{
	struct sweep_image *image = resolved_image(images, task_job(task));
	const char *node = node_name(task_node(task));

	if (!image)
		return IMAGE_SAME;
	if (!is_possible(image, found)) {
		snprintf(text, size,
			 "%s reports that image %s is %s, which is not in that "
			 "repository",
			 node, image->image, found);
		return IMAGE_OTHER;
	}
	if (!image->found)
		return pin_keep(images, image, node, found);
	if (!strcmp(image->found, found))
		return IMAGE_SAME;
	snprintf(text, size,
		 "image %s is %s on %s, but %s on %s: the nodes of a sweep "
		 "must have the same one",
		 image->image, image->found, image->node, found, node);
	return IMAGE_OTHER;
}

void sweep_image_release(const struct job *job)
{
	struct sweep_image *image = job_image(job);

	if (image->asking == job_id(job))
		image->asking = 0;
}
