/* artifact_fetch.c - fetches the files that tasks collected to the
 * controller.
 */
#include "controller/blobs/artifact_fetch.h"

#include "controller/blobs/blob_users.h"
#include "controller/nodes/node.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/blob/chunk_receiver.h"
#include "protocol/blob/chunk_sender.h"
#include "protocol/wire/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STALL_MS 120000 /* without a byte from a node that is there */
#define LOST_MAX 64     /* blobs; older ones are tried again */

_Static_assert(CHUNK_SENDER_READS_MAX >=
		       CHUNK_RECEIVER_WINDOW * ARTIFACT_FETCH_MAX,
	       "one node must be able to give all that is read at a time");

/* One blob that is being read from a node; or that the node cannot send, until
 * somebody asks for it.
 */
struct artifact_fetch {
	struct artifact_fetches *fetches;
	struct node *node;
	char hash[BLOB_HASH_SIZE];
	struct chunk_receiver *receiver; /* NULL: it was given up */
	struct error why;                /* it was */
	bool full;        /* all bytes are here; their hash is checked */
	int64_t moved_ms; /* when the last ones came */
	TAILQ_ENTRY(artifact_fetch) next;
};

struct artifact_fetches {
	struct blob_service *blobs;
	struct deferral *check;
	bool found;      /* blobs arrived or are lost; not asked for yet */
	bool full_disk;  /* that is in the log */
	size_t count[2]; /* that are read, and that were given up */
	TAILQ_HEAD(, artifact_fetch) list;
};

static void artifact_fetch_free(struct artifact_fetch *fetch)
{
	TAILQ_REMOVE(&fetch->fetches->list, fetch, next);
	fetch->fetches->count[!fetch->receiver]--;
	chunk_receiver_free(fetch->receiver);
	free(fetch);
}

static struct artifact_fetch *
artifact_fetch_find(const struct artifact_fetches *fetches, bool lost,
		    const struct node *node, const char *hash)
{
	struct artifact_fetch *fetch;

	TAILQ_FOREACH(fetch, &fetches->list, next)
		if (!fetch->receiver == lost &&
		    (!node || fetch->node == node) &&
		    (!hash || !strcmp(fetch->hash, hash)))
			return fetch;
	return NULL;
}

/* Wait for space on a full disk, as with output. False: it is not full. */
static bool wait_for_room(struct artifact_fetches *fetches,
			  const struct error *err)
{
	if (err->code != ENOSPC && err->code != EDQUOT)
		return false;
	if (!fetches->full_disk)
		log_error("collected files: %s; trying again", err->text);
	fetches->full_disk = true;
	return true;
}

/* The node cannot send it: who asks next is told why. */
static void artifact_fetch_fail(struct artifact_fetch *fetch,
				const struct error *err)
{
	struct artifact_fetches *fetches = fetch->fetches;

	if (wait_for_room(fetches, err)) {
		artifact_fetch_free(fetch);
		return;
	}
	log_error("node=%s blob=%.12s: %s", node_name(fetch->node), fetch->hash,
		  err->text);
	fetches->found = true;
	fetch->why = *err;
	fetch->full = false;
	if (fetch->receiver) {
		chunk_receiver_free(take(fetch->receiver));
		fetches->count[false]--;
		fetches->count[true]++;
	}
	if (fetches->count[true] > LOST_MAX)
		artifact_fetch_free(
			artifact_fetch_find(fetches, true, NULL, NULL));
}

static void check_run(void *arg)
{
	struct artifact_fetches *fetches = arg;
	struct artifact_fetch *fetch, *next;
	struct error err = { 0 };

	for (fetch = TAILQ_FIRST(&fetches->list); fetch; fetch = next) {
		int rc;

		next = TAILQ_NEXT(fetch, next);
		if (!fetch->full)
			continue;
		rc = chunk_receiver_finish(fetch->receiver, &err);
		if (rc < 0) {
			artifact_fetch_fail(fetch, &err);
			break;
		}
		if (rc == 0) {
			artifact_fetch_free(fetch);
			fetches->full_disk = false;
			fetches->found = true;
		}
	}
	TAILQ_FOREACH(fetch, &fetches->list, next)
		if (fetch->full)
			deferral_run(fetches->check);
}

