/* sample.c - the output of a vendor's monitor tool to readings per device.
 */
#include "protocol/hardware/sample.h"
#include "protocol/base/buffer.h"
#include "protocol/hardware/sample_internal.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <time.h>

struct sampler {
	struct words na;
	struct layout *layouts;
	size_t count;
};

void samples_clear(struct samples *samples)
{
	free(samples->rows);
	memset(samples, 0, sizeof(*samples));
}

/* ---- the text ---------------------------------------------------------- */

/* Behind an escape sequence that begins at text[at]. Source: ECMA-48, 5.4. */
static size_t escape_end(const char *text, size_t size, size_t at)
{
	if (at + 1 >= size || text[at + 1] != '[')
		return at + 1;
	for (at += 2; at < size && text[at] >= 0x20 && text[at] < 0x40;)
		at++;
	return at < size && text[at] >= 0x40 ? at + 1 : at;
}

/* One byte for each of `whole`, lines apart by '\n'; `lines` is the same with
 * nothing in lines that are too long. Both have room for size + 1.
 */
static void clean(const char *text, size_t size, char *whole, char *lines,
		  struct run *run)
{
	size_t start = 0, at = 0;

	if (size >= 3 && !memcmp(text, "\357\273\277", 3))
		at = 3; /* a byte order mark */
	while (at < size) {
		char c = text[at];

		if (c == '\033') {
			at = escape_end(text, size, at);
			continue;
		}
		at++;
		if (c == '\r') {
			if (at < size && text[at] == '\n')
				at++;
			c = '\n';
		}
		if (!c)
			c = ' ';
		whole[run->size++] = c;
		lines[run->lines_size++] = c;
		if (c != '\n')
			continue;
		if (run->lines_size - start > SAMPLE_LINE_MAX) {
			run->lines_size = start;
			lines[run->lines_size++] = '\n';
		}
		start = run->lines_size;
	}
	if (run->lines_size - start > SAMPLE_LINE_MAX)
		run->lines_size = start;
	whole[run->size] = 0;
	lines[run->lines_size++] = '\n';
	run->text = whole;
	run->lines = lines;
}

