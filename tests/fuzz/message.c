/* message.c - feeds any bytes to the message decoder, and any JSON as what it
 * is on the wire; what is taken must be the same again after encoding and
 * decoding, and so must the body of a reply, for whichever requests it may
 * answer.
 */
#include "protocol/message/message.h"
#include "tests/wire_json.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void try_reply(const struct schema *schema, const struct packed *body)
{
	void *first = calloc(1, schema->size),
	     *second = calloc(1, schema->size);
	struct error err = { 0 };
	cJSON *object;

	if (codec_unpack(schema, body, first, &err) < 0)
		must(err.code && err.text[0]);
	/* What was absent may be missing now. */
	object = codec_object(schema, first, NULL);
	if (object && codec_from_object(schema, object, second, &err) < 0)
		abort();
	cJSON_Delete(object);
	codec_clear(schema, first);
	codec_clear(schema, second);
	free(first);
	free(second);
}

static void try_replies(enum message_type type, const void *message)
{
	const struct message_reply *reply = message;

	if (type != MESSAGE_REPLY)
		return;
	for (int kind = 1; kind < QUERY_KINDS; kind++)
		try_reply(query_replies[kind], &reply->body);
	for (int i = 1; i < MESSAGE_TYPES; i++)
		if (message_kinds[i].reply)
			try_reply(message_kinds[i].reply, &reply->body);
}

static void try_message(const char *data, size_t size)
{
	owned(buffer_clear) struct buffer first =
		BUFFER_INIT((size_t)MESSAGE_REPLY_MAX * 8);
	owned(buffer_clear) struct buffer second =
		BUFFER_INIT((size_t)MESSAGE_REPLY_MAX * 8);
	enum message_type type = MESSAGE_NONE, again_type = MESSAGE_NONE;
	void *body = NULL, *again = NULL;
	struct error err = { 0 };

	/* Escapes may make the text longer than what it was read from. */
	if (message_decode(data, size, &type, &body, &err) < 0) {
		must(err.code && err.text[0] && !body);
		return;
	}
	try_replies(type, body);
	must(message_encode(type, body, &first, NULL) == 0);
	if (first.size <= MESSAGE_TEXT_MAX) {
		must(message_decode(first.data, first.size, &again_type, &again,
				    NULL) == 0);
		must(again_type == type);
		must(message_encode(type, again, &second, NULL) == 0);
		must(first.size == second.size &&
		     !memcmp(first.data, second.data, first.size));
		message_free(type, again);
	}
	message_free(type, body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(MESSAGE_REPLY_MAX);
	owned(buffer_clear) struct buffer bytes =
		BUFFER_INIT(MESSAGE_REPLY_MAX);

	try_message((const char *)data, size);
	if (buffer_append(&text, data, size, NULL) == 0 &&
	    wire_from_json(text.data, &bytes))
		try_message(bytes.data, bytes.size);
	return 0;
}
