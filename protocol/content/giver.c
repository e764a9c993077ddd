/* giver.c - answers those who read contents, a piece at a time.
 */
#include "protocol/content/giver.h"

#include "protocol/loop.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#define RETRY_MS 20 /* when a peer's queue is full */

struct waiting {
	void *peer;
	char hash[CONTENT_HASH_SIZE];
	uint64_t offset;
	uint32_t size;
	TAILQ_ENTRY(waiting) next;
};

struct giver {
	sd_event *loop;
	struct contents *contents;
	giver_send_fn *send;
	void *arg;
	sd_event_source *work, *retry;
	TAILQ_HEAD(, waiting) reads;
	char *piece; /* MESSAGE_PAYLOAD_MAX */
};

static void drop(struct giver *giver, struct waiting *read)
{
	TAILQ_REMOVE(&giver->reads, read, next);
	free(read);
}

static int retry_run(sd_event_source *source, uint64_t usec, void *arg)
{
	giver_wake(arg);
	return 0;
}

/* 1: answered; 0: its bytes are not there yet; -1: it could not be sent. */
static int answer(struct giver *giver, const struct waiting *read)
{
	struct message_content_piece piece = { .hash = (char *)read->hash,
					       .offset = read->offset };
	struct error err = { 0 };
	int rc = contents_read(giver->contents, read->hash, read->offset,
			       giver->piece, read->size, &err);

	if (!rc)
		return 0;
	if (rc < 0) {
		piece.code = err.code;
		piece.text = err.text;
	}
	return giver->send(giver->arg, read->peer, &piece, giver->piece,
			   rc < 0 ? 0 : read->size) < 0
		       ? -1
		       : 1;
}

/* One piece: its size; 0: none can be sent now. */
static size_t give(struct giver *giver)
{
	struct waiting *read;
	size_t size;
	int rc = 0;

	TAILQ_FOREACH(read, &giver->reads, next)
	{
		rc = answer(giver, read);
		if (rc)
			break;
	}
	if (rc < 0)
		loop_timer(giver->loop, &giver->retry, RETRY_MS, retry_run,
			   giver, NULL);
	if (rc <= 0)
		return 0;
	size = read->size;
	drop(giver, read);
	return size;
}

static int work_run(sd_event_source *source, void *arg)
{
	struct giver *giver = arg;

	if (give(giver))
		giver_wake(giver);
	return 0;
}

struct giver *giver_new(sd_event *loop, struct contents *contents,
			giver_send_fn *send, void *arg, struct error *err)
{
	owned(giver_free) struct giver *giver = calloc(1, sizeof(*giver));
	int rc;

	if (!giver) {
		error_nomem(err, "contents");
		return NULL;
	}
	TAILQ_INIT(&giver->reads);
	giver->loop = loop;
	giver->contents = contents;
	giver->send = send;
	giver->arg = arg;
	rc = sd_event_add_defer(loop, &giver->work, work_run, giver);
	if (rc >= 0)
		rc = sd_event_source_set_enabled(giver->work, SD_EVENT_OFF);
	if (rc >= 0)
		rc = sd_event_source_set_priority(giver->work,
						  SD_EVENT_PRIORITY_IDLE);
	if (rc < 0) {
		error_set(err, -rc, "event loop: no giver");
		return NULL;
	}
	return take(giver);
}

void giver_free(struct giver *giver)
{
	if (!giver)
		return;
	while (!TAILQ_EMPTY(&giver->reads))
		drop(giver, TAILQ_FIRST(&giver->reads));
	loop_source_free(&giver->work);
	loop_source_free(&giver->retry);
	free(giver->piece);
	free(giver);
}

int giver_read(struct giver *giver, void *peer,
	       const struct message_content_read *wanted, struct error *err)
{
	struct waiting *read;
	size_t count = 0;

	if (!content_hash_valid(wanted->hash) || !wanted->size ||
	    wanted->size > MESSAGE_PAYLOAD_MAX ||
	    wanted->offset > CONTENT_BYTES_MAX)
		return error_set(err, EPROTO,
				 "a read of '%.70s', %u bytes: allowed are a "
				 "hash and 1 to %d bytes",
				 wanted->hash, wanted->size,
				 MESSAGE_PAYLOAD_MAX);
	TAILQ_FOREACH(read, &giver->reads, next)
	{
		if (read->peer != peer)
			continue;
		if (read->offset == wanted->offset &&
		    read->size == wanted->size &&
		    !strcmp(read->hash, wanted->hash))
			return 0;
		count++;
	}
	if (count >= GIVER_READS_MAX)
		return error_set(err, EBUSY, "more than %d reads that wait",
				 GIVER_READS_MAX);
	/* Most agents never give anything. */
	if (!giver->piece && !(giver->piece = malloc(MESSAGE_PAYLOAD_MAX)))
		return error_nomem(err, "contents");
	read = calloc(1, sizeof(*read));
	if (!read)
		return error_nomem(err, "contents");
	read->peer = peer;
	memcpy(read->hash, wanted->hash, sizeof(read->hash));
	read->offset = wanted->offset;
	read->size = wanted->size;
	TAILQ_INSERT_TAIL(&giver->reads, read, next);
	giver_wake(giver);
	return 0;
}

void giver_forget(struct giver *giver, const void *peer)
{
	struct waiting *read, *next;

	for (read = TAILQ_FIRST(&giver->reads); read; read = next) {
		next = TAILQ_NEXT(read, next);
		if (read->peer == peer)
			drop(giver, read);
	}
}

void giver_match(struct giver *giver, size_t size)
{
	size_t given = 1;

	for (size_t done = 0; given && done < size; done += given)
		given = give(giver);
	giver_wake(giver);
}

void giver_wake(struct giver *giver)
{
	if (!TAILQ_EMPTY(&giver->reads))
		sd_event_source_set_enabled(giver->work, SD_EVENT_ONESHOT);
}
