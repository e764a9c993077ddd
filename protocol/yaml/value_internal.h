/* value_internal.h - the structs of values and documents, for value.c and
 * document.c.
 */
#pragma once

#include "protocol/yaml/value.h"

struct entry {
	const char *key;
	const struct value *value;
	unsigned line; /* of the key */
};

struct value {
	const struct document *document;
	const struct value *parent; /* NULL: the root */
	size_t index;               /* in the parent */
	enum value_kind kind;
	bool quoted;
	unsigned line;
	const char *text; /* scalar */
	size_t count;     /* of items or entries */
	const struct value **items;
	struct entry *entries;
	uint32_t *order; /* indices of entries sorted by key */
	size_t weight; /* number of values in it and itself, aliases expanded */
	size_t height; /* levels of maps and lists in it; 0: a scalar */
};

/* Memory of texts and values, which is released with their document. */
struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	max_align_t data[];
};

struct document {
	char *file;
	struct chunk *chunks;
	const struct value *root;
};
