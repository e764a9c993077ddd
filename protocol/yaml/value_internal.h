/* value_internal.h - the inside of values: for value.c and document.c alone.
 */
#ifndef PROTOCOL_YAML_VALUE_INTERNAL_H
#define PROTOCOL_YAML_VALUE_INTERNAL_H

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
	uint32_t *order; /* entries by key, for value_get() */
	size_t weight;   /* values in it, aliases written out; itself too */
	size_t height;   /* maps and lists inside each other; 0: a scalar */
};

/* Texts and values live and die with their document, so they come from chunks
 * that are released as one.
 */
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

#endif
