/* json_tree.c - tokens as a tree of cJSON, and back.
 */
#include "protocol/message/codec_token.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *text_item(const char *text, size_t size)
{
	char *copy = strndup(text, size);
	cJSON *item = copy ? cJSON_CreateString(copy) : NULL;

	free(copy);
	return item;
}

static cJSON *integer_item(uint64_t size, bool negative)
{
	char text[24];

	if (size <= TOKEN_EXACT_MAX)
		return cJSON_CreateNumber(negative ? -(double)size
						   : (double)size);
	snprintf(text, sizeof(text), "%s%" PRIu64, negative ? "-" : "", size);
	return cJSON_CreateString(text);
}

static cJSON *item_of(const struct token *token)
{
	switch (token->kind) {
	case TOKEN_BOOL:
		return cJSON_CreateBool(token->flag);
	case TOKEN_UNSIGNED:
		return integer_item(token->number, false);
	case TOKEN_NEGATIVE:
		return integer_item(-(uint64_t)token->negative, true);
	case TOKEN_REAL:
		return cJSON_CreateNumber(token->real);
	case TOKEN_TEXT:
		return text_item(token->text, token->size);
	case TOKEN_LIST:
		return cJSON_CreateArray();
	case TOKEN_OBJECT:
		return cJSON_CreateObject();
	default:
		return cJSON_CreateNull();
	}
}

/* Add the item to the open list or object. False: no memory; the item is
 * deleted.
 */
static bool json_tree_add_item(struct json_tree_sink *sink, cJSON *item)
{
	cJSON *open = sink->depth ? sink->open[sink->depth - 1] : NULL;
	bool added;

	if (!open) {
		sink->root = item;
		return true;
	}
	added = cJSON_IsArray(open)
			? cJSON_AddItemToArray(open, item)
			: cJSON_AddItemToObject(open, sink->name, item);
	if (!added)
		cJSON_Delete(item);
	free(sink->name);
	sink->name = NULL;
	return added;
}

static int json_tree_put_token(struct token_sink *base,
			       const struct token *token)
{
	struct json_tree_sink *sink = (struct json_tree_sink *)base;
	bool member =
		sink->depth && cJSON_IsObject(sink->open[sink->depth - 1]);
	cJSON *item;

	if (token->kind == TOKEN_END) {
		sink->depth--;
		return 0;
	}
	if (member && !sink->name) {
		sink->name = strndup(token->text, token->size);
		return sink->name ? 0 : error_nomem(base->err, "JSON");
	}
	if (sink->depth == TOKEN_DEPTH_MAX)
		return error_set(base->err, EPROTO,
				 "lists and objects nested more than %d deep",
				 TOKEN_DEPTH_MAX);
	item = item_of(token);
	if (!item || !json_tree_add_item(sink, item))
		return error_nomem(base->err, "JSON");
	if (token->kind == TOKEN_LIST || token->kind == TOKEN_OBJECT)
		sink->open[sink->depth++] = item;
	return 0;
}

struct token_sink *json_tree_sink(struct json_tree_sink *sink,
				  struct error *err)
{
	*sink = (struct json_tree_sink){ .sink = { json_tree_put_token, err } };
	return &sink->sink;
}

void json_tree_sink_clear(struct json_tree_sink *sink)
{
	free(sink->name);
	sink->name = NULL;
}

/* Back. */

static void json_number_token(double value, struct token *token)
{
	bool exact = value >= -(double)TOKEN_EXACT_MAX &&
		     value <= (double)TOKEN_EXACT_MAX && value == floor(value);

	if (!exact)
		*token = (struct token){ .kind = TOKEN_REAL, .real = value };
	else if (value < 0)
		*token = (struct token){ .kind = TOKEN_NEGATIVE,
					 .negative = (int64_t)value };
	else
		*token = (struct token){ .kind = TOKEN_UNSIGNED,
					 .number = (uint64_t)value };
}

static void text_token(const char *text, struct token *token)
{
	*token = (struct token){ .kind = TOKEN_TEXT,
				 .size = strlen(text),
				 .text = text };
}

static void token_of(const cJSON *item, struct token *token)
{
	int kind = item->type & 0xff;

	if (kind == cJSON_Number)
		json_number_token(item->valuedouble, token);
	else if (kind == cJSON_String)
		text_token(item->valuestring, token);
	else if (kind == cJSON_True || kind == cJSON_False)
		*token = (struct token){ .kind = TOKEN_BOOL,
					 .flag = kind == cJSON_True };
	else if (kind == cJSON_Array || kind == cJSON_Object)
		*token = (struct token){
			.kind = kind == cJSON_Array ? TOKEN_LIST : TOKEN_OBJECT,
			.size = (size_t)cJSON_GetArraySize(item)
		};
	else
		*token = (struct token){ .kind = TOKEN_NULL };
}

static int json_tree_put_item(const cJSON *item, struct token_sink *sink,
			      int depth)
{
	struct token token;
	bool open;

	token_of(item, &token);
	open = token.kind == TOKEN_LIST || token.kind == TOKEN_OBJECT;
	if (open && depth == TOKEN_DEPTH_MAX)
		return error_set(sink->err, EPROTO,
				 "lists and objects nested more than %d deep",
				 TOKEN_DEPTH_MAX);
	if (sink->put(sink, &token) < 0)
		return -1;
	for (const cJSON *each = item->child; each; each = each->next) {
		if (each->string) {
			text_token(each->string, &token);
			if (sink->put(sink, &token) < 0)
				return -1;
		}
		if (json_tree_put_item(each, sink, depth + 1) < 0)
			return -1;
	}
	token.kind = TOKEN_END;
	return open ? sink->put(sink, &token) : 0;
}

int json_tree_put(const cJSON *tree, struct token_sink *sink)
{
	return tree ? json_tree_put_item(tree, sink, 0)
		    : error_set(sink->err, EPROTO, "not JSON");
}

/* Go to the first child, or to the next item of the innermost list or object
 * that has one.
 */
static void json_tree_advance(struct json_tree_source *source)
{
	const cJSON *item = source->open[source->depth - 1];

	if (item->child) {
		source->open[source->depth++] = item->child;
		return;
	}
	while (source->depth > 1 && !source->open[source->depth - 1]->next)
		source->depth--;
	if (source->depth == 1)
		source->depth =
			0; /* siblings of the root are not part of the tree */
	else
		source->open[source->depth - 1] =
			source->open[source->depth - 1]->next;
}

static int json_tree_read_token(struct token_source *base, struct token *token)
{
	struct json_tree_source *source = (struct json_tree_source *)base;
	const cJSON *item;

	if (!source->depth)
		return error_set(base->err, EPROTO, "not JSON");
	if (source->depth > TOKEN_DEPTH_MAX)
		return error_set(base->err, EPROTO,
				 "lists and objects nested more than %d deep",
				 TOKEN_DEPTH_MAX);
	item = source->open[source->depth - 1];
	if (source->depth > 1 && !source->named &&
	    cJSON_IsObject(source->open[source->depth - 2])) {
		source->named = true;
		text_token(item->string, token);
		return 0;
	}
	source->named = false;
	token_of(item, token);
	json_tree_advance(source);
	return 0;
}

struct token_source *json_tree_source(struct json_tree_source *source,
				      const cJSON *tree, struct error *err)
{
	source->source = (struct token_source){ .next = json_tree_read_token,
						.err = err,
						.json = true };
	source->open[0] = tree;
	source->depth = tree ? 1 : 0;
	source->named = false;
	return &source->source;
}