/* One per call: the next call finds the others. */
static void end_stalled(struct artifact_fetches *fetches)
{
	int64_t limit = clock_mono_ms() - STALL_MS;
	struct artifact_fetch *fetch;
	struct error err;

	TAILQ_FOREACH(fetch, &fetches->list, next)
		if (fetch->receiver && !fetch->full && fetch->moved_ms < limit)
			break;
	if (!fetch)
		return;
	error_set(&err, ETIMEDOUT, "the node sent no data for %d s",
		  STALL_MS / 1000);
	artifact_fetch_fail(fetch, &err);
}

void artifact_fetch_extend_deadlines(struct artifact_fetches *fetches,
				     int64_t stopped_ms)
{
	struct artifact_fetch *fetch;

	TAILQ_FOREACH(fetch, &fetches->list, next)
		fetch->moved_ms += stopped_ms;
}

void artifact_fetch_tick(struct artifact_fetches *fetches)
{
	end_stalled(fetches);
}

bool artifact_fetch_found(struct artifact_fetches *fetches)
{
	bool found = fetches->found;

	fetches->found = false;
	return found;
}

struct artifact_fetches *artifact_fetches_new(sd_event *loop,
					      struct blob_service *blobs,
					      struct error *err)
{
	owned(artifact_fetches_free) struct artifact_fetches *fetches =
		calloc(1, sizeof(*fetches));

	if (!fetches)
		return error_null(error_nomem(err, "blobs"));
	TAILQ_INIT(&fetches->list);
	fetches->blobs = blobs;
	fetches->check = deferral_new(loop, false, check_run, fetches, err);
	return fetches->check ? take(fetches) : NULL;
}

void artifact_fetches_free(struct artifact_fetches *fetches)
{
	if (!fetches)
		return;
	while (!TAILQ_EMPTY(&fetches->list))
		artifact_fetch_free(TAILQ_FIRST(&fetches->list));
	deferral_free(fetches->check);
	free(fetches);
}

/* chunk_receiver_send_fn */
static int artifact_fetch_send_read(void *arg,
				    const struct message_blob_read *read)
{
	const struct artifact_fetch *fetch = arg;

	return node_peer(fetch->node) ? wire_server_send(node_peer(fetch->node),
							 MESSAGE_BLOB_READ,
							 read, NULL, 0, NULL)
				      : -1;
}

static void artifact_fetch_mark_full(struct artifact_fetch *fetch)
{
	fetch->full = true;
	deferral_run(fetch->fetches->check);
}

static void artifact_fetch_begin(struct artifact_fetches *fetches,
				 struct node *node, const char *hash,
				 uint64_t bytes)
{
	struct artifact_fetch *fetch;
	struct error err;

	/* Also if another node sends it. */
	if (artifact_fetch_find(fetches, false, NULL, hash) ||
	    fetches->count[false] >= ARTIFACT_FETCH_MAX || !node_peer(node))
		return;
	fetch = calloc(1, sizeof(*fetch));
	if (!fetch)
		return;
	fetch->fetches = fetches;
	fetch->node = node;
	snprintf(fetch->hash, sizeof(fetch->hash), "%s", hash);
	fetch->receiver =
		chunk_receiver_new(blob_service_store(fetches->blobs), hash,
				   bytes, artifact_fetch_send_read, fetch,
				   &err);
	fetch->moved_ms = clock_mono_ms();
	TAILQ_INSERT_TAIL(&fetches->list, fetch, next);
	fetches->count[!fetch->receiver]++;
	/* EBUSY: a person uploads the same. */
	if (!fetch->receiver && err.code != EPROTO && err.code != E2BIG) {
		wait_for_room(fetches, &err);
		artifact_fetch_free(fetch);
	} else if (!fetch->receiver) {
		artifact_fetch_fail(fetch, &err);
	} else if (chunk_receiver_length(fetch->receiver) == bytes) {
		artifact_fetch_mark_full(fetch);
	} else if (chunk_receiver_begin(fetch->receiver) < 0) {
		artifact_fetch_free(fetch);
	}
}

