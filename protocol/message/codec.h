/* codec.h - encodes structs as bytes or JSON and decodes them, by tables of
 * fields.
 *
 * A struct that travels (or is stored) is described once, by a table of its
 * fields; encoder, decoder, limits and fuzzer walk that table:
 *
 *	struct log_ack {
 *		uint64_t job;
 *		char *stream;
 *	};
 *	const struct schema log_ack_schema = SCHEMA(log_ack,
 *		FIELD(log_ack, job),
 *		FIELD_OPTIONAL(log_ack, stream));
 *
 * A field's kind follows from its C type by _Generic: a type that cannot
 * travel does not compile. Messages are CBOR; what is stored or printed is JSON
 * of the same objects. JSON numbers are doubles, and cJSON prints them with 15
 * digits, so integers beyond 10^15 are decimal strings there. Both forms are
 * read, numbers up to 2^53 - 1. Decoding trusts nothing: a field that is
 * unknown, missing, repeated, too long, out of range or of another type, and a
 * string with a NUL inside, is EPROTO, and the error names it. A failed call
 * leaves nothing behind.
 */
#pragma once

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"
#include "protocol/base/strings.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A list of whole numbers; items is owned. */
struct numbers {
	uint64_t *items;
	size_t count;
};
int numbers_add(struct numbers *numbers, uint64_t number, struct error *err);

/* A list of finite numbers; items is owned. */
struct doubles {
	double *items;
	size_t count;
};
int doubles_add(struct doubles *doubles, double number, struct error *err);

/* "nan", "inf" or "-inf": JSON has no number for them. */
const char *number_word(double number);

/* A number that a program named: a member of an object. name is owned. */
struct named_number {
	char *name;
	double number;
};

/* A struct in a message that does not know its schema: the reply to a request.
 * The sender gives the struct; who receives it has its CBOR, for
 * codec_unpack().
 */
struct packed {
	const struct schema *schema; /* to send: of `from` */
	const void *from;            /* borrowed */
	char *bytes;                 /* received; owned */
	size_t size;
};

/* What is not always known. */
enum truth { TRUTH_UNKNOWN, TRUTH_NO, TRUTH_YES };

enum field_kind {
	FIELD_BOOL,
	FIELD_U32,
	FIELD_U64,
	FIELD_I64,
	FIELD_DOUBLE,
	FIELD_STRING,  /* char *, NULL when absent */
	FIELD_STRINGS, /* struct strings */
	FIELD_JSON,    /* cJSON *, any value, NULL when absent */
	FIELD_STRUCT,  /* an embedded struct with a schema of its own */
	FIELD_POINTER, /* struct item *, NULL when absent */
	FIELD_LIST,    /* struct item *name; size_t name_count; */
	FIELD_ENUM,    /* uint32_t, a value by its name */
	FIELD_NUMBERS, /* struct numbers */
	FIELD_DOUBLES, /* struct doubles */
	FIELD_TRUTH,   /* uint32_t, an enum truth: null, false or true */
	FIELD_MAP,     /* struct named_number *name; size_t name_count; */
	FIELD_PACKED,  /* struct packed */
};

struct schema;

struct field {
	const char *name;
	enum field_kind kind;
	bool optional; /* absent: zero, NULL or empty, and not encoded */
	bool nullable; /* absent: NULL, encoded as null; null is read, too */
	bool known;    /* FIELD_DOUBLE, optional: absent is NAN, not zero, and
			  what is not finite is not encoded */
	bool words;    /* FIELD_DOUBLE: "nan", "inf", "-inf" for what JSON has
			  no number for */
	size_t offset;
	size_t count_offset;         /* FIELD_LIST, _MAP: of name_count */
	const struct schema *schema; /* FIELD_STRUCT, _POINTER, _LIST */
	const char *const *names;    /* FIELD_ENUM: by value, the last is NULL;
					the value 0 is not encoded */
};

struct schema {
	const char *name; /* as in JSON: underscores become '-' in "type" */
	size_t size;
	const struct field *fields;
	size_t count;
	/* In a list, a struct of which nothing but its first field, a string,
	 * is set is written as that string, and a string is read as one.
	 */
	bool shorthand;
};

#define CODEC_STRING_MAX STRINGS_ITEM_MAX /* bytes in one string */
#define CODEC_ITEMS_MAX 65536             /* items in one list */

/* clang-format off */
#define FIELD_KIND_(t, m)                                                      \
	_Generic(((struct t *)0)->m,                                           \
		 bool: FIELD_BOOL,                                             \
		 uint32_t: FIELD_U32,                                          \
		 uint64_t: FIELD_U64,                                          \
		 int64_t: FIELD_I64,                                           \
		 double: FIELD_DOUBLE,                                         \
		 char *: FIELD_STRING,                                         \
		 struct strings: FIELD_STRINGS,                                \
		 struct numbers: FIELD_NUMBERS,                                \
		 struct doubles: FIELD_DOUBLES,                                \
		 struct packed: FIELD_PACKED,                                  \
		 cJSON *: FIELD_JSON)
