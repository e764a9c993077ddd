/* conf.c - reads the configuration files of a FlagPerf tree. */
#include "controller/sweep/flagperf/conf.h"
#include "controller/sweep/flagperf/template.h"
#include "protocol/message/json_get.h"
#include "protocol/yaml/document.h"
#include "protocol/yaml/value.h"

#include <errno.h>
#include <string.h>

void conf_init(struct conf *conf)
{
	*conf = (struct conf){ .values = cJSON_CreateObject() };
}

void conf_clear(struct conf *conf)
{
	cJSON_Delete(conf->values);
	for (size_t i = 0; i < conf->count; i++) {
		free(conf->cases[i].name);
		free(conf->cases[i].text);
		free(conf->cases[i].file);
	}
	free(conf->cases);
	strings_clear(&conf->notes);
	strings_clear(&conf->wrong);
	*conf = (struct conf){ .values = NULL };
}

static int conf_add_case(struct conf *conf, const char *file, unsigned line,
			 const char *name, const char *text, struct error *err)
{
	struct conf_case *cases =
		reallocarray(conf->cases, conf->count + 1, sizeof(*cases));
	struct conf_case *to;

	if (!cases)
		return error_nomem(err, file);
	conf->cases = cases;
	to = &cases[conf->count++];
	*to = (struct conf_case){ .name = strdup(name),
				  .text = strdup(text ? text : ""),
				  .file = strdup(file),
				  .line = line };
	return to->name && to->text && to->file ? 0 : error_nomem(err, file);
}

/* Python. */

/* The value as plain JSON; of a dict, the list of its values. NULL: no memory.
 */
static cJSON *python_json(const cJSON *value)
{
	const cJSON *dict = python_dict(value), *item;
	const cJSON *items = dict ? dict : value;
	owned(cJSON_Delete) cJSON *list = NULL;
	unsigned line;

	if (python_found(value, &line))
		return cJSON_CreateNull();
	if (cJSON_IsObject(value) && !dict)
		return cJSON_CreateNumber(value->child->valuedouble);
	if (!dict && !cJSON_IsArray(value))
		return cJSON_Duplicate(value, false);
	list = cJSON_CreateArray();
	cJSON_ArrayForEach(item, items)
	{
		if (json_append(list,
				python_json(dict ? item->child->next->next
						 : item),
				NULL) < 0)
			return NULL;
	}
	return take(list);
}

/* One entry of CASES: [KEY, LINE, VALUE]. */
static int python_case(struct conf *conf, const char *path, const cJSON *entry,
		       struct error *err)
{
	const cJSON *key = entry->child, *value = key->next->next;
	const char *name = cJSON_IsString(key) ? key->valuestring : "";
	unsigned line = (unsigned)key->next->valueint, found_line;
	const char *found = python_found(value, &found_line);

	if (found)
		return strings_printf(&conf->wrong, err,
				      "%s:%u: CASES: %s: \"%s\" is not a "
				      "literal",
				      path, found_line, name, found);
	if (!cJSON_IsString(key) ||
	    (!cJSON_IsString(value) && !cJSON_IsNull(value)))
		return strings_printf(&conf->wrong, err,
				      "%s:%u: CASES: %s: expected strings, the "
				      "case and its data",
				      path, line, name);
	return conf_add_case(conf, path, line, name,
			     cJSON_GetStringValue(value), err);
}

static int python_cases(struct conf *conf, const char *path, unsigned line,
			const cJSON *cases, struct error *err)
{
	const cJSON *dict = python_dict(cases), *entry;

	if (!dict)
		return error_set(err, EINVAL,
				 "%s:%u: CASES: expected a dict of strings",
				 path, line);
	cJSON_ArrayForEach(entry, dict)
	{
		if (python_case(conf, path, entry, err) < 0)
			return -1;
	}
	return 0;
}

