/* document.c - YAML or JSON text to a read-only tree that knows its lines.
 */
#include "protocol/yaml/document.h"

#include "protocol/base/buffer.h"
#include "protocol/base/file.h"
#include "protocol/base/utf8.h"
#include "protocol/yaml/value_internal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define DEFAULT_BYTES ((size_t)1 << 20)
#define DEFAULT_VALUES ((size_t)200000)
#define DEFAULT_DEPTH ((size_t)64)
#define DEPTH_MAX ((size_t)256)
#define ANCHORS_MAX 1000
#define CHUNK_BYTES ((size_t)16 * 1024)

struct anchor {
	char *name;
	const struct value *value;
	bool open; /* its value is still being read */
};

struct reader {
	struct document *document;
	struct error *err;
	struct document_limits limits;
	yaml_parser_t yaml;
	size_t values;
	struct anchor *anchors;
	size_t anchor_count;
};

static void *document_alloc(struct document *document, size_t size)
{
	struct chunk *chunk = document->chunks;
	size_t step = _Alignof(max_align_t);
	void *place;

	size = (size + step - 1) / step * step;
	if (!chunk || size > chunk->size - chunk->used) {
		size_t room = size > CHUNK_BYTES ? size : CHUNK_BYTES;

		chunk = malloc(sizeof(*chunk) + room);
		if (!chunk)
			return NULL;
		*chunk = (struct chunk){ .next = document->chunks,
					 .size = room };
		document->chunks = chunk;
	}
	place = (char *)chunk->data + chunk->used;
	chunk->used += size;
	return memset(place, 0, size);
}

static const char *document_text(struct document *document, const void *text,
				 size_t size)
{
	char *copy = document_alloc(document, size + 1);

	return copy ? memcpy(copy, text, size) : NULL;
}

void document_free(struct document *document)
{
	if (!document)
		return;
	while (document->chunks) {
		struct chunk *next = document->chunks->next;

		free(document->chunks);
		document->chunks = next;
	}
	free(document->file);
	free(document);
}

const struct value *document_root(const struct document *document)
{
	return document->root;
}

const char *document_file(const struct document *document)
{
	return document->file;
}

__attribute__((format(printf, 4, 5))) static int
reader_error(const struct reader *reader, int code, size_t line,
	     const char *fmt, ...)
{
	struct error text = { 0 };
	va_list args;

	va_start(args, fmt);
	error_vset(&text, code, fmt, args);
	va_end(args);
	return error_set(reader->err, code, "%s:%zu: %s",
			 reader->document->file, line, text.text);
}

static int reader_nomem(const struct reader *reader)
{
	return error_nomem(reader->err, reader->document->file);
}

/* Refuse invalid bytes with their line. libyaml would name an offset, or read
 * the text as UTF-16.
 */
static int document_check_bytes(const struct reader *reader, const char *text,
				size_t size)
{
	size_t line = 1;

	for (size_t i = 0, length; i < size; i += length) {
		unsigned char c = (unsigned char)text[i];

		length = utf8_character(text + i, size - i, NULL);
		if (!length)
			return reader_error(reader, EINVAL, line,
					    "the byte 0x%02x is not valid "
					    "here; expected UTF-8 text",
					    c);
		if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') ||
		    c == 0x7f)
			return reader_error(reader, EINVAL, line,
					    "the control character 0x%02x is "
					    "not valid here; expected UTF-8 "
					    "text",
					    c);
		line += c == '\n';
	}
	return 0;
}

static int next_event(struct reader *reader, yaml_event_t *event)
{
	yaml_parser_t *yaml = &reader->yaml;

	if (yaml_parser_parse(yaml, event))
		return 0;
	memset(event, 0, sizeof(*event));
	if (yaml->error == YAML_MEMORY_ERROR)
		return reader_nomem(reader);
	if (yaml->error == YAML_SCANNER_ERROR && yaml->buffer.pointer &&
	    *yaml->buffer.pointer == '\t')
		return reader_error(reader, EINVAL, yaml->problem_mark.line + 1,
				    "a tab is not valid here; expected blanks "
				    "as indentation");
	return reader_error(reader, EINVAL, yaml->problem_mark.line + 1,
			    "%s%s%s",
			    yaml->problem ? yaml->problem : "not YAML",
			    yaml->context ? ", " : "",
			    yaml->context ? yaml->context : "");
}

