/* map_reader.h - reads maps of a data file into structs, by tables of fields.
 *
 *	static const struct map_field mount_fields[] = {
 *		MAP_NEEDED("host", read_text, mount, host),
 *		MAP_FIELD("read_only", read_flag, mount, read_only),
 *		{ 0 }
 *	};
 *
 * Each reader checks a value of the file and writes it to a member of the
 * struct. Texts are borrowed from the document, but struct strings hold copies.
 * map_clear() releases what a member owns, by its C type. Errors are EINVAL
 * "file:line: path: found ..., expected ...".
 */
#pragma once

#include "protocol/base/strings.h"
#include "protocol/hardware/expression.h"
#include "protocol/yaml/value.h"

#define MAP_LIST_MAX 64   /* entries of any list or map */
#define MAP_TEXT_MAX 1024 /* bytes of a text */

typedef int map_read_fn(const struct value *value, void *out,
			struct error *err);
typedef void map_clear_fn(void *out);

struct map_field {
	const char *key;
	map_read_fn *read; /* with `fields`: checks the map after they are read;
			      NULL: the value is not read here */
	size_t place;      /* offsetof() in the struct */
	map_clear_fn *clear;
	bool needed;
	const struct map_field *fields; /* of a map */
	const char *const *words;       /* the value is one of them */
	size_t item_size; /* not 0: a list, as an array of items of this size */
	size_t count_place;
};

/* The table ends in { 0 }. On an error the struct holds what was read so far;
 * map_clear() releases it.
 */
int map_read(const struct value *map, const struct map_field *fields, void *out,
	     struct error *err);
void map_clear(const struct map_field *fields, void *out);

/* Rows of a table: a member with a reader. */
#define MAP_FIELD(k, r, t, m)                                                  \
	{                                                                      \
		.key = (k), .read = (r), .place = offsetof(struct t, m),       \
		.clear = MAP_CLEAR_(t, m)                                      \
	}
#define MAP_NEEDED(k, r, t, m)                                                 \
	{                                                                      \
		.key = (k), .read = (r), .place = offsetof(struct t, m),       \
		.clear = MAP_CLEAR_(t, m), .needed = true                      \
	}
/* const char *: one of the words (an array that ends in NULL). */
#define MAP_WORD(k, w, t, m)                                                   \
	{                                                                      \
		.key = (k), .words = (w), .place = offsetof(struct t, m)       \
	}
/* A map whose fields are members of the same struct, or of an embedded one. */
#define MAP_SAME(k, f, check)                                                  \
	{                                                                      \
		.key = (k), .fields = (f), .read = (check)                     \
	}
#define MAP_INSIDE(k, f, check, t, m)                                          \
	{                                                                      \
		.key = (k), .fields = (f), .read = (check),                    \
		.place = offsetof(struct t, m)                                 \
	}
/* A list of maps: struct item *m; size_t m_count. */
#define MAP_ITEMS(k, f, check, t, m)                                           \
	{                                                                      \
		.key = (k), .fields = (f), .read = (check),                    \
		.place = offsetof(struct t, m),                                \
		.item_size = sizeof(*((struct t *)0)->m),                      \
		.count_place = offsetof(struct t, m##_count)                   \
	}
#define MAP_CLEAR_(t, m)                                                       \
	_Generic(((struct t *)0)->m, struct strings                            \
		 : map_clear_strings, struct expression *                      \
		 : map_clear_expression, default                               \
		 : (map_clear_fn *)NULL)
map_clear_fn map_clear_strings;
map_clear_fn map_clear_expression;

/* A list of at most MAP_LIST_MAX, a map of at most as many. */
int map_check_map(const struct value *map, struct error *err);

/* Readers. A text has one line; a word is a text without blanks and commas.
 * const char *.
 */
map_read_fn read_text;
map_read_fn read_word;
map_read_fn read_flag; /* bool */

/* A text that is_good() accepts; expected: what that is, for the error. */
int map_read_good(const struct value *value, bool (*is_good)(const char *text),
		  const char *expected, void *out, struct error *err);

/* A PCRE2 expression, refused if expression_probe() fails. */
map_read_fn read_expression;

/* struct strings: texts, words, and an argv of at least one text. */
map_read_fn read_texts;
map_read_fn read_words;
map_read_fn read_argv;
int read_strings(const struct value *list, map_read_fn *read, void *out,
		 struct error *err);
