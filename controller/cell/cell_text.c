/* cell_text.c - fills the placeholders in the texts of a cell. */
#include "controller/cell/cell_text.h"

#include "controller/cell/interpolate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LISTS_MAX 4 /* nested placeholders of lists */

static int find_model_figure(const struct cell_texts *texts, const char *figure,
			     struct buffer *out, struct error *err)
{
	const struct model *model = texts->cell->model;
	const struct value *value;

	if (!texts->values[KEY_MODEL])
		return error_set(err, EINVAL, "the sweep has no model");
	if (!model) {
		struct error why = { 0 };

		catalog_unknown(texts->cells->catalog, CATALOG_MODEL,
				texts->values[KEY_MODEL], &why);
		return error_set(err, EINVAL, "%s", why.text);
	}
	value = value_get(model->value, figure);
	if (!value || value_kind(value) != VALUE_SCALAR)
		return error_set(err, EINVAL,
				 "the model %s has no such value in "
				 "models.yaml",
				 model->name);
	return buffer_text(out, value_text(value), err) < 0 ? -1 : 1;
}

/* A cell that uses ${steps} must reach that step. */
static void expect_steps(const struct cell_texts *texts, const char *name,
			 const struct value *value)
{
	if (!strcmp(name, "steps"))
		value_u32(value, 1, UINT32_MAX,
			  &texts->cell->spec.measure.steps, NULL);
}

/* interpolate_lookup_fn */
static int cell_text_look_up(void *arg, const char *name, struct buffer *out,
			     struct error *err)
{
	const struct cell_texts *texts = arg;
	int path = paths_find(texts->cells->paths, name);
	const struct value *value;
	uint64_t number;

	if (path < 0 && !strncmp(name, "model.", 6))
		return find_model_figure(texts, name + 6, out, err);
	if (path < 0)
		return 0;
	texts->cells->used[path] = true;
	value = texts->values[path];
	number = path < KEYS ? cell_number(texts->cell, (size_t)path) : 0;
	if (number)
		return buffer_printf(out, err, "%" PRIu64, number) < 0 ? -1 : 1;
	if (!value && path < KEYS && key_rules[path].fallback)
		return buffer_text(out, key_rules[path].fallback, err) < 0 ? -1
									   : 1;
	if (!value)
		return error_set(err, EINVAL, "it has no value in this cell");
	if (value_kind(value) != VALUE_SCALAR)
		return error_set(err, EINVAL,
				 "it is a list; expected single values");
	expect_steps(texts, name, value);
	return buffer_text(out, value_text(value), err) < 0 ? -1 : 1;
}

static const char *look_near(void *arg, const char *name)
{
	const struct cell_texts *texts = arg;

	return paths_nearest(texts->cells->paths, name);
}

/* Fill the text into the scratch buffer. */
int cell_text_fill(const struct cell_texts *texts, const struct value *value,
		   size_t max, bool runtime, struct error *err)
{
	struct interpolator filler = { cell_text_look_up, look_near,
				       (void *)texts };
	struct buffer *out = &texts->cells->scratch;

	buffer_consume(out, out->size);
	if (interpolate(&filler, value_text(value), runtime, value, out, err) <
	    0)
		return -1;
	if (out->size > max)
		return value_error(value, err,
				   "a text of %zu bytes when filled; expected "
				   "at most %zu",
				   out->size, max);
	return 0;
}

int cell_text_copy(const struct cell_texts *texts, const struct value *value,
		   size_t max, char **out, struct error *err)
{
	const char *text;

	if (value_string(value, max, &text, err) < 0 ||
	    cell_text_fill(texts, value, max, false, err) < 0)
		return -1;
	*out = strdup(texts->cells->scratch.data);
	return *out ? 0 : error_nomem(err, value_file(value));
}

static int cell_text_add_word(const struct cell_texts *texts,
			      const struct value *word, unsigned depth,
			      struct strings *argv, struct error *err);

/* If the word is just the placeholder of a list, add each entry of the list as
 * a word. 1: done; 0: it is another word.
 */
static int splice(const struct cell_texts *texts, const struct value *word,
		  unsigned depth, struct strings *argv, struct error *err)
{
	const char *text = value_text(word);
	size_t length = strlen(text);
	const struct value *list;
	char name[PATH_BYTES];
	int path;

	if (strncmp(text, "${", 2) != 0 ||
	    strchr(text, '}') != text + length - 1 ||
	    length - 3 >= sizeof(name))
		return 0;
	memcpy(name, text + 2, length - 3);
	name[length - 3] = 0;
	path = paths_find(texts->cells->paths, name);
	list = path >= 0 ? texts->values[path] : NULL;
	if (!list || value_kind(list) != VALUE_LIST ||
	    (path < KEYS && path != KEY_PARALLEL_SPLIT))
		return 0;
	texts->cells->used[path] = true;
	if (depth == LISTS_MAX)
		return value_error(word, err,
				   "lists inside each other more than %d deep, "
				   "which is the limit",
				   LISTS_MAX);
	for (size_t i = 0; i < value_count(list); i++)
		if (cell_text_add_word(texts, value_at(list, i), depth + 1,
				       argv, err) < 0)
			return -1;
	return 1;
}

static int cell_text_add_word(const struct cell_texts *texts,
			      const struct value *word, unsigned depth,
			      struct strings *argv, struct error *err)
{
	int spliced;

	if (value_expect(word, VALUE_SCALAR, err) < 0)
		return -1;
	spliced = splice(texts, word, depth, argv, err);
	if (spliced)
		return spliced < 0 ? -1 : 0;
	if (cell_text_fill(texts, word, CELL_TEXT_WORD_MAX, true, err) < 0)
		return -1;
	return strings_add(argv, texts->cells->scratch.data, err);
}

int cell_text_words(const struct cell_texts *texts, const struct value *word,
		    struct strings *argv, struct error *err)
{
	return cell_text_add_word(texts, word, 0, argv, err);
}