#define FIELD_(t, m, k, ...)                                                   \
	{ .name = #m, .kind = (k), .offset = offsetof(struct t, m), __VA_ARGS__ }
#define FIELD_LIST_(t, m, s, ...)                                              \
	FIELD_(t, m, FIELD_LIST, .schema = &(s),                               \
	       .count_offset = offsetof(struct t, m##_count), __VA_ARGS__)

#define FIELD(t, m) FIELD_(t, m, FIELD_KIND_(t, m), .optional = false)
#define FIELD_OPTIONAL(t, m) FIELD_(t, m, FIELD_KIND_(t, m), .optional = true)
/* A string or JSON: null where there is none. */
#define FIELD_NULLABLE(t, m)                                                   \
	FIELD_(t, m, FIELD_KIND_(t, m), .optional = true, .nullable = true)
/* A double that is left out while it is not finite; read as NAN. */
#define FIELD_KNOWN(t, m)                                                      \
	FIELD_(t, m, FIELD_KIND_(t, m), .optional = true, .known = true)
/* A double that is null while it is not finite; read as NAN. */
#define FIELD_FIGURE(t, m)                                                     \
	FIELD_(t, m, FIELD_KIND_(t, m), .optional = true, .nullable = true,    \
	       .known = true)
/* A double that may be no number. */
#define FIELD_WORDS(t, m) FIELD_(t, m, FIELD_KIND_(t, m), .words = true)
/* An enum truth in a uint32_t. */
#define FIELD_KNOWN_TRUTH(t, m)                                                \
	FIELD_(t, m, FIELD_TRUTH, .optional = true, .nullable = true)
/* Named numbers, as an object. */
#define FIELD_NAMED_NUMBERS(t, m)                                              \
	FIELD_(t, m, FIELD_MAP, .count_offset = offsetof(struct t, m##_count),  \
	       .optional = false)
/* An enum in a uint32_t. */
#define FIELD_NAMED(t, m, n) FIELD_(t, m, FIELD_ENUM, .names = (n))
/* A struct in the struct. */
#define FIELD_EMBED(t, m, s) FIELD_(t, m, FIELD_STRUCT, .schema = &(s))
/* The same; left out while all its fields are zero. */
#define FIELD_EMBED_SOME(t, m, s)                                              \
	FIELD_(t, m, FIELD_STRUCT, .schema = &(s), .optional = true)
/* A pointer to a struct: null where there is none. */
#define FIELD_MAYBE(t, m, s)                                                   \
	FIELD_(t, m, FIELD_POINTER, .schema = &(s), .optional = true,          \
	       .nullable = true)
/* A list of structs. An empty one is left out, or (ROWS) encoded, or (SOME)
 * null.
 */
#define FIELD_MANY(t, m, s) FIELD_LIST_(t, m, s, .optional = true)
#define FIELD_SOME(t, m, s)                                                    \
	FIELD_LIST_(t, m, s, .optional = true, .nullable = true)
#define FIELD_ROWS(t, m, s) FIELD_LIST_(t, m, s, .optional = false)

/* The schema of struct t, of these fields. SCHEMA_NAMED: a further schema of
 * the same struct.
 */
#define SCHEMA(t, ...) SCHEMA_NAMED(t, #t, __VA_ARGS__)
#define SCHEMA_NAMED(t, n, ...)                                                \
	{ .name = (n), .size = sizeof(struct t),                               \
	  .fields = (const struct field[]){ __VA_ARGS__ },                     \
	  .count = sizeof((const struct field[]){ __VA_ARGS__ }) /             \
		   sizeof(struct field) }
/* clang-format on */

/* The struct as a JSON object that the caller deletes. EINVAL: a string that is
 * not optional is NULL, a double is not finite; E2BIG: a string or list that
 * no decoder would take; EPROTO: JSON in it is nested more than 100 deep.
 */
cJSON *codec_object(const struct schema *schema, const void *from,
		    struct error *err);

/* Append the struct as one line of JSON text. Errors as codec_object(), and
 * E2BIG past the buffer's limit; the buffer is then unchanged.
 */
int codec_encode(const struct schema *schema, const void *from,
		 struct buffer *out, struct error *err);

/* Fill *to (its old contents are ignored) from an object, or from JSON text
 * with nothing behind it. On failure *to is all zero.
 */
int codec_from_object(const struct schema *schema, const cJSON *object,
		      void *to, struct error *err);
int codec_decode(const struct schema *schema, const char *text, size_t size,
		 void *to, struct error *err);

/* The same for what another version may have written: at every depth, unknown
 * fields are skipped and absent ones are zero (a string that is not optional:
 * "").
 */
int codec_from_other(const struct schema *schema, const cJSON *object, void *to,
		     struct error *err);
int codec_decode_other(const struct schema *schema, const char *text,
		       size_t size, void *to, struct error *err);

/* The same from what was received in a message. */
int codec_unpack(const struct schema *schema, const struct packed *packed,
		 void *to, struct error *err);

/* A deep copy; *to's old contents are ignored. ENOMEM, or as codec_object(). On
 * failure *to is all zero.
 */
int codec_copy(const struct schema *schema, const void *from, void *to,
	       struct error *err);

/* An upper bound of the struct's bytes, as JSON text and as CBOR; of one that
 * codec_encode() refuses, nothing is known.
 */
size_t codec_bound(const struct schema *schema, const void *from);

/* Is the field of the struct zero, NULL or empty (of a `known` double: NAN)? */
bool codec_field_is_zero(const struct field *field, const void *from);

/* The field of that name, or NULL. */
const struct field *codec_field(const struct schema *schema, const char *name);

/* Replace *to (owned) by a copy of the text, which may be NULL. */
int string_set(char **to, const char *text, struct error *err);

/* Release what the struct owns and zero it. Zero is a valid empty struct. */
void codec_clear(const struct schema *schema, void *data);

/* Append the tree as one line of JSON text. Errors as codec_encode(). */
int codec_print(const cJSON *tree, struct buffer *out, struct error *err);

/* JSON text with nothing behind it to a tree the caller deletes; EPROTO. */
cJSON *codec_parse(const char *text, size_t size, struct error *err);

OWNED_POINTER(cJSON, cJSON_Delete)