OWNED_VALUE(yaml_event_t, yaml_event_delete)

static int count_values(struct reader *reader, size_t weight, size_t line)
{
	if (weight > reader->limits.values - reader->values)
		return reader_error(reader, E2BIG, line,
				    "more than %zu values (aliases written "
				    "out), which is the limit",
				    reader->limits.values);
	reader->values += weight;
	return 0;
}

static int check_depth(const struct reader *reader, size_t depth, size_t line)
{
	if (depth <= reader->limits.depth)
		return 0;
	return reader_error(reader, E2BIG, line,
			    "more than %zu maps and lists inside each other, "
			    "which is the limit",
			    reader->limits.depth);
}

static struct anchor *find_anchor(struct reader *reader, const char *name)
{
	for (size_t i = reader->anchor_count; i-- > 0;)
		if (!strcmp(reader->anchors[i].name, name))
			return &reader->anchors[i];
	return NULL;
}

/* Name a value that is now being read; YAML lets a later anchor of the same
 * name replace this one.
 */
static int add_anchor(struct reader *reader, const yaml_char_t *name,
		      const struct value *value)
{
	struct anchor *anchor;

	if (reader->anchor_count == ANCHORS_MAX)
		return reader_error(reader, E2BIG, value->line,
				    "more than %d anchors, which is the limit",
				    ANCHORS_MAX);
	if (!reader->anchors)
		reader->anchors = calloc(ANCHORS_MAX, sizeof(*anchor));
	if (!reader->anchors)
		return reader_nomem(reader);
	anchor = &reader->anchors[reader->anchor_count];
	anchor->name = strdup((const char *)name);
	if (!anchor->name)
		return reader_nomem(reader);
	anchor->value = value;
	anchor->open = true;
	reader->anchor_count++;
	return 0;
}

/* Check the tag of a value, and apply it to a scalar. */
static int apply_tag(const struct reader *reader, struct value *value,
		     const yaml_char_t *yaml_tag)
{
	/* clang-format off */
	static const struct {
		const char *tag;
		enum value_kind kind;
		bool quoted;
	} core[] = {
		{ YAML_STR_TAG, VALUE_SCALAR, true },
		{ "!", VALUE_SCALAR, true },
		{ YAML_INT_TAG, VALUE_SCALAR, false },
		{ YAML_FLOAT_TAG, VALUE_SCALAR, false },
		{ YAML_BOOL_TAG, VALUE_SCALAR, false },
		{ YAML_NULL_TAG, VALUE_SCALAR, false },
		{ YAML_MAP_TAG, VALUE_MAP, false },
		{ YAML_SEQ_TAG, VALUE_LIST, false },
	};
	/* clang-format on */
	const char *tag = (const char *)yaml_tag;

	if (!tag)
		return 0;
	for (size_t i = 0; i < sizeof(core) / sizeof(core[0]); i++) {
		if (value->kind != core[i].kind || strcmp(tag, core[i].tag))
			continue;
		value->quoted = core[i].quoted;
		return 0;
	}
	return reader_error(reader, EINVAL, value->line,
			    "the tag %.60s is not valid here; expected !!str, "
			    "!!int, !!float, !!bool, !!null, !!map and !!seq, "
			    "each on its kind of value",
			    tag);
}

static bool null_word(const char *text)
{
	return !*text || !strcmp(text, "~") || !strcmp(text, "null") ||
	       !strcmp(text, "Null") || !strcmp(text, "NULL");
}

