/* json_writer.c - JSON text written value by value, without a tree.
 */
#include "protocol/message/json_writer.h"

#include "protocol/message/token.h"

#include <errno.h>
#include <string.h>

void json_writer_init(struct json_writer *writer, struct buffer *out)
{
	writer->out = out;
	writer->begun = out->size;
	writer->follows = false;
	writer->failure.code = 0;
}

/* What stands before a value: the comma, the name and the colon. */
static int put_head(struct buffer *out, bool follows, const char *name,
		    char *mark, struct error *err)
{
	*mark = follows ? ',' : 0;
	if (!name)
		return 0;
	if (json_text_string(out, *mark, name, strlen(name), err) < 0)
		return -1;
	*mark = ':';
	return 0;
}

static int put_bracket(struct buffer *out, char mark, char bracket,
		       struct error *err)
{
	const char text[2] = { mark, bracket };

	return mark ? buffer_append(out, text, 2, err)
		    : buffer_append(out, &bracket, 1, err);
}

static int put_value(struct buffer *out, bool follows, const char *name,
		     const struct token *token, struct error *err)
{
	char mark;

	return put_head(out, follows, name, &mark, err) < 0
		       ? -1
		       : json_text_value(out, mark, token, err);
}

static int put_tree(struct buffer *out, bool follows, const char *name,
		    const cJSON *tree, int depth, struct error *err)
{
	bool object = cJSON_IsObject(tree);
	const cJSON *item;
	struct token token;
	char mark;

	if (!object && !cJSON_IsArray(tree)) {
		json_tree_token(tree, &token);
		return put_value(out, follows, name, &token, err);
	}
	if (depth == TOKEN_DEPTH_MAX)
		return error_set(err, EPROTO,
				 "lists and objects nested more than %d deep",
				 TOKEN_DEPTH_MAX);
	if (put_head(out, follows, name, &mark, err) < 0 ||
	    put_bracket(out, mark, object ? '{' : '[', err) < 0)
		return -1;
	for (item = tree->child; item; item = item->next)
		if (put_tree(out, item != tree->child,
			     object ? item->string : NULL, item, depth + 1,
			     err) < 0)
			return -1;
	return put_bracket(out, 0, object ? '}' : ']', err);
}

/* After a failure, what follows is left out. */
static bool is_broken(const struct json_writer *writer)
{
	return writer->failure.code != 0;
}

static void put(struct json_writer *writer, const char *name,
		const struct token *token)
{
	if (!is_broken(writer) && put_value(writer->out, writer->follows, name,
					    token, &writer->failure) == 0)
		writer->follows = true;
}

void json_open(struct json_writer *writer, const char *name, char bracket)
{
	char mark;

	if (!is_broken(writer) && put_head(writer->out, writer->follows, name,
					   &mark, &writer->failure) == 0)
		put_bracket(writer->out, mark, bracket, &writer->failure);
	writer->follows = false;
}

void json_close(struct json_writer *writer, char bracket)
{
	if (!is_broken(writer))
		put_bracket(writer->out, 0, bracket, &writer->failure);
	writer->follows = true;
}

void json_text(struct json_writer *writer, const char *name, const char *text)
{
	struct token token = { .kind = text ? TOKEN_TEXT : TOKEN_NULL,
			       .size = text ? strlen(text) : 0,
			       .text = text };

	put(writer, name, &token);
}

void json_number(struct json_writer *writer, const char *name, double number)
{
	struct token token;

	json_number_token(number, &token);
	put(writer, name, &token);
}

void json_bool(struct json_writer *writer, const char *name, bool flag)
{
	struct token token = { .kind = TOKEN_BOOL, .flag = flag };

	put(writer, name, &token);
}

void json_tree(struct json_writer *writer, const char *name, const cJSON *tree)
{
	struct token null = { .kind = TOKEN_NULL };

	if (!tree)
		put(writer, name, &null);
	else if (!is_broken(writer) &&
		 put_tree(writer->out, writer->follows, name, tree, 0,
			  &writer->failure) == 0)
		writer->follows = true;
}

void json_member(struct json_writer *writer, const cJSON *member)
{
	json_tree(writer, member->string, member);
}

void json_members(struct json_writer *writer, const char *text)
{
	if (is_broken(writer) || !*text)
		return;
	if (writer->follows)
		buffer_append(writer->out, ",", 1, &writer->failure);
	if (!is_broken(writer))
		buffer_text(writer->out, text, &writer->failure);
	writer->follows = true;
}

void json_fail(struct json_writer *writer, const struct error *failure)
{
	if (!is_broken(writer))
		writer->failure = *failure;
}

int json_writer_end(struct json_writer *writer, struct error *err)
{
	if (!is_broken(writer))
		return 0;
	if (writer->out->size > writer->begun) {
		writer->out->size = writer->begun;
		writer->out->data[writer->begun] = 0;
	}
	return error_set(err, writer->failure.code, "%s", writer->failure.text);
}
