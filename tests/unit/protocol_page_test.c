/* protocol_page_test.c - the manual lists the fields of every reply, as they
 * are.
 */
#include "protocol/message/message.h"

#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define PAGE "controller/regatta-protocol.7"
#define PAGE_MAX 1048576
#define OBJECTS_MAX 100

/* What was found on the way and has a section of its own. */
struct objects {
	const struct schema *items[OBJECTS_MAX];
	size_t count;
};

static const char *field_type(const struct field *field)
{
	/* clang-format off */
	static const char *const types[] = {
		[FIELD_BOOL] = "boolean",
		[FIELD_U32] = "integer",
		[FIELD_U64] = "integer",
		[FIELD_I64] = "integer",
		[FIELD_DOUBLE] = "number",
		[FIELD_STRING] = "string",
		[FIELD_STRINGS] = "list of strings",
		[FIELD_NUMBERS] = "list of integers",
		[FIELD_DOUBLES] = "list of numbers",
		[FIELD_TRUTH] = "boolean",
		[FIELD_MAP] = "object of numbers",
		[FIELD_ENUM] = "string",
		[FIELD_JSON] = "JSON",
	};
	/* clang-format on */
	return field->schema ? field->schema->name : types[field->kind];
}

static void item_line(const struct field *field, char to[200])
{
	snprintf(to, 200, ".It Va %s Pq %s%s%s\n", field->name,
		 field->kind == FIELD_LIST ? "list of " : "", field_type(field),
		 field->nullable   ? ", or null"
		 : field->optional ? ", optional"
				   : "");
}

/* These begin with the fields of another, which are not said again. */
static size_t said_elsewhere(const struct schema *schema,
			     const struct objects *objects)
{
	static const char *const more[][2] = {
		{ "job_details", "job_info" }, { "node_details", "node_info" }
	};

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		for (size_t k = 0; k < objects->count; k++)
			if (!strcmp(schema->name, more[i][0]) &&
			    !strcmp(objects->items[k]->name, more[i][1]))
				return objects->items[k]->count;
	return 0;
}

static void note_objects(const struct schema *schema, struct objects *objects)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct schema *one = schema->fields[i].schema;
		size_t k = 0;

		while (k < objects->count && objects->items[k] != one)
			k++;
		if (one && k == objects->count && k < OBJECTS_MAX)
			objects->items[objects->count++] = one;
	}
}

/* The section lists these fields, in this order, and no others. */
static void check_section(const char *page, const char *kind, const char *name,
			  const struct schema *schema, size_t first)
{
	char title[100], line[200], wrong[200] = "";
	const char *at, *end;

	snprintf(title, sizeof(title), "\n.Ss %s %s\n", kind, name);
	at = strstr(page, title);
	end = at ? strstr(at, "\n.El\n") : NULL;
	for (size_t i = first; end && i < schema->count && !wrong[0]; i++) {
		item_line(&schema->fields[i], line);
		at = at ? strstr(at, "\n.It ") : NULL;
		if (!at || at > end || strncmp(at + 1, line, strlen(line)) != 0)
			memcpy(wrong, line, sizeof(wrong));
		else
			at++;
	}
	at = at ? strstr(at, "\n.It ") : NULL;
	ok(end && !wrong[0] && (!at || at > end),
	   "%s %s: its fields stand in the page: %s", kind, name,
	   wrong[0]                ? wrong
	   : at && end && at < end ? "one too many"
				   : "");
}

static size_t count_sections(const char *page)
{
	size_t count = 0;

	while ((page = strstr(page, "\n.Ss "))) {
		count++;
		page++;
	}
	return count;
}

int main(void)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(PAGE_MAX);
	struct objects objects = { .count = 0 };
	size_t sections = 0;

	tap_begin(60);
	if (file_read(AT_FDCWD, PAGE, &text, NULL) < 0)
		return 1;
	for (int i = 1; i < QUERY_KINDS; i++, sections++) {
		check_section(text.data, "Query", query_names[i],
			      query_replies[i], 0);
		note_objects(query_replies[i], &objects);
	}
	for (int i = 1; i < MESSAGE_TYPES; i++) {
		const struct message_kind *kind = &message_kinds[i];

		if (!kind->reply)
			continue;
		check_section(text.data, "Request", kind->name, kind->reply, 0);
		note_objects(kind->reply, &objects);
		sections++;
	}
	for (size_t i = 0; i < objects.count; i++, sections++) {
		const struct schema *schema = objects.items[i];

		check_section(text.data, "Object", schema->name, schema,
			      said_elsewhere(schema, &objects));
		note_objects(schema, &objects);
	}
	is_int((long long)count_sections(text.data), (long long)sections,
	       "the page describes nothing else");
	return tap_done();
}