static int read_scalar(struct reader *reader, struct value *value,
		       const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	size_t size = event->data.scalar.length;

	value->kind = VALUE_SCALAR;
	value->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	if (apply_tag(reader, value, event->data.scalar.tag) < 0)
		return -1;
	if (memchr(text, 0, size))
		return reader_error(reader, EINVAL, value->line,
				    "a text contains a NUL character");
	value->text = document_text(reader->document, text, size);
	if (!value->text)
		return reader_nomem(reader);
	if (!value->quoted && null_word(value->text)) {
		value->kind = VALUE_NULL;
		value->text = "";
	}
	return 0;
}

static const struct value *document_read_value(struct reader *reader,
					       const yaml_event_t *event,
					       const struct value *parent,
					       size_t index, size_t depth);

/* The items that were read so far. */
struct items {
	struct entry *entries; /* a list has no keys */
	size_t count;
	size_t room;
};

static void items_clear(struct items *items)
{
	free(items->entries);
}
OWNED_VALUE(struct items, items_clear)

static int items_add(struct reader *reader, struct items *items,
		     struct entry entry)
{
	if (items->count == items->room) {
		size_t room = items->room ? items->room * 2 : 8;
		struct entry *entries =
			realloc(items->entries, room * sizeof(*entries));

		if (!entries)
			return reader_nomem(reader);
		items->entries = entries;
		items->room = room;
	}
	items->entries[items->count++] = entry;
	return 0;
}

static void account(struct value *value, const struct value *child)
{
	value->weight += child->weight;
	if (value->height < child->height + 1)
		value->height = child->height + 1;
}

static int document_read_list(struct reader *reader, struct value *value,
			      size_t depth)
{
	owned(items_clear) struct items items = { 0 };

	for (;;) {
		owned(yaml_event_delete) yaml_event_t event = { 0 };
		struct entry entry = { 0 };

		if (next_event(reader, &event) < 0)
			return -1;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			break;
		entry.value = document_read_value(reader, &event, value,
						  items.count, depth);
		if (!entry.value || items_add(reader, &items, entry) < 0)
			return -1;
		account(value, entry.value);
	}
	value->items = document_alloc(reader->document,
				      items.count * sizeof(struct value *));
	if (!value->items)
		return reader_nomem(reader);
	for (size_t i = 0; i < items.count; i++)
		value->items[i] = items.entries[i].value;
	value->count = items.count;
	return 0;
}

static int compare_entries(const void *a, const void *b, void *arg)
{
	const struct entry *entries = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	int order = strcmp(entries[left].key, entries[right].key);

	return order ? order : left < right ? -1 : 1;
}

/* Make the items the map's entries and put them in order. */
static int set_entries(struct reader *reader, struct value *map,
		       const struct items *items)
{
	size_t bytes = items->count * sizeof(struct entry);

	map->entries = document_alloc(reader->document, bytes);
	map->order = document_alloc(reader->document,
				    items->count * sizeof(*map->order));
	if (!map->entries || !map->order)
		return reader_nomem(reader);
	if (bytes)
		memcpy(map->entries, items->entries, bytes);
	for (size_t i = 0; i < items->count; i++)
		map->order[i] = (uint32_t)i;
	map->count = items->count;
	qsort_r(map->order, map->count, sizeof(*map->order), compare_entries,
		map->entries);
	for (size_t i = 1; i < map->count; i++) {
		const struct entry *first = &map->entries[map->order[i - 1]];
		const struct entry *again = &map->entries[map->order[i]];

		if (!strcmp(first->key, again->key))
			return reader_error(reader, EINVAL, again->line,
					    "duplicate key \"%.60s\", first on "
					    "line %u",
					    again->key, first->line);
	}
	return 0;
}

