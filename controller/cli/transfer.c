/* transfer.c - contents between this machine and the controller.
 */
#include "controller/cli/transfer.h"

#include "controller/cli/json.h"
#include "protocol/digest.h"

#include <errno.h>
#include <string.h>

#define PIECE MESSAGE_PAYLOAD_MAX

/* A content on its way out. */
struct sending {
	struct client *client;
	const struct transfer *transfer;
	uint64_t at; /* what was read so far */
	char *piece;
	bool whole; /* the controller has all of it */
};

/* Read up to the whole piece, or to the end. */
static ssize_t read_piece(struct sending *sending, size_t size,
			  struct error *err)
{
	const struct transfer *transfer = sending->transfer;
	size_t done = 0;

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

/* Go on at that byte. */
static int move_to(struct sending *sending, uint64_t offset, struct error *err)
{
	const struct transfer *transfer = sending->transfer;

	if (offset < sending->at || !sending->at) {
		if (transfer->begin(transfer->arg, err) < 0)
			return -1;
		sending->at = 0;
	}
	while (sending->at < offset) {
		uint64_t left = offset - sending->at;
		ssize_t got =
			read_piece(sending, left < PIECE ? left : PIECE, err);

		if (got < 0)
			return -1;
		if (!got)
			return error_set(err, EINVAL,
					 "it has changed while it was sent");
		if (client_look(sending->client, err) < 0)
			return -1;
	}
	return 0;
}

/* Send these bytes; *length: how much the controller has now. */
static int put(struct sending *sending, uint64_t offset, size_t size,
	       uint64_t *length, struct error *err)
{
	struct message_content_put message = {
		.hash = (char *)sending->transfer->hash,
		.bytes = sending->transfer->bytes,
		.offset = offset,
	};
	owned(answer_clear) struct answer answer = { 0 };

	if (client_call(sending->client, MESSAGE_CONTENT_PUT, &message,
			sending->piece, size, 0, &answer, err) < 0) {
		if (err->code == EBADMSG)
			return error_set(err, EINVAL,
					 "it has changed while it was sent");
		return -1;
	}
	*length = json_u64(answer.body, "length");
	sending->whole = json_bool(answer.body, "whole");
	if (*length > sending->transfer->bytes)
		return error_set(err, EPROTO,
				 "the controller has more than there is");
	return 0;
}

int transfer_put(struct client *client, const struct transfer *transfer,
		 struct error *err)
{
	owned_free char *piece = malloc(PIECE);
	struct sending sending = { client, transfer, 0, piece, false };
	uint64_t length = 0;

	if (!piece)
		return error_nomem(err, "content");
	if (put(&sending, 0, 0, &length, err) < 0)
		return -1;
	while (!sending.whole) {
		uint64_t offset = length;
		ssize_t got = 0;

		if (length < transfer->bytes) {
			if ((!sending.at || sending.at != length) &&
			    move_to(&sending, length, err) < 0)
				return -1;
			got = read_piece(&sending, PIECE, err);
			if (got < 0)
				return -1;
			if (!got || sending.at > transfer->bytes)
				return error_set(err, EINVAL,
						 "it has changed while it was "
						 "sent");
		}
		if (put(&sending, offset, (size_t)got, &length, err) < 0)
			return -1;
		if (transfer->progress)
			transfer->progress(transfer->arg, length,
					   transfer->bytes);
	}
	return 0;
}

static int write_all(int fd, const char *data, size_t size, struct error *err)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return error_errno(err, "cannot write");
		data += done;
		size -= (size_t)done;
	}
	return 0;
}

int transfer_get(struct client *client, const char *hash, int fd,
		 transfer_progress_fn *progress, void *arg, struct error *err)
{
	struct message_content_get get = { .hash = (char *)hash };
	struct digest digest;
	char found[CONTENT_HASH_SIZE];
	uint64_t total;

	digest_init(&digest);
	do {
		owned(answer_clear) struct answer answer = { 0 };

		if (client_call(client, MESSAGE_CONTENT_GET, &get, NULL, 0, 0,
				&answer, err) < 0)
			return -1;
		total = json_u64(answer.body, "bytes");
		if (!answer.size && get.offset < total)
			return error_set(err, EPROTO,
					 "the controller sent nothing");
		digest_add(&digest, answer.payload, answer.size);
		if (write_all(fd, answer.payload, answer.size, err) < 0)
			return -1;
		get.offset += answer.size;
		if (progress)
			progress(arg, get.offset, total);
	} while (get.offset < total);
	digest_hex(&digest, found);
	return strcmp(found, hash) ? error_set(err, EBADMSG,
					       "other bytes came than its hash "
					       "says")
				   : 0;
}
