/* descriptions.c - descriptions that a sweep brings along, in addition to those
 * of a folder.
 */
#include "controller/catalog/descriptions.h"

#include "controller/catalog/catalog_internal.h"
#include "protocol/message/json_get.h"
#include "protocol/yaml/value.h"

#include <errno.h>
#include <string.h>

static const char *const kinds[] = {
	[CATALOG_MODEL] = "models",
	[CATALOG_FRAMEWORK] = "frameworks",
	[CATALOG_VENDOR] = "vendors",
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int add_profile(struct catalog *catalog, const char *file,
		       const char *text, struct error *err)
{
	struct profiles *profiles = &catalog->profiles;
	struct profile **list =
		realloc(profiles->list,
			(profiles->count + 1) * sizeof(struct profile *));

	if (!list)
		return error_nomem(err, file);
	profiles->list = list;
	list[profiles->count] = profile_parse(text, strlen(text), file, err);
	if (!list[profiles->count])
		return -1;
	return catalog_add_vendor(catalog, list[profiles->count++], err);
}

static int descriptions_add_text(struct catalog *catalog,
				 enum catalog_kind kind, const char *name,
				 const char *text, struct error *err)
{
	const struct value *root;
	char file[200], hash[65];

	snprintf(file, sizeof(file), "descriptions.%s.%.128s", kinds[kind],
		 name);
	if (kind == CATALOG_VENDOR)
		return add_profile(catalog, file, text, err);
	root = catalog_keep(catalog,
			    document_parse(text, strlen(text), file, NULL, err),
			    err);
	if (!root)
		return -1;
	if (kind == CATALOG_MODEL)
		return catalog_add_model(catalog, name, root, err);
	catalog_hash(text, strlen(text), hash);
	return catalog_add_framework(catalog, name, root, hash, err);
}

static int descriptions_add_kind(struct catalog *catalog,
				 enum catalog_kind kind, const cJSON *list,
				 size_t *bytes, struct error *err)
{
	const cJSON *item;

	if (list && !cJSON_IsObject(list))
		return error_set(err, EINVAL,
				 "descriptions.%s: expected a map from names "
				 "to texts",
				 kinds[kind]);
	if (cJSON_GetArraySize(list) > DESCRIPTIONS_MAX)
		return error_set(err, E2BIG,
				 "descriptions.%s: %d entries; expected at "
				 "most %d",
				 kinds[kind], cJSON_GetArraySize(list),
				 DESCRIPTIONS_MAX);
	cJSON_ArrayForEach(item, list) {
		const char *text = cJSON_GetStringValue(item);

		if (!text)
			return error_set(err, EINVAL,
					 "descriptions.%s.%.60s: expected a "
					 "text",
					 kinds[kind], item->string);
		*bytes += strlen(text);
		if (*bytes > DESCRIPTIONS_BYTES_MAX)
			return error_set(err, E2BIG,
					 "descriptions: expected at most %d "
					 "KiB",
					 DESCRIPTIONS_BYTES_MAX >> 10);
		if (descriptions_add_text(catalog, kind, item->string, text,
					  err) < 0)
			return -1;
	}
	return 0;
}

static int check_kinds(const cJSON *described, struct error *err)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, described) {
		size_t kind = 0;

		while (kind < KINDS && strcmp(kinds[kind], item->string) != 0)
			kind++;
		if (kind == KINDS)
			return error_set(err, EINVAL,
					 "descriptions.%.60s is not valid "
					 "here; expected frameworks, models "
					 "or vendors",
					 item->string);
	}
	return cJSON_IsObject(described)
		       ? 0
		       : error_set(err, EINVAL, "descriptions: expected a map");
}

struct catalog *catalog_with_descriptions(const struct catalog *base,
					  const cJSON *described,
					  struct error *err)
{
	owned(catalog_free) struct catalog *catalog = catalog_new(base, err);
	size_t bytes = 0;

	if (!catalog || check_kinds(described, err) < 0)
		return NULL;
	for (size_t kind = 0; kind < KINDS; kind++)
		if (descriptions_add_kind(catalog, (enum catalog_kind)kind,
					  json_get(described, kinds[kind]),
					  &bytes, err) < 0)
			return NULL;
	return take(catalog);
}

