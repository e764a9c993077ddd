/* artifact_fetch.h - fetches the files that tasks collected to the
 * controller.
 *
 * The node reports them by hash. Those that the controller does not have are
 * read from the node, ARTIFACT_FETCH_MAX at a time over all nodes. After a lost
 * session or a restart, each continues where it stopped. The functions may be
 * called repeatedly; they start what is still missing.
 */
#pragma once

#include "controller/blobs/blob_service.h"
#include "controller/cluster/active_job.h"

#define ARTIFACT_FETCH_MAX 16

/* The arguments are borrowed. */
struct artifact_fetches;
struct artifact_fetches *artifact_fetches_new(struct sd_event *loop,
					      struct blob_service *blobs,
					      struct error *err);
void artifact_fetches_free(struct artifact_fetches *fetches);
OWNED_POINTER(struct artifact_fetches, artifact_fetches_free)

/* Is this blob of the node here? 1: yes. 0: no; it is fetched, if there are
 * less than ARTIFACT_FETCH_MAX; artifact_fetch_found() tells when to ask again.
 * -1: the node cannot send it; *err says why. The next call tries again.
 */
int artifact_fetch_blob(struct artifact_fetches *fetches, struct node *node,
			const char *hash, uint64_t bytes, struct error *err);

void artifact_fetch_piece(struct artifact_fetches *fetches, struct node *node,
			  const struct message_blob_piece *piece,
			  const void *data, size_t size);
/* Has a blob arrived, or was one given up, since the last call? */
bool artifact_fetch_found(struct artifact_fetches *fetches);
/* Call it every half second: give up what a node does not send. Fetches that
 * had to wait, or had no disk space, start when they are asked for again.
 */
void artifact_fetch_tick(struct artifact_fetches *fetches);

/* The controller itself was stopped for so long: no node counts as silent for
 * that time.
 */
void artifact_fetch_extend_deadlines(struct artifact_fetches *fetches,
				     int64_t stopped_ms);

void artifact_fetch_gone(struct artifact_fetches *fetches,
			 const struct node *node);

/* The collected files of a job, as JSON of bounded size. Files that do not fit
 * are only counted, and not kept.
 */
#define ARTIFACT_FETCH_LIST_BYTES (3 << 20) /* less than MESSAGE_REPLY_MAX */
struct artifact_fetch_list {
	cJSON *items;
	size_t bytes;    /* of their text */
	size_t left_out; /* paths */
};

/* Add the task's files: {"rank", "path", "blob", "bytes", "text"}; a missing
 * file has blob null and a text why. Files that are here are kept for the
 * job; the caller runs blob_store_sync().
 */
int artifact_fetch_keep(struct artifact_fetches *fetches,
			const struct task *task,
			struct artifact_fetch_list *list, struct error *err);
/* At the end: add an item with the number of files that were left out. */
void artifact_fetch_tell(struct artifact_fetch_list *list);
