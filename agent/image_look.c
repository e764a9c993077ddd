/* image_look.c - tells the controller what this node has by the name of an
 * image, before anyone asks a registry.
 */
#include "agent/image_look.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

struct look {
	struct image_looks *looks;
	struct task_spec spec;
	struct image_wait *wait;
	TAILQ_ENTRY(look) next;
};

struct image_looks {
	image_look_fn *told;
	void *arg;
	TAILQ_HEAD(, look) list;
};

static void look_free(struct look *look)
{
	TAILQ_REMOVE(&look->looks->list, look, next);
	image_release(look->wait);
	codec_clear(&task_spec_schema, &look->spec);
	free(look);
}

static void look_done(void *arg, const struct error *err,
		      const struct image *image)
{
	struct look *look = arg;
	const struct task_id id = task_spec_id(&look->spec);

	look->wait = NULL;
	look->looks->told(look->looks->arg, &id,
			  image ? task_image_pin(&look->spec, image) : "");
	look_free(look);
}

void image_look(struct image_looks *looks, struct images *images,
		struct task_spec *spec)
{
	const struct task_id id = task_spec_id(spec);
	const struct image_wanted wanted = {
		.reference = spec->container.image,
		.look = true,
		.logins = spec->logins,
		.logins_count = spec->logins_count,
	};
	struct look *look = calloc(1, sizeof(*look));

	if (!look) {
		looks->told(looks->arg, &id, "");
		return;
	}
	look->looks = looks;
	look->spec = *spec;
	*spec = (struct task_spec){ 0 };
	TAILQ_INSERT_TAIL(&looks->list, look, next);
	look->wait = image_ensure(images, &wanted, NULL, look_done, look, NULL);
	if (!look->wait)
		look_done(look, NULL, NULL);
}

struct image_looks *image_looks_new(image_look_fn *told, void *arg,
				    struct error *err)
{
	struct image_looks *looks = error_calloc(sizeof(*looks), "images", err);

	if (!looks)
		return NULL;
	TAILQ_INIT(&looks->list);
	looks->told = told;
	looks->arg = arg;
	return looks;
}

void image_looks_free(struct image_looks *looks)
{
	if (!looks)
		return;
	while (!TAILQ_EMPTY(&looks->list))
		look_free(TAILQ_FIRST(&looks->list));
	free(looks);
}
