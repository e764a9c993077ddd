/* conf.c - what the configuration files of a FlagPerf tree say.
 */
#include "controller/sweep/flagperf/conf.h"

#include "controller/sweep/flagperf/python_literals.h"
#include "controller/sweep/words.h"
#include "protocol/file.h"

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

static int add_case(struct conf *conf, const char *file, unsigned line,
		    const char *name, const char *text, struct error *err)
{
	struct conf_case *cases =
		reallocarray(conf->cases, conf->count + 1, sizeof(*cases));
	struct conf_case *to;

	if (!cases)
		return error_nomem(err, file);
	conf->cases = cases;
	to = &cases[conf->count++];
	*to = (struct conf_case){ strdup(name), strdup(text ? text : ""),
				  strdup(file), line };
	return to->name && to->text && to->file ? 0 : error_nomem(err, file);
}

static int set(struct conf *conf, const char *name, cJSON *value,
	       struct error *err)
{
	cJSON_DeleteItemFromObjectCaseSensitive(conf->values, name);
	if (value && cJSON_AddItemToObject(conf->values, name, value))
		return 0;
	cJSON_Delete(value);
	return error_nomem(err, name);
}

/* Python. */

/* NULL: no memory, or what JSON does not have. */
static cJSON *python_json(const struct python_value *value)
{
	cJSON *list;

	switch (value->kind) {
	case PYTHON_NONE:
	case PYTHON_OPAQUE:
		return cJSON_CreateNull();
	case PYTHON_BOOL:
		return cJSON_CreateBool(value->truth);
	case PYTHON_NUMBER:
		return cJSON_CreateNumber(value->number);
	case PYTHON_TEXT:
		return cJSON_CreateString(value->text);
	default:
		break;
	}
	list = cJSON_CreateArray();
	for (size_t i = 0; list && i < value->count; i++) {
		cJSON *item = python_json(value->items[i]);

		if (!item || !cJSON_AddItemToArray(list, item)) {
			cJSON_Delete(item);
			break;
		}
	}
	return list;
}

static int add_wrong(struct conf *conf, const char *path,
		     const struct python_value *key,
		     const struct python_value *item, struct error *err)
{
	const char *name = key->kind == PYTHON_TEXT ? key->text : "";

	if (item->kind == PYTHON_OPAQUE)
		return strings_printf(&conf->wrong, err,
				      "%s:%u: CASES: %s: found \"%s\", which "
				      "is more than a literal",
				      path, item->line, name, item->text);
	return strings_printf(&conf->wrong, err,
			      "%s:%u: CASES: %s: allowed are strings, the case "
			      "and its data",
			      path, key->line, name);
}

static int python_cases(struct conf *conf, const struct python *python,
			const char *path, struct error *err)
{
	const struct python_value *cases = python_get(python, "CASES", err);

	if (!cases)
		return -1;
	if (cases->kind != PYTHON_DICT)
		return python_error(python, cases, err,
				    "CASES: allowed is a dict of strings");
	for (size_t i = 0; i < cases->count; i++) {
		const struct python_value *key = cases->keys[i];
		const struct python_value *item = cases->items[i];

		if (key->kind != PYTHON_TEXT ||
		    (item->kind != PYTHON_TEXT && item->kind != PYTHON_NONE)) {
			if (add_wrong(conf, path, key, item, err) < 0)
				return -1;
			continue;
		}
		if (add_case(conf, path, key->line, key->text, item->text,
			     err) < 0)
			return -1;
	}
	return 0;
}

int conf_read_python(struct conf *conf, const char *path, struct error *err)
{
	owned(python_free) struct python *python = NULL;
	owned(buffer_clear) struct buffer text;
	const char *name;
	unsigned line;

	buffer_init(&text, PYTHON_BYTES_MAX);
	if (file_read_any(path, &text, err) < 0)
		return -1;
	python = python_read(text.data, text.size, path, err);
	if (!python)
		return -1;
	for (size_t i = 0; (name = python_name(python, i, &line)); i++) {
		struct error why;
		const struct python_value *value =
			python_get(python, name, &why);

		if (!strcmp(name, "CASES")) {
			if (python_cases(conf, python, path, err) < 0)
				return -1;
		} else if (!value) {
			if (strings_add(&conf->notes, why.text, err) < 0)
				return -1;
		} else if (set(conf, name, python_json(value), err) < 0) {
			return -1;
		}
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
		if (add_case(conf, value_file(cases), value_key_line(cases, i),
			     value_key(cases, i), value_text(text), err) < 0)
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
				 : set(conf, name,
				       value_kind(value) == VALUE_NULL
					       ? cJSON_CreateNull()
					       : value_json(value),
				       err);

		if (rc < 0)
			return -1;
	}
	return 0;
}

const char *conf_text(const struct conf *conf, const char *name)
{
	cJSON *value = cJSON_GetObjectItemCaseSensitive(conf->values, name);

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

void conf_hints(const char *path, struct conf_hint hints[CONF_HINTS])
{
	/* FlagPerf's configurations have many words for one thing. */
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
	owned(python_free) struct python *python = NULL;
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, PYTHON_BYTES_MAX);
	if (file_read_any(path, &text, NULL) == 0)
		python = python_read(text.data, text.size, path, NULL);
	for (size_t i = 0; i < CONF_HINTS; i++) {
		hints[i] = (struct conf_hint){ known[i].key, 0 };
		for (size_t k = 0; python && known[i].names[k]; k++) {
			const struct python_value *value =
				python_get(python, known[i].names[k], NULL);

			if (value && value->kind == PYTHON_NUMBER &&
			    value->integer && value->number >= 1 &&
			    value->number <= 1 << 24 && !hints[i].number)
				hints[i].number = (uint64_t)value->number;
		}
	}
}
