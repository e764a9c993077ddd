/* wire_json.h - messages as tests write and read them: JSON, whatever they are
 * on the wire.
 */
#pragma once

#include "protocol/message/codec_internal.h"

/* Append the object to bytes as it is on the wire. False: it goes as it is,
 * being a hello, or no object.
 */
static inline bool wire_from_json(const char *text, struct buffer *bytes)
{
	static const char hello[] = "{\"type\":\"hello\"";
	cJSON *object = strncmp(text, hello, sizeof(hello) - 1) != 0
				? codec_parse(text, strlen(text), NULL)
				: NULL;
	struct cbor_bytes_sink sink;
	bool good =
		cJSON_IsObject(object) &&
		json_tree_put(object, cbor_bytes_sink(&sink, bytes, NULL)) == 0;

	cJSON_Delete(object);
	return good;
}

/* The tree as the body of a reply, which the caller releases; NULL: none. */
static inline struct packed packed_tree(const cJSON *tree)
{
	struct packed packed = { 0 };
	struct cbor_bytes_sink sink;
	struct buffer bytes;

	buffer_init(&bytes, (size_t)1 << 30);
	if (tree &&
	    json_tree_put(tree, cbor_bytes_sink(&sink, &bytes, NULL)) == 0) {
		packed.size = bytes.size;
		packed.bytes = buffer_take(&bytes);
	}
	return packed;
}

/* And back; the caller deletes it. */
static inline cJSON *packed_to_tree(const struct packed *packed)
{
	struct cbor_bytes_source bytes;
	struct token_source *source =
		cbor_bytes_source(&bytes, packed->bytes, packed->size, NULL);
	struct json_tree_sink sink;
	struct token token;

	json_tree_sink(&sink, NULL);
	if (source->next(source, &token) == 0)
		token_copy(source, &token, &sink.sink);
	json_tree_sink_clear(&sink);
	return sink.root;
}

/* Append the messages of a frame that came to text, as JSON. */
static inline void wire_to_json(const char *data, size_t size,
				struct buffer *text)
{
	struct cbor_bytes_source bytes;
	struct token_source *source =
		cbor_bytes_source(&bytes, data, size, NULL);
	struct json_text_sink sink;
	struct token token;

	if (size && data[0] == '{')
		buffer_append(text, data, size, NULL);
	else
		while (bytes.at < size && source->next(source, &token) == 0 &&
		       token_copy(source, &token,
				  json_text_sink(&sink, text, NULL)) == 0)
			;
}
