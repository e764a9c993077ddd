/* blob_transfer.c - sends blobs to the controller, and fetches them.
 */
#include "controller/cli/blob_transfer.h"

#include "protocol/base/digest.h"
#include "protocol/base/file.h"
#include "protocol/message/reply_logs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PIECE MESSAGE_PAYLOAD_MAX
#define WINDOW 4 /* pieces that are sent before the first answer */

/* A piece that is being sent. */
struct put {
	struct sending *sending;
	uint64_t number; /* of the request; 0: not in use */
};

/* A blob that is being sent. */
struct sending {
	struct client *client;
	const struct blob_transfer *transfer;
	bool begun;
	uint64_t at; /* bytes that were read so far */
	char *piece;
	struct put puts[WINDOW];
	size_t under_way;
	uint64_t length; /* bytes that the controller has, by its last answer */
	bool whole;      /* the controller has all bytes, with the right hash */
	struct error error; /* code 0: none */
};

static void sending_clear(struct sending *sending)
{
	for (size_t i = 0; i < WINDOW; i++)
		if (sending->puts[i].number)
			client_drop(sending->client, sending->puts[i].number);
	free(sending->piece);
}
OWNED_VALUE(struct sending, sending_clear)

static int transfer_changed(struct error *err)
{
	return error_set(err, EINVAL,
			 "the blob changed while it was sent; run the "
			 "command again");
}

/* Read up to the whole piece, or to the end. */
static ssize_t sending_read_piece(struct sending *sending, size_t size,
				  struct error *err)
{
	const struct blob_transfer *transfer = sending->transfer;
	size_t done = 0;

	if (transfer->data && size > transfer->bytes - sending->at)
		size = (size_t)(transfer->bytes - sending->at);
	if (transfer->data) {
		memcpy(sending->piece, transfer->data + sending->at, size);
		done = size;
	}
	while (done < size) {
		ssize_t got =
			transfer->read(transfer->arg, sending->piece + done,
				       size - done, err);

		if (got < 0)
			return -1;
		if (!got)
			break;
		done += (size_t)got;
	}
	sending->at += done;
	return (ssize_t)done;
}

/* Read on from this byte. */
static int move_to(struct sending *sending, uint64_t offset, struct error *err)
{
	const struct blob_transfer *transfer = sending->transfer;

	if (offset < sending->at || !sending->begun) {
		if (!transfer->data && transfer->begin(transfer->arg, err) < 0)
			return -1;
		sending->begun = true;
		sending->at = 0;
	}
	while (sending->at < offset) {
		uint64_t left = offset - sending->at;
		ssize_t got =
			sending_read_piece(sending, left < PIECE ? left : PIECE,
					   err);

		if (got < 0)
			return -1;
		if (!got)
			return transfer_changed(err);
	}
	return 0;
}

static void put_done(void *arg, struct answer *answer, const struct error *err)
{
	struct put *put = arg;
	struct sending *sending = put->sending;
	const struct blob_transfer *transfer = sending->transfer;
	const struct reply_blob_put *reply;

	put->number = 0;
	sending->under_way--;
	if (sending->error.code)
		return;
	if (err && err->code == EBADMSG) {
		error_set(&sending->error, EINVAL,
			  "the bytes do not match their hash; the file is "
			  "damaged, or changed while it was sent");
		return;
	}
	if (err) {
		sending->error = *err;
		if (err->code == ENOSPC || err->code == EDQUOT)
			error_prefix(&sending->error, "the controller");
		return;
	}
	reply = answer->reply;
	sending->length = reply->length;
	sending->whole = reply->whole;
	if (sending->length > transfer->bytes)
		error_set(&sending->error, EPROTO,
			  "the controller has more bytes than the file, so the "
			  "file changed; run the command again");
	else if (transfer->progress && sending->begun)
		transfer->progress(transfer->arg, sending->length,
				   transfer->bytes);
}

static int sending_put(struct sending *sending, uint64_t offset, size_t size,
		       struct error *err)
{
	struct message_blob_put message = {
		.hash = (char *)sending->transfer->hash,
		.bytes = sending->transfer->bytes,
		.offset = offset,
	};
	struct put *put = sending->puts;

	while (put->number)
		put++;
	put->sending = sending;
	if (client_send(sending->client, MESSAGE_BLOB_PUT, &message,
			sending->piece, size, 0, put_done, put, &put->number,
			err) < 0)
		return -1;
	sending->under_way++;
	return 0;
}

static int sending_put_piece(struct sending *sending, struct error *err)
{
	uint64_t offset = sending->at;
	ssize_t got = sending_read_piece(sending, PIECE, err);

	if (got < 0)
		return -1;
	if (!got || sending->at > sending->transfer->bytes)
		return transfer_changed(err);
	return sending_put(sending, offset, (size_t)got, err);
}

/* Send pieces without waiting for each answer. When all are answered, it is
 * known what the controller has: send the rest, or ask whether the blob is
 * whole.
 */
static int sending_step(struct sending *sending, struct error *err)
{
	uint64_t bytes = sending->transfer->bytes;

	if (!sending->under_way && sending->length == bytes)
		return sending_put(sending, bytes, 0, err);
	if (!sending->under_way &&
	    (!sending->begun || sending->at != sending->length) &&
	    move_to(sending, sending->length, err) < 0)
		return -1;
	if (sending->begun && sending->under_way < WINDOW &&
	    sending->at < bytes)
		return sending_put_piece(sending, err);
	return client_turn(sending->client, err);
}

int blob_transfer_put(struct client *client,
		      const struct blob_transfer *transfer, struct error *err)
{
	owned(sending_clear) struct sending sending = {
		.client = client,
		.transfer = transfer,
		.piece = malloc(PIECE),
	};

	if (!sending.piece)
		return error_nomem(err, "blob");
	if (sending_put(&sending, 0, 0, err) < 0)
		return -1;
	while (!sending.whole && !sending.error.code)
		if (sending_step(&sending, err) < 0)
			return -1;
	if (!sending.error.code)
		return 0;
	return error_set(err, sending.error.code, "%s", sending.error.text);
}

int blob_transfer_to_file(void *to, const void *data, size_t size,
			  struct error *err)
{
	return file_write_all(*(const int *)to, "cannot write", data, size,
			      err);
}

int blob_transfer_get(struct client *client, uint64_t job, const char *hash,
		      blob_transfer_write_fn *write, void *to,
		      blob_transfer_progress_fn *progress, void *arg,
		      struct error *err)
{
	struct message_blob_get get = { .hash = (char *)hash, .job = job };
	struct digest digest;
	char found[BLOB_HASH_SIZE];
	uint64_t total;

	digest_init(&digest);
	do {
		owned(answer_clear) struct answer answer = { 0 };

		if (client_call(client, MESSAGE_BLOB_GET, &get, &answer, err) <
		    0)
			return -1;
		total = ((const struct reply_blob_get *)answer.reply)->bytes;
		if (!answer.size && get.offset < total)
			return error_set(err, EPROTO,
					 "the controller sent no data");
		digest_add(&digest, answer.payload, answer.size);
		if (write(to, answer.payload, answer.size, err) < 0)
			return -1;
		get.offset += answer.size;
		if (progress)
			progress(arg, get.offset, total);
	} while (get.offset < total);
	digest_hex(&digest, found);
	return strcmp(found, hash)
		       ? error_set(err, EBADMSG,
				   "the bytes do not match their hash")
		       : 0;
}
