/* artifact_fetch.h - fetches the files that tasks collected to the
 * controller.
 *
 * A node's task names them by content; those that are not here are read from
 * the node, ARTIFACT_FETCH_MAX at a time over all nodes, each where it was left
 * by an earlier session or controller. Asked again and again, it does what is
 * left.
 */
#ifndef CONTROLLER_BLOBS_ARTIFACT_FETCH_H
#define CONTROLLER_BLOBS_ARTIFACT_FETCH_H

#include "controller/blobs/blob_service.h"
#include "controller/cluster/active_job.h"

#define ARTIFACT_FETCH_MAX 16

struct log_ingest;

/* What it is given is borrowed. */
struct artifact_fetches;
struct artifact_fetches *artifact_fetches_new(struct sd_event *loop,
					      struct blob_service *blobs,
					      const struct job_table *table,
					      struct log_ingest *ingest,
					      struct error *err);
void artifact_fetches_free(struct artifact_fetches *fetches);
OWNED_POINTER(struct artifact_fetches, artifact_fetches_free)

/* Hold what a node says of a task's files against what was asked for: those
 * that are too many or too large are none.
 */
void artifact_fetch_check(struct task *task);

/* Are all files of the task, which has ended, here? If not, they are read, as
 * far as there is room; gang_advance() follows when the last one has come.
 */
bool artifact_fetch_files(struct artifact_fetches *fetches, struct task *task);

/* Is this content of the node here? If not (0), it is read, if there is room.
 * -1: it will never come from there, and why; asked again, it is tried again.
 */
int artifact_fetch_content(struct artifact_fetches *fetches, struct node *node,
			   const char *hash, uint64_t bytes, struct error *err);

void artifact_fetch_piece(struct artifact_fetches *fetches, struct node *node,
			  const struct message_content_piece *piece,
			  const void *data, size_t size);
/* Every half second: what had no room, or no disk, is tried again. */
void artifact_fetch_tick(struct artifact_fetches *fetches);

/* Nobody was heard for so long: no node is to blame for its silence. */
void artifact_fetch_forgive(struct artifact_fetches *fetches, int64_t deaf_ms);

void artifact_fetch_gone(struct artifact_fetches *fetches,
			 const struct node *node);

/* What was collected of a job, as JSON: bounded, so that a gang of any size can
 * end. What does not fit is counted only, and not kept.
 */
#define ARTIFACT_FETCH_LIST_BYTES (3 << 20) /* less than MESSAGE_REPLY_MAX */
struct artifact_fetch_list {
	cJSON *items;
	size_t bytes;    /* of their text */
	size_t left_out; /* paths */
};

/* Add the task's files: {"rank", "path", "content", "bytes", "text"}, content
 * null and a text where there is none. Those that are here are kept;
 * blob_store_sync() follows.
 */
int artifact_fetch_keep(struct artifact_fetches *fetches,
			const struct task *task,
			struct artifact_fetch_list *list, struct error *err);
/* When all were added: an item that tells how many were left out, if any. */
void artifact_fetch_tell(struct artifact_fetch_list *list);

#endif