int descriptions_put(cJSON **described, enum catalog_kind kind,
		     const char *name, const char *text, struct error *err)
{
	cJSON *list;

	if (!*described)
		*described = cJSON_CreateObject();
	list = json_get(*described, kinds[kind]);
	if (!list)
		list = cJSON_AddObjectToObject(*described, kinds[kind]);
	if (json_get(list, name))
		return 0;
	return cJSON_AddStringToObject(list, name, text)
		       ? 0
		       : error_nomem(err, "descriptions");
}

static int take_one(const cJSON *all, enum catalog_kind kind, const char *name,
		    cJSON **described, struct error *err)
{
	const char *text = json_get_text(json_get(all, kinds[kind]), name);

	return text ? descriptions_put(described, kind, name, text, err) : 0;
}

int descriptions_frameworks(const struct catalog *catalog, const char *name,
			    struct strings *names, struct error *err)
{
	const struct framework *framework = catalog_framework(catalog, name);
	struct formats formats = { { framework }, 1 };

	if (!framework)
		return 0;
	if (framework->log &&
	    catalog_formats(catalog, framework, &formats, err) < 0)
		return -1;
	for (size_t i = 0; i < formats.count; i++)
		if (strings_add(names, formats.list[i]->name, err) < 0)
			return -1;
	return 0;
}

static int take_framework(const struct catalog *catalog, const cJSON *all,
			  const char *name, cJSON **described,
			  struct error *err)
{
	owned(strings_clear) struct strings names = { 0 };

	if (descriptions_frameworks(catalog, name, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (take_one(all, CATALOG_FRAMEWORK, names.items[i], described,
			     err) < 0)
			return -1;
	return 0;
}

/* As JSON, with numbers as they are written, such as the version 1.10. */
static cJSON *exact(const struct value *value)
{
	bool map = value_kind(value) == VALUE_MAP;
	double number;
	cJSON *list;

	if (value_kind(value) == VALUE_SCALAR && !value_quoted(value) &&
	    strchr("+-.0123456789", *value_text(value)) &&
	    value_double(value, -1e300, 1e300, &number, NULL) == 0)
		return cJSON_CreateRaw(value_text(value));
	if (!map && value_kind(value) != VALUE_LIST)
		return value_to_json(value);
	list = map ? cJSON_CreateObject() : cJSON_CreateArray();
	for (size_t i = 0; list && i < value_count(value); i++) {
		cJSON *item = exact(value_at(value, i));

		if (item &&
		    (map ? cJSON_AddItemToObject(list, value_key(value, i),
						 item)
			 : cJSON_AddItemToArray(list, item)))
			continue;
		cJSON_Delete(item);
		cJSON_Delete(list);
		return NULL;
	}
	return list;
}

static const struct value *
descriptions_find_entry(const struct catalog *catalog, enum catalog_kind kind,
			const char *name)
{
	const struct framework *framework;
	const struct vendor *vendor;
	const struct model *model;

	switch (kind) {
	case CATALOG_FRAMEWORK:
		framework = catalog_framework(catalog, name);
		return framework ? framework->value : NULL;
	case CATALOG_MODEL:
		model = catalog_model(catalog, name);
		return model ? model->value : NULL;
	case CATALOG_VENDOR:
		vendor = catalog_vendor(catalog, name);
		return vendor ? vendor->value : NULL;
	case CATALOG_CHIP:
		break;
	}
	return NULL;
}

char *descriptions_text(const struct catalog *catalog, enum catalog_kind kind,
			const char *name)
{
	const struct value *entry =
		descriptions_find_entry(catalog, kind, name);
	cJSON *json = entry ? exact(entry) : NULL;
	char *text = json ? cJSON_PrintUnformatted(json) : NULL;

	cJSON_Delete(json);
	return text;
}

const char *descriptions_kind(enum catalog_kind kind)
{
	return kinds[kind];
}

int descriptions_take(const struct catalog *catalog, const cJSON *all,
		      const char *framework, const char *model,
		      const char *vendor, cJSON **described, struct error *err)
{
	if (framework &&
	    take_framework(catalog, all, framework, described, err) < 0)
		return -1;
	if (model && take_one(all, CATALOG_MODEL, model, described, err) < 0)
		return -1;
	return vendor ? take_one(all, CATALOG_VENDOR, vendor, described, err)
		      : 0;
}