/* Add the entries of `from` whose keys the map does not have yet. */
static int merge_map(struct reader *reader, struct value *map,
		     struct items *items, const struct value *from, size_t line)
{
	if (from->kind != VALUE_MAP)
		return reader_error(reader, EINVAL, line,
				    "the value of << is not valid here; "
				    "expected a map or a list of maps");
	for (size_t i = 0; i < from->count; i++) {
		const struct entry *entry = &from->entries[i];

		if (value_get(map, entry->key))
			continue;
		if (count_values(reader, entry->value->weight, line) < 0 ||
		    items_add(reader, items, *entry) < 0)
			return -1;
		account(map, entry->value);
	}
	return set_entries(reader, map, items);
}

static int document_merge_value(struct reader *reader, struct value *map,
				struct items *items, const struct entry *source)
{
	const struct value *from = source->value;

	if (from->kind != VALUE_LIST)
		return merge_map(reader, map, items, from, source->line);
	for (size_t i = 0; i < from->count; i++)
		if (merge_map(reader, map, items, from->items[i],
			      source->line) < 0)
			return -1;
	return 0;
}

/* A key's text; *merges: it is a plain `<<`. */
static const char *document_read_key(struct reader *reader,
				     const yaml_event_t *event, bool *merges)
{
	size_t line = event->start_mark.line + 1;
	struct value key = { .line = (unsigned)line };

	if (event->type != YAML_SCALAR_EVENT)
		return error_null(reader_error(reader, EINVAL, line,
					       "a list, a map or an alias as a "
					       "key is not valid "
					       "here; expected a word"));
	if (event->data.scalar.anchor)
		return error_null(reader_error(reader, EINVAL, line,
					       "an anchor on a key is not "
					       "valid here; expected "
					       "anchors on values"));
	if (read_scalar(reader, &key, event) < 0)
		return NULL;
	if (key.kind == VALUE_NULL)
		return error_null(reader_error(reader, EINVAL, line,
					       "missing key before \":\""));
	*merges = !key.quoted && !strcmp(key.text, "<<");
	return key.text;
}

static int document_read_map(struct reader *reader, struct value *map,
			     size_t depth)
{
	owned(items_clear) struct items items = { 0 };
	owned(items_clear) struct items merges = { 0 };

	for (;;) {
		owned(yaml_event_delete) yaml_event_t key = { 0 };
		owned(yaml_event_delete) yaml_event_t event = { 0 };
		struct entry entry = { 0 };
		bool merging;

		if (next_event(reader, &key) < 0)
			return -1;
		if (key.type == YAML_MAPPING_END_EVENT)
			break;
		entry.line = (unsigned)key.start_mark.line + 1;
		entry.key = document_read_key(reader, &key, &merging);
		if (!entry.key || next_event(reader, &event) < 0)
			return -1;
		/* The path of a merged value is that of the map. */
		entry.value = merging ? document_read_value(reader, &event,
							    map->parent,
							    map->index, depth)
				      : document_read_value(reader, &event, map,
							    items.count, depth);
		if (!entry.value ||
		    items_add(reader, merging ? &merges : &items, entry) < 0)
			return -1;
		if (!merging)
			account(map, entry.value);
	}
	if (set_entries(reader, map, &items) < 0)
		return -1;
	for (size_t i = 0; i < merges.count; i++)
		if (document_merge_value(reader, map, &items,
					 &merges.entries[i]) < 0)
			return -1;
	return 0;
}

static const struct value *read_alias(struct reader *reader,
				      const yaml_event_t *event, size_t depth)
{
	const char *name = (const char *)event->data.alias.anchor;
	const struct anchor *anchor = find_anchor(reader, name);
	size_t line = event->start_mark.line + 1;

	if (!anchor)
		return error_null(reader_error(reader, EINVAL, line,
					       "the alias *%.60s has no anchor "
					       "&%.60s before it",
					       name, name));
	if (anchor->open)
		return error_null(
			reader_error(reader, EINVAL, line,
				     "the alias *%.60s is inside its own value",
				     name));
	if (count_values(reader, anchor->value->weight, line) < 0 ||
	    check_depth(reader, depth + anchor->value->height, line) < 0)
		return NULL;
	return anchor->value;
}

