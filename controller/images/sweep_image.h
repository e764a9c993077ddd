/* sweep_image.h - the images of sweeps: how many jobs need each, and what its
 * name resolves to.
 *
 * An image must not be removed from a node where a job that needs it may run.
 *
 * The first node of a sweep that needs an image resolves its name: to a digest
 * of its registry, or to the id of an image that is in no registry. The result
 * is stored and sent to every other node and for every later job of the sweep,
 * so that a tag that moves meanwhile has no effect. Other nodes wait for it. Of
 * a gang, all nodes tell first what they have: what one has is the sweep's, and
 * a registry is asked only if none has any.
 *
 * The result comes from a node, so it is not trusted: it must be of the name's
 * own repository, or an id, and the other nodes compare it with what their own
 * engines find. An image that is named by digest or id is not resolved. A built
 * image is identified by the hash of its files, and nobody waits.
 */
#pragma once

#include "controller/cluster/active_job.h"

#define NEEDS_MAX 8192 /* images that are listed for one node */

struct store;

/* The arguments are borrowed. Free it after the last job. */
struct sweep_images;
struct sweep_images *sweep_images_new(struct store *store, struct error *err);
void sweep_images_free(struct sweep_images *images);

/* The image that a job with this spec needs. Jobs of a sweep with the same
 * image share the object. NULL: ENOMEM. Each call needs a sweep_image_drop().
 */
struct sweep_image *sweep_image_get(struct sweep_images *images, uint64_t sweep,
				    const struct job_spec *spec,
				    struct error *err);
void sweep_image_drop(struct sweep_images *images, struct sweep_image *image);

/* One more of these jobs for nodes of this vendor is not final, or one less. */
void sweep_image_count(struct sweep_image *image, const char *vendor,
		       bool more);

/* The images of jobs that may run on nodes of this vendor: the names in their
 * sweeps, and what these resolve to. The caller releases the list with
 * needs_free(). E2BIG: more than NEEDS_MAX.
 */
int sweep_images_list(struct sweep_images *images, const char *vendor,
		      struct image_need **list, size_t *count,
		      struct error *err);
void needs_free(struct image_need *list, size_t count);

/* What the job's image resolves to, for its nodes; NULL: not known yet, or not
 * resolved. Borrowed until the next call.
 */
const char *sweep_image_digest(struct sweep_images *images,
			       const struct job *job);

/* May this task prepare now? False: it waits for another one, which resolves
 * the name. Ask again when a name is resolved, that job is ready or has ended,
 * or an engine went away: then another node resolves it.
 */
bool sweep_image_may_prepare(struct sweep_images *images,
			     const struct task *task);

/* It waits: must its node tell first what it has by that name? */
bool sweep_image_must_look(struct sweep_images *images,
			   const struct task *task);

enum image_learnt {
	IMAGE_SAME,     /* the sweep has the same already, or needs none */
	IMAGE_NEW,      /* it is stored */
	IMAGE_UNSTORED, /* it is new, and could not be stored: try again */
	IMAGE_OTHER,    /* it differs, or does not belong to the name */
};

/* A node reports what its task's image resolves to. text is a sentence about
 * IMAGE_OTHER.
 */
enum image_learnt sweep_image_learn(struct sweep_images *images,
				    struct task *task, const char *found,
				    char *text, size_t size);

/* The job is ready, or ends: another one may resolve the name. */
void sweep_image_release(const struct job *job);
