/* sample_rules.c - compiles the layouts of a profile into a sampler.
 */
#include "protocol/hardware/map_reader.h"
#include "protocol/hardware/sample_internal.h"

#include <stdlib.h>

static void expressions_clear(struct expressions *expressions)
{
	for (size_t i = 0; i < expressions->count; i++)
		expression_free(expressions->list[i]);
	free(expressions->list);
}

static void layout_clear(struct layout *layout)
{
	expression_free(layout->when);
	expression_free(layout->from);
	expression_free(layout->until);
	expression_free(layout->row);
	expression_free(layout->units);
	expressions_clear(&layout->all);
	expressions_clear(&layout->device);
	expressions_clear(&layout->more);
	expressions_clear(&layout->group);
	for (size_t i = 0; i < FIELDS; i++)
		expressions_clear(&layout->fields[i]);
}

void sampler_free(struct sampler *sampler)
{
	if (!sampler)
		return;
	for (size_t i = 0; i < sampler->count; i++)
		layout_clear(&sampler->layouts[i]);
	free(sampler->layouts);
	strings_clear(&sampler->na);
	free(sampler);
}

/* Every named group is a field, or begins with '_'. */
static int sample_rules_check_groups(const struct expression *expression,
				     const struct value *value,
				     struct error *err)
{
	unsigned field;

	for (size_t i = 0; i < expression_groups(expression); i++) {
		const char *name = expression_group_name(expression, i);

		if (*name != '_' && !field_named(name, &field))
			return value_error(value, err,
					   "a group named \"%s\" is not valid "
					   "here; expected a word such as "
					   "device, bus_id or temp_c, or a "
					   "name that begins with _",
					   name);
	}
	return 0;
}

static int read_grouped(const struct value *map, const char *key,
			struct expression **expression, struct error *err)
{
	const struct value *value = value_get(map, key);

	if (!value)
		return 0;
	*expression = expression_new(value, err);
	return *expression ? sample_rules_check_groups(*expression, value, err)
			   : -1;
}

#define EXPRESSIONS_MAX 32 /* of one list; `more` is a word of bits */

/* A scalar is a list of one. */
static int read_expressions(const struct value *value,
			    struct expressions *expressions, struct error *err)
{
	bool list = value && value_kind(value) == VALUE_LIST;
	size_t count = !value ? 0 : list ? value_count(value) : 1;

	if (!value)
		return 0;
	if (!count || count > EXPRESSIONS_MAX)
		return value_error(value, err,
				   "%zu expressions; expected 1 to %d", count,
				   EXPRESSIONS_MAX);
	expressions->list = calloc(count, sizeof(struct expression *));
	if (!expressions->list)
		return error_nomem(err, "monitor");
	for (size_t i = 0; i < count; i++) {
		const struct value *one = list ? value_at(value, i) : value;
		struct expression *expression = expression_new(one, err);

		if (!expression)
			return -1;
		expressions->list[expressions->count++] = expression;
		if (sample_rules_check_groups(expression, one, err) < 0)
			return -1;
	}
	return 0;
}

static int sample_rules_read_fields(const struct value *layout_value,
				    struct layout *layout, struct error *err)
{
	const struct value *map = value_get(layout_value, "fields");
	const char *names[FIELDS + 1] = { NULL };

	if (!map)
		return value_error(layout_value, err,
				   "missing \"fields\" (expected a map from "
				   "words such as device or temp_c to "
				   "expressions)");
	for (unsigned i = 0; i < FIELDS; i++)
		names[i] = field_name(i);
	if (value_check_keys(map, names, err) < 0)
		return -1;
	for (unsigned i = 0; i < FIELDS; i++)
		if (read_expressions(value_get(map, names[i]),
				     &layout->fields[i], err) < 0)
			return -1;
	return 0;
}

/* clang-format off */
static const char *const lines_keys[] = {
	"name", "read", "when", "all", "from", "until", "group", "device",
	"more", NULL
};
static const char *const columns_keys[] = {
	"name", "read", "when", "all", "from", "until", "separator", "fields",
	"row", "units", NULL
};
static const char *const keys_keys[] = {
	"name", "read", "when", "all", "device", "group", "fields", NULL
};
static const char *const json_keys[] = {
	"name", "read", "when", "all", "device", "fields", NULL
};

