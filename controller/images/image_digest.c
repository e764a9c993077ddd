/* image_digest.c - resolves the name of an image once per sweep, then keeps
 * it.
 */
#include "controller/images/image_digest.h"

#include "controller/cluster/active_job.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"
#include "protocol/registry/reference.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct image_digest {
	uint64_t sweep;
	char *image;  /* as the sweep has it; "build image" of a built one */
	char *found;  /* NULL: not known yet */
	char *node;   /* who found it */
	uint64_t job; /* it is asked; 0: nobody is */
};

struct image_digests {
	struct store *store;
	const struct job_table *table;
	void *tree;     /* tsearch(3), of struct image_digest */
	size_t waiting; /* tasks that wait for one */
};

struct image_digests *image_digests_new(struct store *store,
					const struct job_table *table,
					struct error *err)
{
	struct image_digests *digests = calloc(1, sizeof(*digests));

	if (!digests) {
		error_nomem(err, "image digests");
		return NULL;
	}
	digests->store = store;
	digests->table = table;
	return digests;
}

static void image_digest_free(struct image_digest *pin)
{
	if (!pin)
		return;
	free(pin->image);
	free(pin->found);
	free(pin->node);
	free(pin);
}
OWNED_POINTER(struct image_digest, image_digest_free)

static int compare(const void *a, const void *b)
{
	const struct image_digest *x = a, *y = b;

	if (x->sweep != y->sweep)
		return x->sweep < y->sweep ? -1 : 1;
	return strcmp(x->image, y->image);
}

/* Of a store that was written before. */
static int read_pin(const struct pin_row *row, void *arg)
{
	struct image_digest *pin = arg;

	if (strcmp(row->image, pin->image) != 0)
		return 0;
	free(pin->found);
	free(pin->node);
	pin->found = strdup(row->found);
	pin->node = strdup(row->node);
	return 0;
}

static bool is_hash(const char *text)
{
	return !strncmp(text, "sha256:", 7) && strlen(text) == 71;
}

static bool needed(const struct container_spec *container)
{
	const char *at = strchr(container->image, '@');

	return container->build ||
	       !(is_hash(container->image) || (at && is_hash(at + 1)));
}

/* Found, or made and read from the store; NULL: not needed, or no memory. */
static struct image_digest *
image_digest_get(struct image_digests *digests, uint64_t sweep,
		 const struct container_spec *container)
{
	owned(image_digest_free) struct image_digest *pin = NULL;
	void *place;

	if (!needed(container))
		return NULL;
	pin = calloc(1, sizeof(*pin));
	if (!pin)
		return NULL;
	pin->sweep = sweep;
	if (asprintf(&pin->image, "%s%s%s",
		     container->build ? container->build : "",
		     container->build ? " " : "", container->image) < 0) {
		pin->image = NULL;
		return NULL;
	}
	place = tsearch(pin, &digests->tree, compare);
	if (place && *(struct image_digest **)place == pin) {
		store_pins(digests->store, sweep, read_pin, pin, NULL);
		return take(pin);
	}
	return place ? *(struct image_digest **)place : NULL;
}

static struct image_digest *image_digest_get_job(struct image_digests *digests,
						 const struct job *job)
{
	return image_digest_get(digests, job_sweep(job),
				&gang_spec(job_gang(job))->container);
}

const char *image_digest_of(struct image_digests *digests,
			    const struct job *job)
{
	const struct image_digest *pin = image_digest_get_job(digests, job);

	return pin && !gang_spec(job_gang(job))->container.build ? pin->found
								 : NULL;
}

void image_digest_stop_waiting(struct image_digests *digests, struct task *task)
{
	digests->waiting -= task_waits(task);
	task_set_waits(task, false);
}

bool image_digest_may_prepare(struct image_digests *digests, struct task *task)
{
	struct image_digest *pin =
		image_digest_get_job(digests, task_job(task));
	uint64_t job = job_id(task_job(task));

	image_digest_stop_waiting(digests, task);
	if (!pin || pin->found || gang_spec(task_gang(task))->container.build)
		return true;
	if (!pin->job)
		pin->job = job;
	task_set_waits(task, pin->job != job || task_rank(task) != 0);
	digests->waiting += task_waits(task);
	return !task_waits(task);
}

