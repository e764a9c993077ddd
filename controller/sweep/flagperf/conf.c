/* conf.c - reads the configuration files of a FlagPerf tree. */
#include "controller/sweep/flagperf/conf.h"
#include "controller/sweep/flagperf/template.h"
#include "protocol/base/list.h"
#include "protocol/base/printable.h"
#include "protocol/message/json_get.h"
#include "protocol/yaml/document.h"
#include "protocol/yaml/value.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* python_files.py as it is, and a NUL. */
extern const char python_files_script[];
__asm__(".pushsection .rodata\n"
	".global python_files_script\n"
	"python_files_script:\n"
	".incbin \"controller/sweep/flagperf/python_files.py\"\n"
	".byte 0\n"
	".popsection\n");

#define LINE_MAX_NUMBER (1 << 21) /* a file has at most 1 MiB */
#define DEPTH_MAX 256             /* of what is printed */

struct python_files {
	struct strings paths;
	cJSON **items; /* for each path */
};

void python_files_free(struct python_files *files)
{
	if (!files)
		return;
	for (size_t i = 0; files->items && i < files->paths.count; i++)
		cJSON_Delete(files->items[i]);
	free(files->items);
	strings_clear(&files->paths);
	free(files);
}

int python_files_command(const struct strings *paths, struct strings *argv,
			 struct error *err)
{
	/* Alone: no variables, no folder and no packages of the user. */
	static const char *const words[] = { "python3", "-I", "-c" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strings_add(argv, words[i], err) < 0)
			return -1;
	if (strings_add(argv, python_files_script, err) < 0)
		return -1;
	for (size_t i = 0; i < paths->count; i++)
		if (strings_add(argv, paths->items[i], err) < 0)
			return -1;
	return 0;
}

/* What python3 printed is checked once; the rest of this file relies on it. */

static bool python_number_whole(const cJSON *item, double from, double to)
{
	return cJSON_IsNumber(item) && item->valuedouble >= from &&
	       item->valuedouble <= to &&
	       item->valuedouble == floor(item->valuedouble);
}

/* An object of these keys alone. */
static bool has_keys(const cJSON *object, const char *const *keys)
{
	const cJSON *item = object->child;

	for (; item && *keys; item = item->next, keys++)
		if (strcmp(item->string, *keys) != 0)
			return false;
	return !item && !*keys;
}

static bool good_number(const cJSON *item)
{
	return python_number_whole(item, -9007199254740992.0,
				   9007199254740992.0);
}

/* A key of a dict, or a value without parts. */
static bool good_scalar(const cJSON *item)
{
	static const char *const real[] = { "float", NULL };

	if (cJSON_IsObject(item))
		return has_keys(item, real) && cJSON_IsNumber(item->child) &&
		       isfinite(item->child->valuedouble);
	return cJSON_IsNull(item) || cJSON_IsBool(item) ||
	       cJSON_IsString(item) || good_number(item);
}

static bool good_found(const cJSON *item)
{
	static const char *const found[] = { "found", "line", NULL };

	return cJSON_IsObject(item) && has_keys(item, found) &&
	       cJSON_IsString(item->child) &&
	       python_number_whole(item->child->next, 1, LINE_MAX_NUMBER);
}

static bool good_value(const cJSON *item, unsigned depth);

static bool good_entry(const cJSON *entry, unsigned depth)
{
	const cJSON *value = cJSON_GetArrayItem(entry, 2);

	return cJSON_IsArray(entry) && cJSON_GetArraySize(entry) == 3 &&
	       good_scalar(entry->child) &&
	       python_number_whole(entry->child->next, 1, LINE_MAX_NUMBER) &&
	       (good_found(value) || good_value(value, depth));
}

static bool good_dict(const cJSON *item, unsigned depth)
{
	static const char *const dict[] = { "dict", NULL };
	const cJSON *entry;

	if (!cJSON_IsObject(item) || !has_keys(item, dict) ||
	    !cJSON_IsArray(item->child))
		return false;
	cJSON_ArrayForEach(entry, item->child)
		if (!good_entry(entry, depth))
			return false;
	return true;
}

static bool good_value(const cJSON *item, unsigned depth)
{
	const cJSON *part;

	if (depth > DEPTH_MAX)
		return false;
	if (!cJSON_IsArray(item))
		return good_scalar(item) || good_dict(item, depth + 1);
	cJSON_ArrayForEach(part, item)
		if (!good_value(part, depth + 1))
			return false;
	return true;
}