bool line_next(const char *text, size_t size, size_t *at, struct line *line)
{
	const char *start = text + *at;
	const char *end;

	if (*at >= size)
		return false;
	end = memchr(start, '\n', size - *at);
	if (!end)
		end = text + size;
	*at = (size_t)(end - text) + 1;
	line->text = start;
	while (line->text < end && (*line->text == ' ' || *line->text == '\t'))
		line->text++;
	line->indent = (size_t)(line->text - start);
	while (end > line->text && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	line->size = (size_t)(end - line->text);
	return true;
}

/* ---- matching ---------------------------------------------------------- */

static int64_t cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

int run_match(struct run *run, struct expression *expression, const char *text,
	      size_t size, enum expression_place place, struct error *err)
{
	if (!(++run->calls % 64) && cpu_us() > run->deadline_us)
		return error_set(err, ETIMEDOUT,
				 "reading it takes more than %d ms",
				 SAMPLE_TIME_MS);
	return expression_match(expression, text, size, place, err);
}

int run_match_any(struct run *run, const struct expressions *expressions,
		  const char *text, size_t size, enum expression_place place,
		  size_t *index, struct error *err)
{
	for (size_t i = 0; i < expressions->count; i++) {
		int rc = run_match(run, expressions->list[i], text, size, place,
				   err);

		if (rc && index)
			*index = i;
		if (rc)
			return rc;
	}
	return 0;
}

/* Some line matches `when`. */
static int fits(const struct layout *layout, struct run *run, struct error *err)
{
	struct line line;
	size_t at = 0;
	int rc = !layout->when;

	while (!rc && line_next(run->lines, run->lines_size, &at, &line))
		rc = run_match(run, layout->when, line.text, line.size,
			       EXPRESSION_ANYWHERE, err);
	return rc;
}

/* Words of lines that speak of every device. */
static int read_all(const struct layout *layout, struct run *run,
		    struct error *err)
{
	struct line line;
	size_t at = 0;

	while (layout->all.count &&
	       line_next(run->lines, run->lines_size, &at, &line)) {
		for (size_t i = 0; i < layout->all.count; i++) {
			struct expression *all = layout->all.list[i];
			int rc = run_match(run, all, line.text, line.size,
					   EXPRESSION_START, err);

			if (rc < 0)
				return -1;
			if (rc)
				row_put_groups(run, &run->all, all);
		}
	}
	return 0;
}

/* The rows as they are handed out. */
static int finish(struct run *run, const struct layout *layout,
		  struct samples *samples, struct error *err)
{
	struct device_sample *rows = calloc(run->count, sizeof(*rows));

	if (!rows)
		return error_nomem(err, "samples");
	for (size_t i = 0; i < run->count; i++) {
		struct device_sample *row = &rows[i];
		const struct device_sample *all = &run->all.sample;

		*row = run->rows[i].sample;
		if (!*row->device)
			snprintf(row->device, sizeof(row->device), "%zu", i);
		if (!*row->driver)
			memcpy(row->driver, all->driver, sizeof(row->driver));
		if (!*row->name)
			memcpy(row->name, all->name, sizeof(row->name));
	}
	samples->rows = rows;
	samples->count = run->count;
	samples->layout = layout->name;
	return 0;
}

static int read_layouts(const struct sampler *sampler, struct run *run,
			struct samples *samples, struct error *err)
{
	const char *near = NULL;
	struct line line = { 0 };
	size_t at = 0;

	for (size_t i = 0; i < sampler->count; i++) {
		const struct layout *layout = &sampler->layouts[i];
		int rc = fits(layout, run, err);

		if (rc < 0)
			return error_prefix(err, "layout %s", layout->name);
		if (!rc)
			continue;
		run_restart(run);
		memset(&run->all, 0, sizeof(run->all));
		if (layout->read(layout, run, err) < 0 ||
		    read_all(layout, run, err) < 0)
			return error_prefix(err, "layout %s", layout->name);
		if (run->count)
			return finish(run, layout, samples, err);
		if (layout->when)
			near = layout->name;
	}
	if (near)
		return error_set(err, EPROTO,
				 "no device in it, though it looks like the "
				 "layout \"%s\"",
				 near);
	while (!line.size && line_next(run->lines, run->lines_size, &at, &line))
		continue;
	if (!line.size)
		return error_set(err, EPROTO, "no line of it has text%s",
				 run->size > SAMPLE_LINE_MAX
					 ? " of a length that can be meant"
					 : "");
	return error_set(err, EPROTO,
			 "\"%.*s\" at its start, which is none of the %zu "
			 "layouts that the profile has",
			 line.size < 60 ? (int)line.size : 60, line.text,
			 sampler->count);
}

static int probe_all(const struct expressions *expressions, struct error *err)
{
	for (size_t i = 0; i < expressions->count; i++)
		if (expression_probe(expressions->list[i], err) < 0)
			return -1;
	return 0;
}

static int layout_probe(const struct layout *layout, struct error *err)
{
	struct expression *const ones[] = { layout->when, layout->from,
					    layout->until, layout->row,
					    layout->units };
	const struct expressions *const lists[] = {
		&layout->all, &layout->device, &layout->more, &layout->group
	};

	for (size_t i = 0; i < sizeof(ones) / sizeof(ones[0]); i++)
		if (ones[i] && expression_probe(ones[i], err) < 0)
			return -1;
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (probe_all(lists[i], err) < 0)
			return -1;
	for (size_t i = 0; i < FIELDS; i++)
		if (probe_all(&layout->fields[i], err) < 0)
			return -1;
	return 0;
}

int sampler_probe(const struct sampler *sampler, struct error *err)
{
	for (size_t i = 0; i < sampler->count; i++)
		if (layout_probe(&sampler->layouts[i], err) < 0)
			return error_prefix(err, "layout \"%.40s\"",
					    sampler->layouts[i].name);
	return 0;
}

int sampler_read(const struct sampler *sampler, const char *text, size_t size,
		 struct samples *samples, struct error *err)
{
	owned_free char *whole = NULL, *lines = NULL;
	owned_free struct row *rows = NULL;
	struct run run = { .na = &sampler->na };

	if (size > SAMPLE_TEXT_MAX)
		return error_set(err, E2BIG,
				 "%zu bytes of monitor output; expected at "
				 "most %d",
				 size, SAMPLE_TEXT_MAX);
	whole = malloc(size + 1);
	lines = calloc(1, size + 1);
	rows = malloc((SAMPLE_DEVICES_MAX + 1) * sizeof(*rows));
	if (!whole || !lines || !rows)
		return error_nomem(err, "samples");
	clean(text, size, whole, lines, &run);
	run.rows = rows;
	run.deadline_us = cpu_us() + (int64_t)SAMPLE_TIME_MS * 1000;
	if (read_layouts(sampler, &run, samples, err) < 0)
		return error_prefix(err, "monitor output");
	return 0;
}

/* ---- from a profile ---------------------------------------------------- */

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
	free(sampler->na.list);
	free(sampler);
}

