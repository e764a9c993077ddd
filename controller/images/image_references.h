/* image_references.h - counts the images that jobs still need.
 *
 * They must not be removed from a node where such a job may run.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_REFERENCES_H
#define CONTROLLER_IMAGES_IMAGE_REFERENCES_H

#include "protocol/message/message.h"
#include "protocol/message/spec.h"

#define NEEDS_MAX 8192 /* told to one node */

struct store;

/* store: borrowed. Free it after the last job. */
struct image_references;
struct image_references *image_references_new(struct store *store,
					      struct error *err);
void image_references_free(struct image_references *references);

/* The image that a job with this spec needs. Jobs of a sweep with the same
 * image share the object. NULL: ENOMEM. Each call needs an
 * image_reference_drop().
 */
struct image_reference;
struct image_reference *image_reference_get(struct image_references *references,
					    uint64_t sweep,
					    const struct job_spec *spec,
					    struct error *err);
void image_reference_drop(struct image_references *references,
			  struct image_reference *reference);

/* One more of these jobs may still run, or (more false) one less. */
void image_reference_count(struct image_reference *reference, bool more);

/* The images of jobs that may run on nodes of this vendor: the names in their
 * sweeps, and the digests of these (image_digest.h). The caller releases the
 * list with needs_free(). E2BIG: more than NEEDS_MAX.
 */
int image_references_list(struct image_references *references,
			  const char *vendor, struct image_need **list,
			  size_t *count, struct error *err);
void needs_free(struct image_need *list, size_t count);

#endif
