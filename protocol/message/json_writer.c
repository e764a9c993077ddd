/* json_writer.c - JSON text written value by value, without a tree.
 */
#include "protocol/message/json_writer.h"

#include "protocol/message/codec_internal.h"

void json_writer_init(struct json_writer *writer, struct buffer *out)
{
	writer->out = out;
	writer->begun = out->size;
	writer->failure.code = 0;
	json_text_sink(&writer->sink, out, &writer->failure);
}

static void json_writer_put_token(struct json_writer *writer,
				  const struct token *token)
{
	if (!writer->failure.code)
		writer->sink.sink.put(&writer->sink.sink, token);
}

/* The name of the value that follows; NULL: none. */
static void json_writer_put_name(struct json_writer *writer, const char *name)
{
	if (!name)
		return;
	json_writer_put_token(writer, &(struct token){ .kind = TOKEN_TEXT,
						       .size = strlen(name),
						       .text = name });
	writer->sink.named = true; /* also of members without an object */
}

static void json_writer_put_value(struct json_writer *writer, const char *name,
				  const struct token *token)
{
	json_writer_put_name(writer, name);
	json_writer_put_token(writer, token);
}

void json_open(struct json_writer *writer, const char *name, char bracket)
{
	json_writer_put_value(writer, name,
			      &(struct token){ .kind = bracket == '{'
							       ? TOKEN_OBJECT
							       : TOKEN_LIST });
}

void json_close(struct json_writer *writer)
{
	json_writer_put_token(writer, &(struct token){ .kind = TOKEN_END });
}

void json_text(struct json_writer *writer, const char *name, const char *text)
{
	json_writer_put_value(writer, name,
			      &(struct token){ .kind = text ? TOKEN_TEXT
							    : TOKEN_NULL,
					       .size = text ? strlen(text) : 0,
					       .text = text });
}

void json_number(struct json_writer *writer, const char *name, double number)
{
	struct token token;

	json_number_token(number, &token);
	json_writer_put_value(writer, name, &token);
}

void json_bool(struct json_writer *writer, const char *name, bool flag)
{
	json_writer_put_value(writer, name,
			      &(struct token){ .kind = TOKEN_BOOL,
					       .flag = flag });
}

void json_tree(struct json_writer *writer, const char *name, const cJSON *tree)
{
	if (!tree) {
		json_text(writer, name, NULL);
		return;
	}
	json_writer_put_name(writer, name);
	if (!writer->failure.code)
		json_tree_put(tree, &writer->sink.sink);
}

void json_member(struct json_writer *writer, const cJSON *member)
{
	json_tree(writer, member->string, member);
}

void json_members(struct json_writer *writer, const char *text)
{
	if (writer->failure.code || !*text)
		return;
	if (!writer->sink.first)
		buffer_text(writer->out, ",", &writer->failure);
	if (!writer->failure.code)
		buffer_text(writer->out, text, &writer->failure);
	writer->sink.first = false;
}

void json_fail(struct json_writer *writer, const struct error *failure)
{
	if (!writer->failure.code)
		writer->failure = *failure;
}

int json_writer_end(struct json_writer *writer, struct error *err)
{
	if (!writer->failure.code)
		return 0;
	codec_undo(writer->out, writer->begun);
	return error_set(err, writer->failure.code, "%s", writer->failure.text);
}
