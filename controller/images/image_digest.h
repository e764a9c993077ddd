/* image_digest.h - resolves the name of an image once per sweep, then keeps
 * it.
 *
 * The first node of a sweep that is to have an image finds out what its name
 * means: a digest of its registry, or the id of an image that is in none. That
 * is stored; every other node and every later job of the sweep is told it, so
 * that a tag that moves meanwhile moves nothing. It is a node's claim: it must
 * be of the name's own repository, or an id, and the other nodes compare it
 * with what their own engines find, so that one node does not choose what
 * others run. Until then the others wait. An image that is asked for by digest
 * or id needs none of this; one that is built is pinned by the hash of what it
 * is built from, and nobody waits.
 */
#ifndef CONTROLLER_IMAGES_IMAGE_DIGEST_H
#define CONTROLLER_IMAGES_IMAGE_DIGEST_H

#include "controller/cluster/active_job.h"

struct store;

/* What it is given is borrowed. */
struct image_digests;
struct image_digests *image_digests_new(struct store *store,
					const struct job_table *table,
					struct error *err);
void image_digests_free(struct image_digests *digests);

/* What the job's image means, or NULL: not known yet, or not needed. Borrowed
 * until the next call.
 */
const char *image_digest_of(struct image_digests *digests,
			    const struct job *job);

/* May this task be told to prepare? false: it waits for another one, and is
 * found by image_digest_next() when that one has spoken, or failed.
 */
bool image_digest_may_prepare(struct image_digests *digests, struct task *task);

/* It is told something else, or nothing any more. */
void image_digest_stop_waiting(struct image_digests *digests,
			       struct task *task);

/* A node says what the image of its task is. 1: that is new, and stored; 0: it
 * is what the sweep has already; -1 with a sentence in text: it is another one,
 * or none that the name could mean, and nothing was stored.
 */
int image_digest_learn(struct image_digests *digests, struct task *task,
		       const char *found, char *text, size_t size);

/* The job ends: if others waited for it, they no longer do. */
void image_digest_release(struct image_digests *digests, const struct job *job);

/* The job is gone: what its sweep's images mean is forgotten here with the last
 * one that holds nodes; the store knows it.
 */
void image_digest_forget(struct image_digests *digests, const struct job *job);

/* A task that waits and need not any more, or NULL. */
struct task *image_digest_next(struct image_digests *digests);

#endif
