/* json_writer.h - JSON text written value by value, without a tree.
 *
 *	json_writer_init(&writer, &out);
 *	json_open(&writer, NULL, '{');
 *	json_text(&writer, "node", name);
 *	json_tree(&writer, "facts", facts);
 *	json_close(&writer);
 *	rc = json_writer_end(&writer, err);
 *
 * The text is one line, as codec_print() writes it. A name is NULL in a list,
 * and for the outermost value. The first failure is kept, and told at the end:
 * the calls behind it do nothing.
 */
#ifndef PROTOCOL_MESSAGE_JSON_WRITER_H
#define PROTOCOL_MESSAGE_JSON_WRITER_H

#include "protocol/message/codec_token.h"

struct json_writer {
	struct buffer *out;
	struct json_text_sink sink;
	size_t begun;         /* the size of out before */
	struct error failure; /* code 0: none */
};

/* Write behind what is in the buffer. */
void json_writer_init(struct json_writer *writer, struct buffer *out);

/* A bracket: '{' or '[', and its counterpart. */
void json_open(struct json_writer *writer, const char *name, char bracket);
void json_close(struct json_writer *writer);

/* NULL: null. */
void json_text(struct json_writer *writer, const char *name, const char *text);
/* Not finite: null. */
void json_number(struct json_writer *writer, const char *name, double number);
void json_bool(struct json_writer *writer, const char *name, bool flag);
/* NULL: null. EPROTO: lists and objects nested more than 100 deep. */
void json_tree(struct json_writer *writer, const char *name, const cJSON *tree);
/* A member of another object, under its name. */
void json_member(struct json_writer *writer, const cJSON *member);
/* Members that another writer wrote without an object; "": none. */
void json_members(struct json_writer *writer, const char *text);

/* Note a failure of the caller's own. */
void json_fail(struct json_writer *writer, const struct error *failure);

/* 0, or the first failure: E2BIG past the limit of the buffer, ENOMEM, or
 * EPROTO. The buffer is then as it was before.
 */
int json_writer_end(struct json_writer *writer, struct error *err);

#endif
