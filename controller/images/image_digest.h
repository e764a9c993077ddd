/* image_digest.h - resolves the name of an image once per sweep, then keeps
 * it.
 *
 * The first node of a sweep that needs an image resolves its name: to a digest
 * of its registry, or to the id of an image that is in no registry. The result
 * is stored and sent to every other node and for every later job of the sweep,
 * so that a tag that moves meanwhile has no effect. Other nodes wait for it.
 *
 * The result comes from a node, so it is not trusted: it must be of the name's
 * own repository, or an id, and the other nodes compare it with what their own
 * engines find. An image that is named by digest or id is not resolved. A built
 * image is identified by the hash of its files, and nobody waits.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_DIGEST_H
#define CONTROLLER_IMAGES_IMAGE_DIGEST_H

#include "controller/cluster/active_job.h"

struct store;

/* The arguments are borrowed. */
struct image_digests;
struct image_digests *image_digests_new(struct store *store,
					const struct job_table *table,
					struct error *err);
void image_digests_free(struct image_digests *digests);

/* What the job's image is resolved to; NULL: not known yet, or not needed.
 * Borrowed until the next call.
 */
const char *image_digest_of(struct image_digests *digests,
			    const struct job *job);

/* May this task prepare now? False: it waits for another one;
 * image_digest_wake() calls for it when that one has resolved the name, or
 * failed.
 */
bool image_digest_may_prepare(struct image_digests *digests, struct task *task);

/* The task need not prepare any more. */
void image_digest_stop_waiting(struct image_digests *digests,
			       struct task *task);

/* A node reports what its task's image is resolved to. 1: it is new, and
 * stored; 0: the sweep has the same already; -1 with a sentence in text: it
 * differs, or does not belong to the name; nothing was stored.
 */
int image_digest_learn(struct image_digests *digests, struct task *task,
		       const char *found, char *text, size_t size);

/* The job ends: tasks that wait for it continue. */
void image_digest_release(struct image_digests *digests, const struct job *job);

/* The job is being freed. With the last job of a sweep that holds nodes, its
 * digests are removed from memory; the store has them.
 */
void image_digest_forget(struct image_digests *digests, const struct job *job);

/* Call wake() for each waiting task that may prepare now. It must not remove a
 * gang from the table.
 */
void image_digest_wake(struct image_digests *digests,
		       void (*wake)(struct task *task));

#endif
