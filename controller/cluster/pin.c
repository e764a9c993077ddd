/* pin.c - what an image's name means in a sweep: resolved once, then fixed.
 */
#include "controller/cluster/pin.h"

#include "protocol/base/log.h"

#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

struct pin {
	uint64_t sweep;
	char *image;  /* as the sweep has it; "build image" of a built one */
	char *found;  /* NULL: not known yet */
	char *node;   /* who found it */
	uint64_t job; /* it is asked; 0: nobody is */
};

static void pin_free(struct pin *pin)
{
	if (!pin)
		return;
	free(pin->image);
	free(pin->found);
	free(pin->node);
	free(pin);
}
OWNED_POINTER(struct pin, pin_free)

static int compare(const void *a, const void *b)
{
	const struct pin *x = a, *y = b;

	if (x->sweep != y->sweep)
		return x->sweep < y->sweep ? -1 : 1;
	return strcmp(x->image, y->image);
}

/* Of a store that was written before. */
static int read_pin(const struct pin_row *row, void *arg)
{
	struct pin *pin = arg;

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
static struct pin *pin_get(struct cluster *cluster, uint64_t sweep,
			   const struct container_spec *container)
{
	owned(pin_free) struct pin *pin = NULL;
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
	place = tsearch(pin, &cluster->pins, compare);
	if (place && *(struct pin **)place == pin) {
		store_pins(cluster->store, sweep, read_pin, pin, NULL);
		return take(pin);
	}
	return place ? *(struct pin **)place : NULL;
}

static struct pin *pin_get_job(struct cluster *cluster, const struct job *job)
{
	return pin_get(cluster, job->sweep, &job->gang->spec.container);
}

const char *pin_of(struct cluster *cluster, const struct job *job)
{
	const struct pin *pin = pin_get_job(cluster, job);

	return pin && !job->gang->spec.container.build ? pin->found : NULL;
}

void pin_stop_waiting(struct cluster *cluster, struct task *task)
{
	cluster->pins_waiting -= task->waits;
	task->waits = false;
}

bool pin_may_prepare(struct cluster *cluster, struct task *task)
{
	struct pin *pin = pin_get_job(cluster, task->job);
	uint64_t job = task->job->id;

	pin_stop_waiting(cluster, task);
	if (!pin || pin->found || task->job->gang->spec.container.build)
		return true;
	if (!pin->job)
		pin->job = job;
	task->waits = pin->job != job || task->rank != 0;
	cluster->pins_waiting += task->waits;
	return !task->waits;
}

static int keep(struct cluster *cluster, struct pin *pin, const char *node,
		const char *found)
{
	struct pin_row row = { pin->sweep, pin->image, found, node };
	char *copy = strdup(found), *name = strdup(node);
	struct error err;

	if (!copy || !name || store_put_pin(cluster->store, &row, &err) < 0) {
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

int pin_learn(struct cluster *cluster, struct task *task, const char *found,
	      char *text, size_t size)
{
	struct pin *pin = pin_get_job(cluster, task->job);
	const char *node = task->node->name;

	if (!pin)
		return 0;
	if (!pin->found)
		return keep(cluster, pin, node, found) > 0;
	if (!strcmp(pin->found, found))
		return 0;
	snprintf(text, size,
		 "image %s is %s on %s, but %s on %s: the nodes of a sweep "
		 "must have the same one",
		 task->job->gang->spec.container.image, pin->found, pin->node,
		 found, node);
	return -1;
}

bool pin_find(struct cluster *cluster, uint64_t sweep, const char *image,
	      const char **found)
{
	const struct container_spec container = { .image = (char *)image };
	const struct pin *pin = pin_get(cluster, sweep, &container);

	*found = pin ? pin->found : NULL;
	return pin && !pin->found;
}

void pin_tell(struct cluster *cluster, uint64_t sweep, const char *image,
	      const char *found, const char *node)
{
	const struct container_spec container = { .image = (char *)image };
	struct pin *pin = pin_get(cluster, sweep, &container);

	if (pin && !pin->found && !pin->job)
		keep(cluster, pin, node, found);
}

struct releasing {
	uint64_t job;
};

static void release_one(const void *at, VISIT visit, void *arg)
{
	struct pin *pin = *(struct pin *const *)at;
	const struct releasing *releasing = arg;

	if ((visit == postorder || visit == leaf) && pin->job == releasing->job)
		pin->job = 0;
}

void pin_release(struct cluster *cluster, const struct job *job)
{
	struct releasing releasing = { job->id };

	twalk_r(cluster->pins, release_one, &releasing);
}

static int compare_sweeps(const void *a, const void *b)
{
	const struct pin *x = a, *y = b;

	return x->sweep < y->sweep ? -1 : x->sweep > y->sweep;
}

void pin_forget(struct cluster *cluster, const struct job *job)
{
	const struct pin key = { .sweep = job->sweep };
	const struct gang *gang;
	void *found;

	TAILQ_FOREACH(gang, &cluster->gangs, by_cluster)
	{
		if (gang->job->sweep == job->sweep)
			return;
	}
	while ((found = tfind(&key, &cluster->pins, compare_sweeps))) {
		struct pin *pin = *(struct pin **)found;

		tdelete(pin, &cluster->pins, compare);
		pin_free(pin);
	}
}

struct task *pin_next(struct cluster *cluster)
{
	struct gang *gang;

	if (!cluster->pins_waiting)
		return NULL;
	TAILQ_FOREACH(gang, &cluster->gangs, by_cluster)
	{
		if (gang->job->state != JOB_PREPARING)
			continue;
		for (uint32_t i = 0; i < gang->spec.nodes; i++)
			if (gang->tasks[i].waits &&
			    pin_may_prepare(cluster, &gang->tasks[i]))
				return &gang->tasks[i];
	}
	return NULL;
}

static void free_one(void *pin)
{
	pin_free(pin);
}

void pin_free_all(struct cluster *cluster)
{
	tdestroy(cluster->pins, free_one);
	cluster->pins = NULL;
}