int conf_read_python(struct conf *conf, const struct python_files *files,
		     size_t file, struct error *err)
{
	const char *path = python_file_path(files, file), *name;
	const cJSON *value;
	unsigned line;

	if (python_file_check(files, file, err) < 0)
		return -1;
	for (size_t i = 0;
	     (name = python_file_name(files, file, i, &line, &value)); i++) {
		const char *found = python_found(value, &line);
		bool cases = !strcmp(name, "CASES");
		struct error why;
		int rc;

		if (found)
			error_set(&why, EINVAL,
				  "%s:%u: %s: \"%s\" is not a literal", path,
				  line, name, found);
		if (found && cases)
			return error_set(err, EINVAL, "%s", why.text);
		if (found)
			rc = strings_add(&conf->notes, why.text, err);
		else if (cases)
			rc = python_cases(conf, path, line, value, err);
		else
			rc = json_put(conf->values, name, python_json(value),
				      err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* host.yaml */

static int yaml_cases(struct conf *conf, const struct value *cases,
		      struct error *err)
{
	if (value_kind(cases) == VALUE_NULL)
		return 0;
	if (value_expect(cases, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(cases); i++) {
		const struct value *text = value_at(cases, i);

		if (value_kind(text) != VALUE_NULL &&
		    value_expect(text, VALUE_SCALAR, err) < 0)
			return -1;
		if (conf_add_case(conf, value_file(cases),
				  value_key_line(cases, i), value_key(cases, i),
				  value_text(text), err) < 0)
			return -1;
	}
	return 0;
}

int conf_read_yaml(struct conf *conf, const char *path, struct error *err)
{
	owned(document_free) struct document *document =
		document_read(path, NULL, err);
	const struct value *root;

	if (!document)
		return -1;
	root = document_root(document);
	if (value_expect(root, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(root); i++) {
		const char *name = value_key(root, i);
		const struct value *value = value_at(root, i);
		int rc = !strcmp(name, "CASES")
				 ? yaml_cases(conf, value, err)
				 : json_put(conf->values, name,
					    value_kind(value) == VALUE_NULL
						    ? cJSON_CreateNull()
						    : value_to_json(value),
					    err);

		if (rc < 0)
			return -1;
	}
	return 0;
}

const char *conf_text(const struct conf *conf, const char *name)
{
	cJSON *value = json_get(conf->values, name);

	if (cJSON_IsNumber(value)) {
		char number[32];
		cJSON *text;

		snprintf(number, sizeof(number), "%.15g", value->valuedouble);
		text = cJSON_CreateString(number);
		if (!text ||
		    !cJSON_ReplaceItemInObjectCaseSensitive(conf->values, name,
							    text))
			return "";
		value = text;
	}
	return cJSON_IsString(value) ? value->valuestring : "";
}

/* A whole number of a plausible size, or 0. */
static uint64_t hint_number(const cJSON *value)
{
	return cJSON_IsNumber(value) && value->valuedouble >= 1 &&
			       value->valuedouble <= 1 << 24
		       ? (uint64_t)value->valuedouble
		       : 0;
}

void conf_hints(const struct python_files *files, size_t file,
		struct conf_hint hints[CONF_HINTS])
{
	/* FlagPerf's configurations have several names for one key. */
	static const struct {
		const char *key, *names[4];
	} known[CONF_HINTS] = {
		{ "batch.sequence", { "seqlength", "seq_length", "seq_len" } },
		{ "batch.micro", { "batchsize", "micro_batch_size" } },
		{ "batch.accumulate",
		  { "accumulate_steps", "gradient_accumulation_steps" } },
		{ "parallel.tp",
		  { "tensor_parallel", "tensor_model_parallel_size" } },
		{ "parallel.pp",
		  { "pipeline_parallel", "pipeline_model_parallel_size" } },
	};

	for (size_t i = 0; i < CONF_HINTS; i++) {
		hints[i] = (struct conf_hint){ known[i].key, 0 };
		for (size_t k = 0; known[i].names[k] && !hints[i].number; k++)
			hints[i].number =
				hint_number(python_file_get(files, file,
							    known[i].names[k]));
	}
}
