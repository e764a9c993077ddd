/* cell_label.c - sets the words and the JSON values that identify a cell. */
#include "controller/sweep/cell_label.h"

#include "protocol/base/utf8.h"
#include "protocol/message/json_get.h"
#include "protocol/yaml/value.h"

#include <string.h>

#define SCALAR_BYTES 60

static int add_scalar(struct buffer *out, const char *text, struct error *err)
{
	const char *quote = strpbrk(text, " \t\n,=[]") || !*text ? "\"" : "";

	if (buffer_text(out, quote, err) < 0 ||
	    buffer_append(out, text, strnlen(text, SCALAR_BYTES), err) < 0)
		return -1;
	return buffer_text(out, quote, err);
}

/* A value in few characters. */
static int cell_label_add_word(struct buffer *out, const struct value *value,
			       struct error *err)
{
	switch (value_kind(value)) {
	case VALUE_NULL:
		return buffer_text(out, "~", err);
	case VALUE_SCALAR:
		return add_scalar(out, value_text(value), err);
	case VALUE_LIST:
	case VALUE_MAP:
		break;
	}
	if (buffer_text(out, "[", err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(value); i++)
		if ((i && buffer_text(out, " ", err) < 0) ||
		    cell_label_add_word(out, value_at(value, i), err) < 0)
			return -1;
	return buffer_text(out, "]", err);
}

/* Keys about the order and number of runs do not identify a cell. */
static bool cell_label_shows_path(size_t path)
{
	return path < KEY_AFTER || path > KEY_UNTIL_MAX;
}

/* Log rules in the sweep file are shown by the name of their format. */
static bool is_own_log(const struct value *const *values, size_t path)
{
	return path == KEY_LOG && values[path] &&
	       value_kind(values[path]) == VALUE_MAP;
}

static int set_words(struct cells *cells, const struct value *const *values,
		     struct cell *cell, struct error *err)
{
	struct buffer *out = &cells->scratch;

	/* A case of FlagPerf has its own name. */
	if (values[KEY_CASE])
		return string_set(&cell->spec.cell,
				  value_text(values[KEY_CASE]), err);
	buffer_consume(out, out->size);
	for (size_t i = 0; i < cells->varying_count; i++) {
		size_t path = cells->varying[i];
		const char *fallback =
			path < KEYS ? key_rules[path].fallback : NULL;

		if (!cell_label_shows_path(path) ||
		    (!values[path] && !fallback))
			continue;
		if (buffer_text(out, out->size ? " " : "", err) < 0 ||
		    buffer_text(out, paths_name(cells->paths, path), err) < 0 ||
		    buffer_text(out, "=", err) < 0 ||
		    (is_own_log(values, path)
			     ? buffer_text(out, cell->spec.measure.log, err)
		     : values[path]
			     ? cell_label_add_word(out, values[path], err)
			     : buffer_text(out, fallback, err)) < 0)
			return -1;
	}
	if (!out->size &&
	    (values[KEY_MODEL] ? buffer_printf(out, err, "model=%s",
					       value_text(values[KEY_MODEL]))
			       : buffer_text(out, cells->name, err)) < 0)
		return -1;
	if (out->size >= CELL_WORDS_BYTES) {
		size_t end = utf8_cut(out->data, CELL_WORDS_BYTES - 4);

		memcpy(out->data + end, "...", 4);
	}
	return string_set(&cell->spec.cell, out->data, err);
}

/* Put a path into the object: batch and parallel are objects inside. */
static bool add_json(cJSON *object, const char *path, cJSON *item)
{
	const char *dot = strchr(path, '.');
	char top[32];

	if (!item)
		return false;
	if (dot && dot - path < (ptrdiff_t)sizeof(top)) {
		memcpy(top, path, (size_t)(dot - path));
		top[dot - path] = 0;
		if (key_shape(top) == SHAPE_KNOWN) {
			cJSON *inner = json_get(object, top);

			if (!inner)
				inner = cJSON_AddObjectToObject(object, top);
			object = inner;
			path = dot + 1;
		}
	}
	if (object && cJSON_AddItemToObject(object, path, item))
		return true;
	cJSON_Delete(item);
	return false;
}

static bool is_varying(const struct cells *cells, size_t path)
{
	for (size_t i = 0; i < cells->varying_count; i++)
		if (cells->varying[i] == path)
			return true;
	return false;
}

/* The varying fields, and always the model, the batch and, where the cell
 * gives one, the parallel layout.
 */
static int set_values(const struct cells *cells,
		      const struct value *const *values, struct cell *cell,
		      struct error *err)
{
	cJSON *object = cJSON_CreateObject();
	bool parallel = false, good = object != NULL;

	for (size_t key = KEY_PARALLEL_TP; key < KEYS; key++)
		parallel |= values[key] != NULL;
	for (size_t i = 0; good && i < cells->varying_count; i++) {
		size_t path = cells->varying[i];

		if ((path < KEY_BATCH_MICRO || path >= KEYS) &&
		    cell_label_shows_path(path) && values[path])
			good = add_json(object, paths_name(cells->paths, path),
					is_own_log(values, path)
						? cJSON_CreateString(
							  cell->spec.measure
								  .log)
						: value_to_json(values[path]));
	}
	if (good && values[KEY_CASE] && !is_varying(cells, KEY_CASE))
		good = add_json(object, "case",
				value_to_json(values[KEY_CASE]));
	if (good && values[KEY_MODEL] && !is_varying(cells, KEY_MODEL))
		good = add_json(object, "model",
				value_to_json(values[KEY_MODEL]));
	if (good && !is_varying(cells, KEY_NODES))
		good = add_json(object, "nodes",
				cJSON_CreateNumber(cell->shape.nodes));
	for (size_t key = KEY_BATCH_MICRO; good && key < KEYS; key++) {
		uint64_t number = cell_number(cell, key);

		if (key == KEY_PARALLEL_SPLIT && values[key])
			good = add_json(object, key_rules[key].path,
					value_to_json(values[key]));
		if (good && number && (parallel || key < KEY_PARALLEL_TP))
			good = add_json(object, key_rules[key].path,
					cJSON_CreateNumber((double)number));
	}
	if (!good) {
		cJSON_Delete(object);
		return error_nomem(err, "sweep");
	}
	cJSON_Delete(cell->spec.values);
	cell->spec.values = object;
	return 0;
}

int cell_label_set(struct cells *cells, const struct value *const *values,
		   struct cell *cell, struct error *err)
{
	if (set_words(cells, values, cell, err) < 0)
		return -1;
	return set_values(cells, values, cell, err);
}
