/* sweep_uses.c - lists the descriptions of the catalog that a sweep names. */
#include "controller/catalog/descriptions.h"
#include "controller/sweep/sweep_internal.h"
#include "protocol/message/json_get.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

struct uses {
	const struct sweep *sweep;
	struct strings *keys;
	struct error *err;
};

static int add_key(const struct uses *uses, enum catalog_kind kind,
		   const char *name)
{
	const char *word = descriptions_kind(kind);
	const cJSON *own = json_get(uses->sweep->described, word);
	char key[NAME_MAX + 32];

	if (json_get(own, name))
		return 0;
	snprintf(key, sizeof(key), "%s/%.200s", word, name);
	return strings_has(uses->keys, key)
		       ? 0
		       : strings_add(uses->keys, key, uses->err);
}

static int uses_add_framework(const struct uses *uses, const struct value *name)
{
	owned(strings_clear) struct strings names = { 0 };

	if (descriptions_frameworks(uses->sweep->catalog, value_text(name),
				    &names, uses->err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (add_key(uses, CATALOG_FRAMEWORK, names.items[i]) < 0)
			return -1;
	return 0;
}

/* A map has its own rules, but may be `like` frameworks. */
static int add_log(const struct uses *uses, const struct value *log)
{
	const struct value *like = value_get(log, "like");

	if (value_kind(log) != VALUE_MAP)
		return uses_add_framework(uses, log);
	for (size_t i = 0; like && i < value_count(like); i++)
		if (uses_add_framework(uses, value_at(like, i)) < 0)
			return -1;
	return 0;
}

static int add_model(const struct uses *uses, const struct value *name)
{
	const struct model *model =
		catalog_model(uses->sweep->catalog, value_text(name));

	return model ? add_key(uses, CATALOG_MODEL, model->name) : 0;
}

static int add_vendor(const struct uses *uses, const struct value *name)
{
	const struct vendor *vendor =
		catalog_vendor(uses->sweep->catalog, value_text(name));

	return vendor ? add_key(uses, CATALOG_VENDOR, vendor->name) : 0;
}

static int add_layer(const struct uses *uses, const struct overlay *layer)
{
	static const struct {
		size_t key;
		int (*add)(const struct uses *uses, const struct value *value);
	} named[] = {
		{ KEY_FRAMEWORK, uses_add_framework },
		{ KEY_LOG, add_log },
		{ KEY_MODEL, add_model },
		{ KEY_VENDOR, add_vendor },
	};

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		const struct value *value = layer_value(layer, named[i].key);

		if (value && named[i].add(uses, value) < 0)
			return -1;
	}
	return 0;
}

int sweep_uses(const struct sweep *sweep, struct strings *keys,
	       struct error *err)
{
	const struct uses uses = { sweep, keys, err };
	const struct overlay *layer;

	for (size_t i = 0; (layer = sweep_layer(sweep, i)); i++)
		if (add_layer(&uses, layer) < 0)
			return -1;
	return 0;
}
