/* name_index.c - items of one kind, found by any of their names. */
#include "controller/catalog/name_index.h"

#include "protocol/base/owned.h"
#include "protocol/base/nearest_word.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NEAR_MAX 3     /* similar names in an error */
#define PLAIN_BYTES 96 /* of a name in any spelling */

void name_index_clear(struct name_index *name_index)
{
	free(name_index->items);
	free(name_index->names);
	*name_index = (struct name_index){ 0 };
}

/* The characters that are compared; "": there are none, or too many. */
static void make_plain(const char *text, char plain[PLAIN_BYTES])
{
	size_t used = 0;

	for (; *text && used < PLAIN_BYTES - 2; text++) {
		if (*text >= 'A' && *text <= 'Z')
			plain[used++] = (char)(*text - 'A' + 'a');
		else if ((*text >= 'a' && *text <= 'z') ||
			 (*text >= '0' && *text <= '9') || *text == '.' ||
			 *text == '+')
			plain[used++] = *text;
	}
	if (*text)
		used = 0;
	/* 80G, 80GB and 80GiB are the same. */
	if (used > 3 && !memcmp(plain + used - 3, "gib", 3))
		plain[used -= 2] = 0;
	else if (used > 2 && !memcmp(plain + used - 2, "gb", 2))
		used--;
	plain[used] = 0;
}

/* The text behind `start`; NULL: the text does not begin with it. */
static const char *name_skip_start(const char *text, const char *start)
{
	size_t size = strlen(start);

	return strncmp(text, start, size) ? NULL : text + size;
}

bool name_match(const struct name *name, const char *text)
{
	char known[PLAIN_BYTES], found[PLAIN_BYTES], before[PLAIN_BYTES];
	char memory[16] = "";
	const char *rest, *tail;

	make_plain(name->text, known);
	make_plain(text, found);
	if (!*known || !*found)
		return false;
	rest = found;
	if (name->vendor) {
		make_plain(name->vendor, before);
		tail = name_skip_start(found, before);
		rest = tail && *tail ? tail : found;
	}
	tail = name_skip_start(rest, known);
	if (name->gib)
		snprintf(memory, sizeof(memory), "%ug", name->gib);
	return tail && (!*tail || (*memory && !strcmp(tail, memory)));
}

static const struct name *find_exact(const struct name_index *name_index,
				     const char *vendor, const char *text)
{
	for (size_t i = 0; i < name_index->name_count; i++) {
		const struct name *name = &name_index->names[i];

		if (!strcasecmp(name->text, text) &&
		    (!vendor || !name->vendor || !strcmp(vendor, name->vendor)))
			return name;
	}
	return NULL;
}

/* A name in another spelling. */
static const struct name *find_like(const struct name_index *name_index,
				    const char *vendor, const char *text)
{
	for (size_t i = 0; i < name_index->name_count; i++) {
		const struct name *name = &name_index->names[i];

		if (vendor && name->vendor && strcmp(vendor, name->vendor) != 0)
			continue;
		if (name_match(name, text))
			return name;
	}
	return NULL;
}

const void *name_index_at(const struct name_index *name_index, size_t index)
{
	return index < name_index->count ? (const char *)name_index->items +
						   index * name_index->size
					 : NULL;
}

const void *name_index_find(const struct name_index *name_index,
			    const char *vendor, const char *text)
{
	const struct name *name = find_exact(name_index, vendor, text);

	if (!name)
		name = find_like(name_index, vendor, text);
	return name ? name_index_at(name_index, name->index) : NULL;
}

const void *name_index_find_version(const struct name_index *name_index,
				    const char *text)
{
	const void *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < name_index->name_count; i++) {
		const struct name *name = &name_index->names[i];
		size_t size = strlen(name->text);

		if (size > longest && !strncasecmp(text, name->text, size) &&
		    (text[size] == '_' ||
		     (text[size] >= '0' && text[size] <= '9'))) {
			longest = size;
			found = name_index_at(name_index, name->index);
		}
	}
	return found;
}

static int name_index_add_name(struct name_index *name_index, struct name name,
			       const struct value *place, struct error *err)
{
	struct name *names;

	if (find_exact(name_index, name.vendor, name.text))
		return value_error(place, err, "duplicate %s \"%.60s\"",
				   name_index->kind, name.text);
	names = reallocarray(name_index->names, name_index->name_count + 1,
			     sizeof(*names));
	if (!names)
		return error_nomem(err, value_file(place));
	name_index->names = names;
	names[name_index->name_count++] = name;
	return 0;
}

int name_index_add(struct name_index *name_index, const void *item,
		   struct name name, const struct value *entry,
		   struct error *err)
{
	const struct value *aliases = value_get(entry, "aliases");
	void *items = reallocarray(name_index->items, name_index->count + 1,
				   name_index->size);

	if (!items)
		return error_nomem(err, value_file(entry));
	name_index->items = items;
	name.index = name_index->count;
	memcpy((char *)items + name_index->count++ * name_index->size, item,
	       name_index->size);
	if (name_index_add_name(name_index, name, entry, err) < 0)
		return -1;
	if (!aliases)
		return 0;
	if (value_expect(aliases, VALUE_LIST, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(aliases); i++) {
		const struct value *alias = value_at(aliases, i);

		if (value_string(alias, NAME_INDEX_NAME_BYTES, &name.text,
				 err) < 0 ||
		    name_index_add_name(name_index, name, alias, err) < 0)
			return -1;
	}
	return 0;
}

/* All names and aliases, for nearest_word(). */
static const char **name_list(const struct name_index *name_index)
{
	const char **names = calloc(name_index->name_count + 1, sizeof(*names));

	for (size_t i = 0; names && i < name_index->name_count; i++)
		names[i] = name_index->names[i].text;
	return names;
}

bool name_index_near(const struct name_index *name_index, const char *text)
{
	owned_free const char **names = name_list(name_index);

	return names && nearest_word(text, names);
}

/* Remove all names of the item with this name. */
static void drop_names(const struct name_index *name_index, const char **names,
		       size_t *count, const char *name)
{
	const struct name *of = find_exact(name_index, NULL, name);
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++)
		if (find_exact(name_index, NULL, names[i])->index != of->index)
			names[kept++] = names[i];
	names[kept] = NULL;
	*count = kept;
}

int name_index_suggest(const struct name_index *name_index, const char *text,
		       char *out, size_t size)
{
	owned_free const char **names = name_list(name_index);
	size_t count = name_index->name_count, used = 0;
	const char *near;

	if (!names)
		return -1;
	for (int n = 0; n < NEAR_MAX && (near = nearest_word(text, names));
	     n++) {
		used += (size_t)snprintf(out + used, size - used, "%s\"%.40s\"",
					 n ? ", " : "; did you mean ", near);
		drop_names(name_index, names, &count, near);
	}
	if (used) {
		snprintf(out + used, size - used, "?");
		return 0;
	}
	used = (size_t)snprintf(out, size, "; expected %s",
				count ? "" : "(none is described)");
	for (size_t i = 0; i < count; i++) {
		if (used >= size - 60) {
			snprintf(out + used, size - used, ", ...");
			break;
		}
		used += (size_t)snprintf(out + used, size - used, "%s%.40s",
					 i ? ", " : "", names[i]);
	}
	return 0;
}
