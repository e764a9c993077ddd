/* shelf.c - things of one kind, found by any of their names.
 */
#include "controller/sweep/shelf.h"

#include "controller/sweep/spelling.h"
#include "protocol/base/owned.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NEAR_MAX 3 /* names that a person may have meant */

void shelf_clear(struct shelf *shelf)
{
	free(shelf->items);
	free(shelf->names);
	*shelf = (struct shelf){ 0 };
}

/* Room for one more in an array that grows by powers of two. */
static void *grow(void *array, size_t count, size_t size)
{
	if (array && count & (count - 1))
		return array;
	return realloc(array, (count ? count * 2 : 1) * size);
}

static const struct name *find_exact(const struct shelf *shelf,
				     const char *vendor, const char *text)
{
	for (size_t i = 0; i < shelf->name_count; i++) {
		const struct name *name = &shelf->names[i];

		if (!strcasecmp(name->text, text) &&
		    (!vendor || !name->vendor || !strcmp(vendor, name->vendor)))
			return name;
	}
	return NULL;
}

/* A name that is written otherwise. */
static const struct name *find_like(const struct shelf *shelf,
				    const char *vendor, const char *text)
{
	for (size_t i = 0; i < shelf->name_count; i++) {
		const struct name *name = &shelf->names[i];
		struct spelling spelling = { name->vendor, name->gib };

		if (vendor && name->vendor && strcmp(vendor, name->vendor) != 0)
			continue;
		if (spelling_same(name->text, text, &spelling))
			return name;
	}
	return NULL;
}

const void *shelf_at(const struct shelf *shelf, size_t index)
{
	return index < shelf->count
		       ? (const char *)shelf->items + index * shelf->size
		       : NULL;
}

const void *shelf_find(const struct shelf *shelf, const char *vendor,
		       const char *text)
{
	const struct name *name = find_exact(shelf, vendor, text);

	if (!name)
		name = find_like(shelf, vendor, text);
	return name ? shelf_at(shelf, name->index) : NULL;
}

const void *shelf_find_version(const struct shelf *shelf, const char *text)
{
	const void *found = NULL;
	size_t longest = 0;

	for (size_t i = 0; i < shelf->name_count; i++) {
		const struct name *name = &shelf->names[i];
		size_t size = strlen(name->text);

		if (size > longest && !strncasecmp(text, name->text, size) &&
		    (text[size] == '_' ||
		     (text[size] >= '0' && text[size] <= '9'))) {
			longest = size;
			found = shelf_at(shelf, name->index);
		}
	}
	return found;
}

static int add_name(struct shelf *shelf, struct name name,
		    const struct value *place, struct error *err)
{
	struct name *names;

	if (find_exact(shelf, name.vendor, name.text))
		return value_error(place, err,
				   "found the %s \"%.60s\" a second time",
				   shelf->kind, name.text);
	names = grow(shelf->names, shelf->name_count, sizeof(*names));
	if (!names)
		return error_nomem(err, value_file(place));
	shelf->names = names;
	names[shelf->name_count++] = name;
	return 0;
}

int shelf_add(struct shelf *shelf, const void *item, struct name name,
	      const struct value *entry, struct error *err)
{
	const struct value *aliases = value_get(entry, "aliases");
	void *items = grow(shelf->items, shelf->count, shelf->size);

	if (!items)
		return error_nomem(err, value_file(entry));
	shelf->items = items;
	name.index = shelf->count;
	memcpy((char *)items + shelf->count++ * shelf->size, item, shelf->size);
	if (add_name(shelf, name, entry, err) < 0)
		return -1;
	if (!aliases)
		return 0;
	if (value_expect(aliases, VALUE_LIST, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(aliases); i++) {
		const struct value *alias = value_at(aliases, i);

		if (value_string(alias, SHELF_NAME_BYTES, &name.text, err) <
			    0 ||
		    add_name(shelf, name, alias, err) < 0)
			return -1;
	}
	return 0;
}

/* All names and aliases, for word_nearest(). */
static const char **name_list(const struct shelf *shelf)
{
	const char **names = calloc(shelf->name_count + 1, sizeof(*names));

	for (size_t i = 0; names && i < shelf->name_count; i++)
		names[i] = shelf->names[i].text;
	return names;
}

bool shelf_near(const struct shelf *shelf, const char *text)
{
	owned_free const char **names = name_list(shelf);

	return names && word_nearest(text, names);
}

/* Leave out all names of the thing that this one stands for. */
static void drop_names(const struct shelf *shelf, const char **names,
		       size_t *count, const char *name)
{
	const struct name *of = find_exact(shelf, NULL, name);
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++)
		if (find_exact(shelf, NULL, names[i])->index != of->index)
			names[kept++] = names[i];
	names[kept] = NULL;
	*count = kept;
}

int shelf_suggest(const struct shelf *shelf, const char *text, char *out,
		  size_t size)
{
	owned_free const char **names = name_list(shelf);
	size_t count = shelf->name_count, used = 0;
	const char *near;

	if (!names)
		return -1;
	for (int n = 0; n < NEAR_MAX && (near = word_nearest(text, names));
	     n++) {
		used += (size_t)snprintf(out + used, size - used, "%s\"%.40s\"",
					 n ? ", " : "; did you mean ", near);
		drop_names(shelf, names, &count, near);
	}
	if (used) {
		snprintf(out + used, size - used, "?");
		return 0;
	}
	used = (size_t)snprintf(out, size, ", allowed: %s",
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
