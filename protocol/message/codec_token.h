/* codec_token.h - typed values in sequence, the common form of structs, bytes
 * and JSON.
 *
 * For the codec alone. A source gives tokens; a sink takes them and writes
 * bytes, text or a tree. A list is followed by its items, an object by its
 * members, each a text (the name) and a value. A sink is given TOKEN_END after
 * the last of them. A source gives no TOKEN_END: the token of the list or
 * object has the size.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cbor.h>
#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TOKEN_DEPTH_MAX 100 /* lists and objects in each other */

/* A larger number is one that cJSON would not print with all its digits. */
#define TOKEN_EXACT_MAX UINT64_C(1000000000000000)

enum token_kind {
	TOKEN_NONE,
	TOKEN_NULL,
	TOKEN_BOOL,
	TOKEN_UNSIGNED,
	TOKEN_NEGATIVE,
	TOKEN_REAL, /* of JSON also an integer beyond TOKEN_EXACT_MAX */
	TOKEN_TEXT,
	TOKEN_LIST,
	TOKEN_OBJECT,
	TOKEN_END,
};

struct token {
	enum token_kind kind;
	size_t size; /* bytes of a text, items of a list, members */
	union {
		bool flag;
		uint64_t number;
		int64_t negative;
		double real;
		const char *text; /* borrowed, without a 0 at its end */
	};
};

/* Is it this text? */
static inline bool token_is(const struct token *token, const char *text)
{
	return token->kind == TOKEN_TEXT &&
	       !strncmp(text, token->text, token->size) && !text[token->size];
}

/* Calls return 0, or -1 and set *err, which may be NULL. */
struct token_sink {
	int (*put)(struct token_sink *sink, const struct token *token);
	struct error *err;
};

/* EPROTO: there is no value, or one that no message has. */
struct token_source {
	int (*next)(struct token_source *source, struct token *token);
	struct error *err;
	bool json;  /* large integers are texts of digits */
	bool loose; /* fields of structs may be unknown, and absent */
};

/* Copy the value that begins with this token to the sink, or, with sink NULL,
 * skip it. EPROTO past TOKEN_DEPTH_MAX.
 */
int token_copy(struct token_source *source, const struct token *token,
	       struct token_sink *sink);

/* CBOR (RFC 8949), without tags, byte strings and items of indefinite size. */

struct cbor_bytes_sink {
	struct token_sink sink;
	struct buffer *out;
};
struct token_sink *cbor_bytes_sink(struct cbor_bytes_sink *sink,
				   struct buffer *out, struct error *err);

struct cbor_bytes_source {
	struct token_source source;
	struct cbor_callbacks callbacks;
	const char *data;
	size_t size, at;
};
struct token_source *cbor_bytes_source(struct cbor_bytes_source *source,
				       const char *data, size_t size,
				       struct error *err);

/* JSON text, in one line. */

struct json_text_sink {
	struct token_sink sink;
	struct buffer *out;
	bool lists[TOKEN_DEPTH_MAX];
	size_t depth;
	bool first; /* nothing yet in the innermost list or object */
	bool named; /* the name of a member was last */
};
struct token_sink *json_text_sink(struct json_text_sink *sink,
				  struct buffer *out, struct error *err);

/* A tree of cJSON. */

struct json_tree_sink {
	struct token_sink sink;
	cJSON *root; /* the caller deletes it, also after an error */
	cJSON *open[TOKEN_DEPTH_MAX];
	size_t depth;
	char *name; /* of the member to come */
};
struct token_sink *json_tree_sink(struct json_tree_sink *sink,
				  struct error *err);
void json_tree_sink_clear(struct json_tree_sink *sink); /* but the tree */

/* Give the tree to the sink. EPROTO past TOKEN_DEPTH_MAX, or when it is NULL.
 */
int json_tree_put(const cJSON *tree, struct token_sink *sink);

struct json_tree_source {
	struct token_source source;
	const cJSON *open[TOKEN_DEPTH_MAX + 1];
	size_t depth;
	bool named; /* the name of the present item was given */
};
struct token_source *json_tree_source(struct json_tree_source *source,
				      const cJSON *tree, struct error *err);