/* Begin the value that the event opens, and name it if it has an anchor. */
static struct value *open_value(struct reader *reader,
				const yaml_event_t *event,
				const struct value *parent, size_t index)
{
	struct value *value = document_alloc(reader->document, sizeof(*value));
	bool scalar = event->type == YAML_SCALAR_EVENT;
	bool list = event->type == YAML_SEQUENCE_START_EVENT;
	const yaml_char_t *anchor = scalar ? event->data.scalar.anchor
				    : list ? event->data.sequence_start.anchor
					   : event->data.mapping_start.anchor;

	if (!value)
		return error_null(reader_nomem(reader));
	*value = (struct value){
		.document = reader->document,
		.parent = parent,
		.index = index,
		.kind = list ? VALUE_LIST : VALUE_MAP,
		.line = (unsigned)event->start_mark.line + 1,
		.text = "",
		.weight = 1,
		.height = scalar ? 0 : 1,
	};
	if (count_values(reader, 1, value->line) < 0 ||
	    (anchor && add_anchor(reader, anchor, value) < 0))
		return NULL;
	return value;
}

static int document_fill_value(struct reader *reader, struct value *value,
			       const yaml_event_t *event, size_t depth)
{
	const yaml_char_t *tag;

	if (event->type == YAML_SCALAR_EVENT)
		return read_scalar(reader, value, event);
	tag = value->kind == VALUE_LIST ? event->data.sequence_start.tag
					: event->data.mapping_start.tag;
	if (check_depth(reader, depth + 1, value->line) < 0 ||
	    apply_tag(reader, value, tag) < 0)
		return -1;
	return value->kind == VALUE_LIST
		       ? document_read_list(reader, value, depth + 1)
		       : document_read_map(reader, value, depth + 1);
}

/* The value that the event begins; depth: maps and lists around it. */
static const struct value *document_read_value(struct reader *reader,
					       const yaml_event_t *event,
					       const struct value *parent,
					       size_t index, size_t depth)
{
	size_t anchor = reader->anchor_count;
	struct value *value;

	if (event->type == YAML_ALIAS_EVENT)
		return read_alias(reader, event, depth);
	value = open_value(reader, event, parent, index);
	if (!value || document_fill_value(reader, value, event, depth) < 0)
		return NULL;
	if (anchor < reader->anchor_count &&
	    reader->anchors[anchor].value == value)
		reader->anchors[anchor].open = false;
	return value;
}

/* Merge two values: maps entry by entry; else the later value wins. A later key
 * without a value removes the entry.
 */
static const struct value *lay_over(struct reader *reader,
				    const struct value *base,
				    const struct value *over)
{
	owned(items_clear) struct items items = { 0 };
	struct value *map;

	if (base->kind != VALUE_MAP || over->kind != VALUE_MAP)
		return over;
	map = document_alloc(reader->document, sizeof(*map));
	if (!map)
		return error_null(reader_nomem(reader));
	*map = *base;
	for (size_t i = 0; i < base->count; i++) {
		struct entry entry = base->entries[i];
		const struct value *later = value_get(over, entry.key);

		if (later && later->kind == VALUE_NULL)
			continue;
		if (later)
			entry.value = lay_over(reader, entry.value, later);
		if (!entry.value || items_add(reader, &items, entry) < 0)
			return NULL;
	}
	for (size_t i = 0; i < over->count; i++)
		if (over->entries[i].value->kind != VALUE_NULL &&
		    !value_get(base, over->entries[i].key) &&
		    items_add(reader, &items, over->entries[i]) < 0)
			return NULL;
	return set_entries(reader, map, &items) < 0 ? NULL : map;
}