/* Every named group is a field, or begins with '_'. */
static int check_groups(const struct expression *expression,
			const struct value *value, struct error *err)
{
	unsigned field;

	for (size_t i = 0; i < expression_groups(expression); i++) {
		const char *name = expression_group_name(expression, i);

		if (*name != '_' && !field_named(name, &field))
			return value_error(value, err,
					   "a group named \"%s\" is not valid "
					   "here; expected device, bus_id, "
					   "temp_c and the like, or names that "
					   "begin with _",
					   name);
	}
	return 0;
}

static int read_expression(const struct value *map, const char *key,
			   struct expression **expression, struct error *err)
{
	const struct value *value = value_get(map, key);

	if (!value)
		return 0;
	*expression = expression_new(value, err);
	return *expression ? check_groups(*expression, value, err) : -1;
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
		if (check_groups(expression, one, err) < 0)
			return -1;
	}
	return 0;
}

static int read_fields(const struct value *layout_value, struct layout *layout,
		       struct error *err)
{
	const struct value *map = value_get(layout_value, "fields");
	const char *names[FIELDS + 1] = { NULL };

	if (!map)
		return value_error(layout_value, err,
				   "no `fields`; expected a map of words as "
				   "device or temp_c to expressions");
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

static int read_layout(const struct value *value, struct layout *layout,
		       struct error *err)
{
	const struct value *name = value_get(value, "name");
	const struct value *read = value_get(value, "read");
	const struct value *separator = value_get(value, "separator");
	const struct form *form;
	size_t word = 0;

	if (value_expect(value, VALUE_MAP, err) < 0)
		return -1;
	if (!name || !read)
		return value_error(value, err, "no `%s`, which a layout needs",
				   name ? "read" : "name");
	if (value_string(name, SAMPLE_WORD_MAX, &layout->name, err) < 0 ||
	    value_enum(read, form_words, &word, err) < 0)
		return -1;
	form = &forms[word];
	layout->read = form->read;
	if (value_check_keys(value, form->keys, err) < 0)
		return -1;
	if (!value_get(value, form->needs))
		return value_error(value, err, "no `%s`, which read: %s needs",
				   form->needs, form_words[word]);
	word = 0;
	if (separator && value_enum(separator, separator_words, &word, err) < 0)
		return -1;
	layout->separator = (enum separator)word;
	if (read_expression(value, "when", &layout->when, err) < 0 ||
	    read_expression(value, "from", &layout->from, err) < 0 ||
	    read_expression(value, "until", &layout->until, err) < 0 ||
	    read_expression(value, "row", &layout->row, err) < 0 ||
	    read_expression(value, "units", &layout->units, err) < 0 ||
	    read_expressions(value_get(value, "all"), &layout->all, err) < 0 ||
	    read_expressions(value_get(value, "device"), &layout->device, err) <
		    0 ||
	    read_expressions(value_get(value, "more"), &layout->more, err) <
		    0 ||
	    read_expressions(value_get(value, "group"), &layout->group, err) <
		    0)
		return -1;
	return form->fields ? read_fields(value, layout, err) : 0;
}

static int read_na(const struct value *list, struct words *na,
		   struct error *err)
{
	size_t count = list ? value_count(list) : 0;