static bool is_here(struct artifact_fetches *fetches, const char *hash)
{
	uint64_t bytes;
	bool whole;

	return blob_store_look(blob_service_store(fetches->blobs), hash, &bytes,
			       &whole, NULL) == 0 &&
	       whole;
}

int artifact_fetch_blob(struct artifact_fetches *fetches, struct node *node,
			const char *hash, uint64_t bytes, struct error *err)
{
	struct artifact_fetch *lost;

	if (is_here(fetches, hash))
		return 1;
	lost = artifact_fetch_find(fetches, true, node, hash);
	if (!lost) {
		artifact_fetch_begin(fetches, node, hash, bytes);
		lost = artifact_fetch_find(fetches, true, node, hash);
	}
	if (!lost)
		return 0;
	error_set(err, EIO, "%s", lost->why.text);
	artifact_fetch_free(lost);
	return -1;
}

void artifact_fetch_piece(struct artifact_fetches *fetches, struct node *node,
			  const struct message_blob_piece *piece,
			  const void *data, size_t size)
{
	struct artifact_fetch *fetch;
	struct error err = { 0 };
	int rc;

	fetch = artifact_fetch_find(fetches, false, node, piece->hash);
	if (!fetch || fetch->full)
		return;
	fetch->moved_ms = clock_mono_ms();
	rc = chunk_receiver_piece(fetch->receiver, piece, data, size, &err);
	if (rc > 0)
		artifact_fetch_mark_full(fetch);
	else if (rc < 0)
		artifact_fetch_fail(fetch, &err);
}

void artifact_fetch_gone(struct artifact_fetches *fetches,
			 const struct node *node)
{
	struct artifact_fetch *fetch, *next;

	for (fetch = TAILQ_FIRST(&fetches->list); fetch; fetch = next) {
		next = TAILQ_NEXT(fetch, next);
		if (fetch->node == node)
			artifact_fetch_free(fetch);
	}
}

static bool artifact_fetch_list_file(struct artifact_fetch_list *list,
				     const struct file_info *file)
{
	cJSON *item = codec_object(&file_info_schema, file, NULL);
	char *text = cJSON_PrintUnformatted(item);
	size_t bytes = text ? strlen(text) + 1 : ARTIFACT_FETCH_LIST_BYTES;

	cJSON_free(text);
	if (list->left_out || list->bytes + bytes > ARTIFACT_FETCH_LIST_BYTES) {
		list->left_out++;
		cJSON_Delete(item);
		return false;
	}
	list->bytes += bytes;
	cJSON_AddItemToArray(list->items, item);
	return true;
}

int artifact_fetch_keep(struct artifact_fetches *fetches,
			const struct task *task,
			struct artifact_fetch_list *list, struct error *err)
{
	size_t count;
	const struct collected_file *files = task_files(task, &count);

	for (size_t i = 0; i < count; i++) {
		const struct collected_file *file = &files[i];
		bool here = file->content && is_here(fetches, file->content);
		const struct file_info info = {
			.rank = task_rank(task),
			.path = file->path,
			.content = here ? file->content : NULL,
			.bytes = here ? file->bytes : 0,
			.text = file->content && !here
					? (char *)"the job ended before it was "
						  "received"
					: file->text,
		};

		if (artifact_fetch_list_file(list, &info) && here &&
		    blob_users_keep_file(blob_service_store(fetches->blobs),
					 job_id(task_job(task)), file->content,
					 err) < 0)
			return -1;
	}
	return 0;
}

void artifact_fetch_tell(struct artifact_fetch_list *list)
{
	char text[160];
	const struct file_info rest = { .path = (char *)"(others)",
					.text = text };

	if (!list->left_out)
		return;
	snprintf(text, sizeof(text),
		 "%zu more collected files are not kept, because the list of a "
		 "job is limited to %d MiB; collect fewer paths, or from one "
		 "rank",
		 list->left_out, ARTIFACT_FETCH_LIST_BYTES >> 20);
	cJSON_AddItemToArray(list->items,
			     codec_object(&file_info_schema, &rest, NULL));
}