static const struct form {
	const char *const *keys;
	const char *needs;
	bool fields;
	read_fn *read;
} forms[] = {
	{ lines_keys, "device", false, lines_read },
	{ columns_keys, "when", true, columns_read },
	{ keys_keys, "device", true, keys_read },
	{ json_keys, "device", true, json_read },
};
/* clang-format on */

static const char *const form_words[] = { "lines", "columns", "keys", "json",
					  NULL };
static const char *const separator_words[] = { "comma", "blanks", "bar", NULL };

static int sample_rules_read_layout(const struct value *value,
				    struct layout *layout, struct error *err)
{
	const struct value *name = value_get(value, "name");
	const struct value *read = value_get(value, "read");
	const struct value *separator = value_get(value, "separator");
	const struct form *form;
	size_t word = 0;

	if (value_expect(value, VALUE_MAP, err) < 0)
		return -1;
	if (!name || !read)
		return value_error(value, err, "missing \"%s\"",
				   name ? "read" : "name");
	if (value_string(name, SAMPLE_WORD_MAX, &layout->name, err) < 0 ||
	    value_enum(read, form_words, &word, err) < 0)
		return -1;
	form = &forms[word];
	layout->read = form->read;
	if (value_check_keys(value, form->keys, err) < 0)
		return -1;
	if (!value_get(value, form->needs))
		return value_error(value, err,
				   "missing \"%s\" (required by read: %s)",
				   form->needs, form_words[word]);
	word = 0;
	if (separator && value_enum(separator, separator_words, &word, err) < 0)
		return -1;
	layout->separator = (enum separator)word;
	if (read_grouped(value, "when", &layout->when, err) < 0 ||
	    read_grouped(value, "from", &layout->from, err) < 0 ||
	    read_grouped(value, "until", &layout->until, err) < 0 ||
	    read_grouped(value, "row", &layout->row, err) < 0 ||
	    read_grouped(value, "units", &layout->units, err) < 0 ||
	    read_expressions(value_get(value, "all"), &layout->all, err) < 0 ||
	    read_expressions(value_get(value, "device"), &layout->device, err) <
		    0 ||
	    read_expressions(value_get(value, "more"), &layout->more, err) <
		    0 ||
	    read_expressions(value_get(value, "group"), &layout->group, err) <
		    0)
		return -1;
	return form->fields ? sample_rules_read_fields(value, layout, err) : 0;
}

struct sampler *sampler_new(const struct value *monitor, struct error *err)
{
	owned(sampler_free) struct sampler *sampler =
		calloc(1, sizeof(*sampler));
	const struct value *layouts = value_get(monitor, "layouts");
	const struct value *na = value_get(monitor, "na");
	size_t count = layouts ? value_count(layouts) : 0;

	if (!sampler)
		return error_null(error_nomem(err, "monitor"));
	if (!layouts)
		return error_null(value_error(monitor, err,
					      "missing \"layouts\" (expected a "
					      "list of formats "
					      "of "
					      "the tool's output)"));
	if (value_expect(layouts, VALUE_LIST, err) < 0)
		return NULL;
	if (!count || count > SAMPLE_LAYOUTS_MAX)
		return error_null(value_error(layouts, err,
					      "%zu layouts; expected 1 to %d",
					      count, SAMPLE_LAYOUTS_MAX));
	if (na && read_texts(na, &sampler->na, err) < 0)
		return NULL;
	sampler->layouts = calloc(count, sizeof(struct layout));
	if (!sampler->layouts)
		return error_null(error_nomem(err, "monitor"));
	while (sampler->count < count) {
		const struct value *value = value_at(layouts, sampler->count);

		if (sample_rules_read_layout(value,
					     &sampler->layouts
						      [sampler->count++],
					     err) < 0)
			return NULL;
	}
	return take(sampler);
}