static bool python_name_valid(const cJSON *item)
{
	const cJSON *value = cJSON_GetArrayItem(item, 2);

	return cJSON_IsArray(item) && cJSON_GetArraySize(item) == 3 &&
	       cJSON_IsString(item->child) && *item->child->valuestring &&
	       python_number_whole(item->child->next, 1, LINE_MAX_NUMBER) &&
	       (good_found(value) || good_value(value, 0));
}

/* What is printed of one file. */
static bool good_file(const cJSON *file)
{
	static const char *const read[] = { "names", NULL };
	static const char *const refused[] = { "error", "line", "code", NULL };
	const cJSON *item;

	if (!cJSON_IsObject(file))
		return false;
	if (has_keys(file, refused))
		return cJSON_IsString(file->child) &&
		       python_number_whole(file->child->next, 0,
					   LINE_MAX_NUMBER) &&
		       python_number_whole(file->child->next->next, 1, 4095);
	if (!has_keys(file, read) || !cJSON_IsArray(file->child))
		return false;
	cJSON_ArrayForEach(item, file->child)
		if (!python_name_valid(item))
			return false;
	return true;
}

/* Each file has one line. */
static int decode(struct python_files *files, const char *text, size_t size,
		  struct error *err)
{
	const char *end = text + size;

	for (size_t i = 0; i < files->paths.count; i++) {
		const char *line = memchr(text, '\n', (size_t)(end - text));

		if (!line)
			return error_set(err, EPROTO,
					 "python3: no answer for %s",
					 files->paths.items[i]);
		files->items[i] =
			cJSON_ParseWithLength(text, (size_t)(line - text));
		if (!files->items[i] || !good_file(files->items[i]))
			return error_set(err, EPROTO,
					 "python3: no valid answer for %s",
					 files->paths.items[i]);
		text = line + 1;
	}
	return text == end ? 0
			   : error_set(err, EPROTO,
				       "python3: more answers than files");
}

struct python_files *python_files_decode(const char *text, size_t size,
					 const struct strings *paths,
					 struct error *err)
{
	owned(python_files_free) struct python_files *files =
		calloc(1, sizeof(*files));

	if (files)
		files->items = calloc(paths->count + 1, sizeof(cJSON *));
	if (!files || !files->items)
		return error_null(error_nomem(err, "python3"));
	if (strings_copy(&files->paths, paths, err) < 0 ||
	    decode(files, text, size, err) < 0)
		return NULL;
	return take(files);
}

const char *python_file_path(const struct python_files *files, size_t file)
{
	return files->paths.items[file];
}

int python_file_check(const struct python_files *files, size_t file,
		      struct error *err)
{
	const cJSON *item = files->items[file];
	const cJSON *why = json_get(item, "error");
	const char *path = files->paths.items[file];
	char text[160];

	if (!why)
		return 0;
	snprintf(text, sizeof(text), "%s", why->valuestring);
	printable(text, strlen(text));
	if (!why->next->valueint)
		return error_set(err, why->next->next->valueint, "%s: %s", path,
				 text);
	return error_set(err, why->next->next->valueint, "%s:%d: %s", path,
			 why->next->valueint, text);
}

static const cJSON *names_of(const struct python_files *files, size_t file)
{
	return json_get(files->items[file], "names");
}

const char *python_file_name(const struct python_files *files, size_t file,
			     size_t index, unsigned *line, const cJSON **value)
{
	const cJSON *item =
		cJSON_GetArrayItem(names_of(files, file), (int)index);

	if (!item)
		return NULL;
	*line = (unsigned)item->child->next->valueint;
	*value = item->child->next->next;
	return item->child->valuestring;
}

const cJSON *python_file_get(const struct python_files *files, size_t file,
			     const char *name)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, names_of(files, file))
		if (!strcmp(item->child->valuestring, name))
			return item->child->next->next;
	return NULL;
}

const char *python_found(const cJSON *value, unsigned *line)
{
	const cJSON *found = json_get(value, "found");

	if (!found)
		return NULL;
	*line = (unsigned)found->next->valueint;
	return found->valuestring;
}

const cJSON *python_dict(const cJSON *value)
{
	return json_get(value, "dict");
}

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
	struct conf_case *to = LIST_ADD(conf->cases, conf->count, err);

	if (!to)
		return -1;
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
		if (json_append(list,
				python_json(dict ? item->child->next->next
						 : item),
				NULL) < 0)
			return NULL;
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
		if (python_case(conf, path, entry, err) < 0)
			return -1;
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
