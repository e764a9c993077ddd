/* own_rules.c - log rules in a sweep file. */
#include "controller/cell/own_rules.h"

#include "controller/catalog/descriptions.h"
#include "controller/results/rules/log_rules.h"
#include "protocol/yaml/value.h"

#include <sodium.h>
#include <string.h>

#define NAME_BYTES 4 /* of the hash */

void own_rules_clear(struct cells *cells)
{
	for (size_t i = 0; i < cells->own_rules_count; i++)
		free(cells->own_rules[i].text);
	free(cells->own_rules);
}

/* The rules must compile, with those that they are `like`. */
static int own_rules_check(const struct cells *cells, const struct value *log,
			   struct error *err)
{
	const struct framework own = { .name = "log", .log = log };
	const struct value *logs[CATALOG_LOGS_MAX];
	owned(extract_rules_free) struct extract_rules *rules = NULL;
	size_t count;

	if (catalog_logs(cells->catalog, &own, logs, &count, err) < 0)
		return -1;
	rules = extract_rules_new(logs, count, err);
	return rules ? 0 : -1;
}

/* The description of the format with these rules; NULL: no memory. */
static char *own_rules_describe(const struct value *log, char name[24])
{
	cJSON *rules = value_to_json(log), *file = cJSON_CreateObject();
	char *text = rules ? cJSON_PrintUnformatted(rules) : NULL;
	unsigned char hash[crypto_hash_sha256_BYTES];
	char hex[2 * NAME_BYTES + 1];

	if (text && file) {
		crypto_hash_sha256(hash, (const unsigned char *)text,
				   strlen(text));
		sodium_bin2hex(hex, sizeof(hex), hash, NAME_BYTES);
		snprintf(name, 24, "rules-%s", hex);
		cJSON_AddStringToObject(file, "framework", name);
		cJSON_AddItemToObject(file, "log", rules);
		rules = NULL;
	}
	cJSON_free(text);
	text = file ? cJSON_PrintUnformatted(file) : NULL;
	cJSON_Delete(rules);
	cJSON_Delete(file);
	return text;
}

static int own_rules_add(struct cells *cells, const struct value *log,
			 struct error *err)
{
	struct own_rules *all =
		realloc(cells->own_rules,
			(cells->own_rules_count + 1) * sizeof(*all));
	struct own_rules *own;

	if (!all)
		return error_nomem(err, "log");
	cells->own_rules = all;
	own = &all[cells->own_rules_count];
	if (own_rules_check(cells, log, err) < 0)
		return -1;
	own->log = log;
	own->text = own_rules_describe(log, own->name);
	if (!own->text)
		return error_nomem(err, "log");
	cells->own_rules_count++;
	return strlen(own->text) <= OWN_RULES_MAX
		       ? 0
		       : value_error(log, err,
				     "rules of %zu bytes; expected at most %d",
				     strlen(own->text), OWN_RULES_MAX);
}

int own_rules_take(struct cells *cells, const struct value *log,
		   struct job_spec *spec, struct error *err)
{
	const struct value *like = value_get(log, "like");
	cJSON **described = &spec->measure.described;
	const struct own_rules *own;
	size_t i = 0;

	while (i < cells->own_rules_count && cells->own_rules[i].log != log)
		i++;
	if (i == cells->own_rules_count && own_rules_add(cells, log, err) < 0)
		return -1;
	own = &cells->own_rules[i];
	for (i = 0; like && i < value_count(like); i++)
		if (descriptions_take(cells->catalog, cells->described,
				      value_text(value_at(like, i)), NULL, NULL,
				      described, err) < 0)
			return -1;
	return string_set(&spec->measure.log, own->name, err) < 0
		       ? -1
		       : descriptions_put(described, CATALOG_FRAMEWORK,
					  own->name, own->text, err);
}
