/* image_references.h - which images the jobs need that are not over: none of
 * them may be removed from a node where they may run.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_REFERENCES_H
#define CONTROLLER_IMAGES_IMAGE_REFERENCES_H

#include "controller/cluster/active_job.h"

#define NEEDS_MAX 8192 /* told to one node */

struct store;

/* store: borrowed. Free it after the last job. */
struct image_references;
struct image_references *image_references_new(struct store *store,
					      struct error *err);
void image_references_free(struct image_references *references);

/* A job is there, or no longer; between, it is over, or begins again. */
int image_references_join(struct image_references *references, struct job *job,
			  const struct job_spec *spec, struct error *err);
void image_references_mark(struct job *job, bool active);
void image_references_leave(struct image_references *references,
			    struct job *job);

/* What jobs need that may run on nodes of this vendor: the names in their
 * sweeps, and all that is pinned there (image_digest.h). The caller releases
 * the list with needs_free(). E2BIG: more than NEEDS_MAX.
 */
int image_references_list(struct image_references *references,
			  const char *vendor, struct image_need **list,
			  size_t *count, struct error *err);
void needs_free(struct image_need *list, size_t count);

#endif
