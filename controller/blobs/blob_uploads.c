/* blob_uploads.c - the blobs that people upload to the controller.
 */
#include "controller/blobs/blob_uploads.h"

#include "protocol/base/clock.h"
#include "protocol/blob/incoming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_MS 60000
#define STALL_MS 5000 /* shorter than nodes wait for each other */

struct upload {
	char hash[BLOB_HASH_SIZE];
	struct incoming *incoming; /* NULL: this place is free */
	uint64_t bytes;
	int64_t used_ms;
};

struct blob_uploads {
	struct blob_store *blobs;
	struct upload list[BLOB_UPLOADS_MAX];
	const struct wire_peer *senders[BLOB_UPLOADS_SENDERS_MAX];
	size_t senders_count;
	int64_t expected_ms; /* monotonic; until then more may come */
};

struct blob_uploads *blob_uploads_new(struct blob_store *blobs,
				      struct error *err)
{
	struct blob_uploads *uploads = calloc(1, sizeof(*uploads));

	if (!uploads)
		return error_null(error_nomem(err, "blobs"));
	uploads->blobs = blobs;
	/* Uploaders of an earlier controller may come back. */
	uploads->expected_ms = clock_mono_ms() + BLOB_UPLOADS_BACK_MS;
	return uploads;
}

static void upload_end(struct upload *upload)
{
	incoming_free(take(upload->incoming));
}

void blob_uploads_free(struct blob_uploads *uploads)
{
	if (!uploads)
		return;
	for (size_t i = 0; i < BLOB_UPLOADS_MAX; i++)
		upload_end(&uploads->list[i]);
	free(uploads);
}

static const struct upload *upload_find(const struct blob_uploads *uploads,
					const char *hash)
{
	for (size_t i = 0; i < BLOB_UPLOADS_MAX; i++)
		if (uploads->list[i].incoming &&
		    !strcmp(uploads->list[i].hash, hash))
			return &uploads->list[i];
	return NULL;
}

bool blob_uploads_find(const struct blob_uploads *uploads, const char *hash,
		       uint64_t *bytes, bool *stalled)
{
	const struct upload *upload = upload_find(uploads, hash);

	if (!upload)
		return false;
	*bytes = upload->bytes;
	*stalled = clock_mono_ms() - upload->used_ms >= STALL_MS;
	return true;
}

static struct upload *upload_begin(struct blob_uploads *uploads,
				   const char *hash, uint64_t bytes,
				   struct error *err)
{
	struct upload *upload = NULL;

	for (size_t i = 0; i < BLOB_UPLOADS_MAX; i++)
		if (!uploads->list[i].incoming)
			upload = &uploads->list[i];
	if (!upload)
		return error_null(error_set(err, EBUSY,
					    "%d blobs are already being "
					    "received; try again "
					    "later",
					    BLOB_UPLOADS_MAX));
	upload->incoming = incoming_new(uploads->blobs, hash, bytes, err);
	if (!upload->incoming)
		return NULL;
	memcpy(upload->hash, hash, sizeof(upload->hash));
	upload->bytes = bytes;
	return upload;
}

static void note_sender(struct blob_uploads *uploads,
			const struct wire_peer *sender)
{
	uploads->expected_ms = clock_mono_ms() + BLOB_UPLOADS_AWAIT_MS;
	for (size_t i = 0; i < uploads->senders_count; i++)
		if (uploads->senders[i] == sender)
			return;
	if (uploads->senders_count < BLOB_UPLOADS_SENDERS_MAX)
		uploads->senders[uploads->senders_count++] = sender;
}

void blob_uploads_sender_gone(struct blob_uploads *uploads,
			      const struct wire_peer *sender)
{
	int64_t back_ms = clock_mono_ms() + BLOB_UPLOADS_BACK_MS;

	for (size_t i = 0; i < uploads->senders_count; i++) {
		if (uploads->senders[i] != sender)
			continue;
		uploads->senders[i] =
			uploads->senders[--uploads->senders_count];
		if (!uploads->senders_count && uploads->expected_ms > back_ms)
			uploads->expected_ms = back_ms;
		return;
	}
}

bool blob_uploads_expected(const struct blob_uploads *uploads)
{
	return clock_mono_ms() < uploads->expected_ms;
}

/* Write the bytes, and finish what is complete. */
static ssize_t upload_take(struct upload *upload,
			   const struct message_blob_put *message,
			   const void *data, size_t size,
			   struct reply_blob_put *reply, struct error *err)
{
	uint64_t length = incoming_length(upload->incoming);
	char hash[BLOB_HASH_SIZE];
	size_t taken = 0;
	int rc = 1;

	upload->used_ms = clock_mono_ms();
	if (size && message->offset == length) {
		if (incoming_write(upload->incoming, data, size, err) < 0) {
			upload_end(upload);
			return -1;
		}
		taken = size;
	}
	/* If checking takes longer, the sender asks again without bytes. */
	if (length + taken == upload->bytes)
		rc = incoming_finish(upload->incoming, hash, err);
	if (rc <= 0)
		upload_end(upload);
	*reply = (struct reply_blob_put){ .length = length + taken,
					  .whole = !rc };
	return rc < 0 ? -1 : (ssize_t)taken;
}

ssize_t blob_uploads_put(struct blob_uploads *uploads,
			 const struct wire_peer *sender,
			 const struct message_blob_put *message,
			 const void *data, size_t size,
			 struct reply_blob_put *reply, bool *begins,
			 struct error *err)
{
	struct upload *upload;
	uint64_t length;
	bool whole;

	*begins = false;
	if (blob_store_look(uploads->blobs, message->hash, &length, &whole,
			    err) < 0)
		return -1;
	note_sender(uploads, sender);
	if (whole) {
		*reply = (struct reply_blob_put){ .length = length,
						  .whole = true };
		return 0;
	}
	upload = (struct upload *)upload_find(uploads, message->hash);
	if (upload && upload->bytes != message->bytes)
		return error_set(err, EBUSY,
				 "blob %.12s is already being received with "
				 "another size",
				 message->hash);
	if (!upload) {
		upload = upload_begin(uploads, message->hash, message->bytes,
				      err);
		if (!upload)
			return -1;
		*begins = true;
	}
	return upload_take(upload, message, data, size, reply, err);
}

void blob_uploads_tick(struct blob_uploads *uploads)
{
	int64_t now = clock_mono_ms();

	for (size_t i = 0; i < BLOB_UPLOADS_MAX; i++)
		if (uploads->list[i].incoming &&
		    now - uploads->list[i].used_ms > IDLE_MS)
			upload_end(&uploads->list[i]);
}
