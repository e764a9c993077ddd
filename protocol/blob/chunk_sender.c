/* chunk_sender.c - sends pieces of blobs to those who read them.
 */
#include "protocol/blob/chunk_sender.h"

#include "protocol/base/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define RETRY_MS 20 /* when a peer's queue is full */

struct waiting {
	void *peer;
	char hash[BLOB_HASH_SIZE];
	uint64_t offset;
	uint32_t size;
	TAILQ_ENTRY(waiting) next;
};

struct chunk_sender {
	sd_event *loop;
	struct blob_store *blobs;
	chunk_sender_ready_fn *ready;
	chunk_sender_send_fn *send;
	void *arg;
	struct deferral *work;
	sd_event_source *retry;
	TAILQ_HEAD(, waiting) reads;
	char *piece; /* MESSAGE_PAYLOAD_MAX */
};

static void chunk_sender_drop(struct chunk_sender *sender, struct waiting *read)
{
	TAILQ_REMOVE(&sender->reads, read, next);
	free(read);
}

static int chunk_sender_retry_run(sd_event_source *source, uint64_t usec,
				  void *arg)
{
	chunk_sender_wake(arg);
	return 0;
}

/* 1: answered; 0: its bytes are not there yet; -1: it could not be sent. */
static int chunk_sender_answer(struct chunk_sender *sender,
			       const struct waiting *read)
{
	struct message_blob_piece piece = { .hash = (char *)read->hash,
					    .offset = read->offset };
	struct error err = { 0 };
	int rc = blob_store_read(sender->blobs, read->hash, read->offset,
				 sender->piece, read->size, &err);

	if (!rc)
		return 0;
	if (rc < 0) {
		piece.code = err.code;
		piece.text = err.text;
	}
	return sender->send(sender->arg, read->peer, &piece, sender->piece,
			    rc < 0 ? 0 : read->size) < 0
		       ? -1
		       : 1;
}

/* One piece: its size; 0: none can be sent now. */
static size_t chunk_sender_give(struct chunk_sender *sender)
{
	struct waiting *read;
	bool later = false;
	size_t size;
	int rc = 0;

	/* Peers that do not read must not stop the others. */
	TAILQ_FOREACH(read, &sender->reads, next) {
		bool ready = sender->ready(sender->arg, read->peer);

		rc = ready ? chunk_sender_answer(sender, read) : 0;
		later |= !ready || rc < 0;
		if (rc)
			break;
	}
	if (later)
		loop_timer(sender->loop, &sender->retry, RETRY_MS,
			   chunk_sender_retry_run, sender, NULL);
	if (rc <= 0)
		return 0;
	size = read->size;
	chunk_sender_drop(sender, read);
	return size;
}

static void work_run(void *arg)
{
	struct chunk_sender *sender = arg;

	if (chunk_sender_give(sender))
		chunk_sender_wake(sender);
}

struct chunk_sender *chunk_sender_new(sd_event *loop, struct blob_store *blobs,
				      chunk_sender_ready_fn *ready,
				      chunk_sender_send_fn *send, void *arg,
				      struct error *err)
{
	owned(chunk_sender_free) struct chunk_sender *sender =
		calloc(1, sizeof(*sender));

	if (!sender)
		return error_null(error_nomem(err, "blobs"));
	TAILQ_INIT(&sender->reads);
	sender->loop = loop;
	sender->blobs = blobs;
	sender->ready = ready;
	sender->send = send;
	sender->arg = arg;
	sender->work = deferral_new(loop, true, work_run, sender, err);
	return sender->work ? take(sender) : NULL;
}

void chunk_sender_free(struct chunk_sender *sender)
{
	if (!sender)
		return;
	while (!TAILQ_EMPTY(&sender->reads))
		chunk_sender_drop(sender, TAILQ_FIRST(&sender->reads));
	deferral_free(sender->work);
	loop_source_free(&sender->retry);
	free(sender->piece);
	free(sender);
}

int chunk_sender_read(struct chunk_sender *sender, void *peer,
		      const struct message_blob_read *wanted, struct error *err)
{
	struct waiting *read;
	size_t count = 0;

	if (!blob_hash_valid(wanted->hash) || !wanted->size ||
	    wanted->size > MESSAGE_PAYLOAD_MAX ||
	    wanted->offset > BLOB_BYTES_MAX)
		return error_set(err, EPROTO,
				 "a read of '%.70s', %u bytes, is not valid "
				 "here; expected a hash and 1 to %d bytes",
				 wanted->hash, wanted->size,
				 MESSAGE_PAYLOAD_MAX);
	TAILQ_FOREACH(read, &sender->reads, next) {
		if (read->peer != peer)
			continue;
		if (read->offset == wanted->offset &&
		    read->size == wanted->size &&
		    !strcmp(read->hash, wanted->hash))
			return 0;
		count++;
	}
	if (count >= CHUNK_SENDER_READS_MAX)
		return error_set(err, EBUSY, "more than %d waiting reads",
				 CHUNK_SENDER_READS_MAX);
	/* Most agents never send anything. */
	if (!sender->piece && !(sender->piece = malloc(MESSAGE_PAYLOAD_MAX)))
		return error_nomem(err, "blobs");
	read = calloc(1, sizeof(*read));
	if (!read)
		return error_nomem(err, "blobs");
	read->peer = peer;
	memcpy(read->hash, wanted->hash, sizeof(read->hash));
	read->offset = wanted->offset;
	read->size = wanted->size;
	TAILQ_INSERT_TAIL(&sender->reads, read, next);
	chunk_sender_wake(sender);
	return 0;
}

void chunk_sender_forget(struct chunk_sender *sender, const void *peer)
{
	struct waiting *read, *next;

	for (read = TAILQ_FIRST(&sender->reads); read; read = next) {
		next = TAILQ_NEXT(read, next);
		if (read->peer == peer)
			chunk_sender_drop(sender, read);
	}
}

void chunk_sender_match(struct chunk_sender *sender, size_t size)
{
	size_t given = 1;

	for (size_t done = 0; given && done < size; done += given)
		given = chunk_sender_give(sender);
	chunk_sender_wake(sender);
}

void chunk_sender_wake(struct chunk_sender *sender)
{
	if (!TAILQ_EMPTY(&sender->reads))
		deferral_run(sender->work);
}