/* Can the name mean that? An id can be that of any image; a digest is one of
 * the very repository that the name is of. What is built, each node builds.
 */
static bool is_possible(const struct container_spec *container,
			const char *found)
{
	struct reference asked, told;
	char hosts[2][REFERENCE_HOST_MAX + 1], paths[2][REFERENCE_PATH_MAX + 1];

	if (container->build || is_hash(found))
		return true;
	if (reference_parse(container->image, &asked, NULL) < 0 ||
	    reference_parse(found, &told, NULL) < 0 || !told.digest[0])
		return false;
	reference_place(&asked, hosts[0], paths[0]);
	reference_place(&told, hosts[1], paths[1]);
	return !strcmp(hosts[0], hosts[1]) && !strcmp(paths[0], paths[1]);
}

static int keep(struct image_digests *digests, struct image_digest *pin,
		const char *node, const char *found)
{
	struct pin_row row = { pin->sweep, pin->image, found, node };
	char *copy = strdup(found), *name = strdup(node);
	struct error err;

	if (!copy || !name || store_put_pin(digests->store, &row, &err) < 0) {
		free(copy);
		free(name);
		return -1;
	}
	pin->found = copy;
	pin->node = name;
	log_info("sweep=%" PRIu64 " image=%s is %s node=%s", pin->sweep,
		 pin->image, found, node);
	return 1;
}

int image_digest_learn(struct image_digests *digests, struct task *task,
		       const char *found, char *text, size_t size)
{
	struct image_digest *pin =
		image_digest_get_job(digests, task_job(task));
	const char *node = node_name(task_node(task));

	if (!pin)
		return 0;
	if (!is_possible(&gang_spec(task_gang(task))->container, found)) {
		snprintf(text, size,
			 "%s reports that image %s is %s, which is not in that "
			 "repository",
			 node, gang_spec(task_gang(task))->container.image,
			 found);
		return -1;
	}
	if (!pin->found)
		return keep(digests, pin, node, found) > 0;
	if (!strcmp(pin->found, found))
		return 0;
	snprintf(text, size,
		 "image %s is %s on %s, but %s on %s: the nodes of a sweep "
		 "must have the same one",
		 gang_spec(task_gang(task))->container.image, pin->found,
		 pin->node, found, node);
	return -1;
}

static void release_one(const void *at, VISIT visit, void *arg)
{
	struct image_digest *pin = *(struct image_digest *const *)at;
	const uint64_t *job = arg;

	if ((visit == postorder || visit == leaf) && pin->job == *job)
		pin->job = 0;
}

void image_digest_release(struct image_digests *digests, const struct job *job)
{
	uint64_t id = job_id(job);

	twalk_r(digests->tree, release_one, &id);
}

static int compare_sweeps(const void *a, const void *b)
{
	const struct image_digest *x = a, *y = b;

	return x->sweep < y->sweep ? -1 : x->sweep > y->sweep;
}

void image_digest_forget(struct image_digests *digests, const struct job *job)
{
	const struct image_digest key = { .sweep = job_sweep(job) };
	const struct gang *gang;
	void *found;

	for (gang = gang_first(digests->table); gang; gang = gang_next(gang))
		if (job_sweep(gang_job(gang)) == job_sweep(job))
			return;
	while ((found = tfind(&key, &digests->tree, compare_sweeps))) {
		struct image_digest *pin = *(struct image_digest **)found;

		tdelete(pin, &digests->tree, compare);
		image_digest_free(pin);
	}
}

void image_digest_wake(struct image_digests *digests,
		       void (*wake)(struct task *task))
{
	struct gang *gang;

	if (!digests->waiting)
		return;
	for (gang = gang_first(digests->table); gang; gang = gang_next(gang)) {
		if (job_state(gang_job(gang)) != JOB_PREPARING)
			continue;
		for (uint32_t i = 0; i < gang_nodes(gang); i++)
			if (task_waits(gang_task(gang, i)) &&
			    image_digest_may_prepare(digests,
						     gang_task(gang, i)))
				wake(gang_task(gang, i));
	}
}

static void free_one(void *pin)
{
	image_digest_free(pin);
}

void image_digests_free(struct image_digests *digests)
{
	if (digests)
		tdestroy(digests->tree, free_one);
	free(digests);
}
