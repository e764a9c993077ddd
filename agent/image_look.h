/* image_look.h - tells the controller what this node has by the name of an
 * image, before anyone asks a registry.
 */
#pragma once

#include "agent/task/task.h"

/* The answer to task_spec.look: a pin; "": it has none, or its engine did not
 * answer.
 */
typedef void image_look_fn(void *arg, const struct task_id *id,
			   const char *pin);

struct image_looks;

struct image_looks *image_looks_new(image_look_fn *told, void *arg,
				    struct error *err);
void image_looks_free(struct image_looks *looks); /* told() runs no more */
OWNED_POINTER(struct image_looks, image_looks_free)

/* Look for the image of the spec, whose contents are taken. told() is called
 * once, at once or later.
 */
void image_look(struct image_looks *looks, struct images *images,
		struct task_spec *spec);