/* Read the root of a document, and merge it over the earlier ones. */
static int read_root(struct reader *reader, const yaml_event_t *event)
{
	const struct value *base = reader->document->root;
	const struct value *root =
		document_read_value(reader, event, NULL, 0, 0);

	if (!root)
		return -1;
	if (base && root->kind == VALUE_NULL)
		return 0;
	if (base && base->kind != VALUE_NULL && root->kind != VALUE_MAP)
		return reader_error(reader, EINVAL, root->line,
				    "a further document is not valid here; "
				    "expected a map, which is merged into the "
				    "previous ones");
	if (base)
		root = lay_over(reader, base, root);
	reader->document->root = root;
	return root ? 0 : -1;
}

/* Read all events. Only with `layers` may there be several documents. */
static int read_document(struct reader *reader)
{
	for (;;) {
		owned(yaml_event_delete) yaml_event_t event = { 0 };
		size_t line;

		if (next_event(reader, &event) < 0)
			return -1;
		line = event.start_mark.line + 1;
		switch (event.type) {
		case YAML_STREAM_START_EVENT:
		case YAML_DOCUMENT_END_EVENT:
			break;
		case YAML_DOCUMENT_START_EVENT:
			if (reader->document->root && !reader->limits.layers)
				return reader_error(reader, EINVAL, line,
						    "a second document is not "
						    "valid here; expected one");
			break;
		case YAML_STREAM_END_EVENT:
			return 0;
		default:
			if (read_root(reader, &event) < 0)
				return -1;
		}
	}
}

static void reader_clear(struct reader *reader)
{
	for (size_t i = 0; i < reader->anchor_count; i++)
		free(reader->anchors[i].name);
	free(reader->anchors);
	yaml_parser_delete(&reader->yaml);
}
OWNED_VALUE(struct reader, reader_clear)

static int document_parse_text(struct document *document, const char *text,
			       size_t size,
			       const struct document_limits *limits,
			       struct error *err)
{
	owned(reader_clear) struct reader reader = { .document = document,
						     .err = err };

	if (limits)
		reader.limits = *limits;
	if (!reader.limits.bytes)
		reader.limits.bytes = DEFAULT_BYTES;
	if (!reader.limits.values)
		reader.limits.values = DEFAULT_VALUES;
	if (!reader.limits.depth)
		reader.limits.depth = DEFAULT_DEPTH;
	if (reader.limits.depth > DEPTH_MAX)
		reader.limits.depth = DEPTH_MAX;
	if (size > reader.limits.bytes)
		return error_set(err, E2BIG,
				 "%s: %zu bytes; expected at most %zu",
				 document->file, size, reader.limits.bytes);
	if (document_check_bytes(&reader, text, size) < 0)
		return -1;
	if (!yaml_parser_initialize(&reader.yaml))
		return reader_nomem(&reader);
	/* libyaml takes the mark of an editor for the first character. */
	if (size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) {
		text += 3;
		size -= 3;
	}
	yaml_parser_set_encoding(&reader.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reader.yaml, (const yaml_char_t *)text,
				     size);
	if (read_document(&reader) < 0)
		return -1;
	if (!document->root) {
		struct value *root = document_alloc(document, sizeof(*root));

		if (!root)
			return reader_nomem(&reader);
		*root = (struct value){
			.document = document, .line = 1, .text = "", .weight = 1
		};
		document->root = root;
	}
	return 0;
}

struct document *document_parse(const char *text, size_t size, const char *file,
				const struct document_limits *limits,
				struct error *err)
{
	owned(document_free) struct document *document =
		calloc(1, sizeof(*document));

	if (!document || !(document->file = strdup(file)))
		return error_null(error_nomem(err, file));
	if (document_parse_text(document, text, size, limits, err) < 0)
		return NULL;
	return take(document);
}

struct document *document_read(const char *path,
			       const struct document_limits *limits,
			       struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text,
		    limits && limits->bytes ? limits->bytes : DEFAULT_BYTES);
	if (file_read_any(path, &text, err) < 0)
		return NULL;
	return document_parse(text.data, text.size, path, limits, err);
}