	if (!list)
		return 0;
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (count > SAMPLE_LAYOUTS_MAX)
		return value_error(list, err, "%zu words; expected at most %d",
				   count, SAMPLE_LAYOUTS_MAX);
	na->list = calloc(count + 1, sizeof(*na->list));
	if (!na->list)
		return error_nomem(err, "monitor");
	for (; na->count < count; na->count++)
		if (value_string(value_at(list, na->count), SAMPLE_WORD_MAX,
				 &na->list[na->count], err) < 0)
			return -1;
	return 0;
}

struct sampler *sampler_new(const struct value *monitor, struct error *err)
{
	owned(sampler_free) struct sampler *sampler =
		calloc(1, sizeof(*sampler));
	const struct value *layouts = value_get(monitor, "layouts");
	size_t count = layouts ? value_count(layouts) : 0;

	if (!sampler) {
		error_nomem(err, "monitor");
		return NULL;
	}
	if (!layouts) {
		value_error(monitor, err,
			    "no `layouts`; expected a list of how the tool's "
			    "output is read");
		return NULL;
	}
	if (value_expect(layouts, VALUE_LIST, err) < 0)
		return NULL;
	if (!count || count > SAMPLE_LAYOUTS_MAX) {
		value_error(layouts, err, "%zu layouts; expected 1 to %d",
			    count, SAMPLE_LAYOUTS_MAX);
		return NULL;
	}
	if (read_na(value_get(monitor, "na"), &sampler->na, err) < 0)
		return NULL;
	sampler->layouts = calloc(count, sizeof(struct layout));
	if (!sampler->layouts) {
		error_nomem(err, "monitor");
		return NULL;
	}
	while (sampler->count < count) {
		const struct value *value = value_at(layouts, sampler->count);

		if (read_layout(value, &sampler->layouts[sampler->count++],
				err) < 0)
			return NULL;
	}
	return take(sampler);
}

/* ---- out --------------------------------------------------------------- */

static bool add_word(cJSON *object, const char *name, const char *word)
{
	return *word ? cJSON_AddStringToObject(object, name, word)
		     : cJSON_AddNullToObject(object, name);
}

static cJSON *row_json(const struct device_sample *row)
{
	cJSON *object = cJSON_CreateObject();
	bool good = object && add_word(object, "device", row->device) &&
		    add_word(object, "bus_id", row->bus_id) &&
		    add_word(object, "name", row->name);

	for (unsigned i = 0; good && i < READINGS; i++)
		good = row->has & 1u << i
			       ? cJSON_AddNumberToObject(object,
							 reading_name(
								 (enum reading)
									 i),
							 row->value[i])
			       : cJSON_AddNullToObject(object,
						       reading_name((
							       enum reading)i));
	if (good && add_word(object, "driver", row->driver))
		return object;
	cJSON_Delete(object);
	return NULL;
}

cJSON *samples_json(const struct samples *samples, struct error *err)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; array && i < samples->count; i++) {
		cJSON *row = row_json(&samples->rows[i]);

		if (!row || !cJSON_AddItemToArray(array, row)) {
			cJSON_Delete(row);
			cJSON_Delete(array);
			array = NULL;
		}
	}
	if (!array)
		error_nomem(err, "samples");
	return array;
}

bool bus_id_normal(const char *text, char out[BUS_ID_SIZE])
{
	unsigned domain = 0, bus, device, function;
	int end = 0;

	/* sscanf() takes blanks and signs too. */
	if (strspn(text, "0123456789abcdefABCDEF:.") != strlen(text))
		return false;
	if (sscanf(text, "%8x:%2x:%2x.%1x%n", &domain, &bus, &device, &function,
		   &end) < 4 ||
	    text[end]) {
		domain = 0;
		end = 0;
		if (sscanf(text, "%2x:%2x.%1x%n", &bus, &device, &function,
			   &end) < 3 ||
		    text[end])
			return false;
	}
	if (domain > 0xffff || device > 0x1f || function > 7)
		return false;
	snprintf(out, BUS_ID_SIZE, "%04x:%02x:%02x.%x", domain, bus, device,
		 function);
	return true;
}
