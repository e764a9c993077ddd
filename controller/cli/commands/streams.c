/* streams.c - lists and reads the output streams of a job.
 */
#include "controller/cli/commands/streams.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

bool stream_meant(const struct stream_info *stream, const char *name)
{
	const char *path = stream->path;
	const char *slash = path ? strrchr(path, '/') : NULL;

	return !strcmp(name, stream->stream) ||
	       (path && (!strcmp(name, path) || !fnmatch(name, path, 0))) ||
	       (slash && !fnmatch(name, slash + 1, 0));
}

bool stream_piece_fits(const struct answer *answer, uint64_t offset,
		       bool anywhere)
{
	const struct reply_log_read *reply = answer->reply;

	return reply->size == answer->size &&
	       (reply->offset == offset || anywhere) &&
	       reply->offset <= reply->length &&
	       answer->size <= reply->length - reply->offset &&
	       (answer->size || reply->offset == reply->length);
}

int stream_piece_wrong(const char *stream, struct error *err)
{
	return error_set(err, EPROTO,
			 "%.64s: the controller sent an unexpected part of the "
			 "log",
			 stream);
}

int stream_read(struct client *client, uint64_t job, uint32_t attempt,
		const char *stream, uint64_t from, file_reader_fn *fn,
		void *arg, struct error *err)
{
	struct message_log_read ask = {
		.job = job,
		.attempt = attempt,
		.stream = (char *)stream,
		.offset = from,
	};
	uint64_t length;

	do {
		owned(answer_clear) struct answer answer = { 0 };

		if (client_call(client, MESSAGE_LOG_READ, &ask, &answer, err) <
		    0)
			return -1;
		if (!stream_piece_fits(&answer, ask.offset, false))
			return stream_piece_wrong(stream, err);
		if (answer.size &&
		    fn(answer.payload, answer.size, arg, err) < 0)
			return -1;
		length = ((const struct reply_log_read *)answer.reply)->length;
		ask.offset += answer.size;
	} while (ask.offset < length);
	return 0;
}
