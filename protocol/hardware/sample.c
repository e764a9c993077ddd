/* sample.c - reads the output of a vendor's monitor tool: values per device.
 */
#include "protocol/hardware/sample.h"
#include "protocol/hardware/sample_internal.h"

#include <errno.h>
#include <string.h>

void samples_clear(struct samples *samples)
{
	free(samples->rows);
	memset(samples, 0, sizeof(*samples));
}

/* The text. */

/* The end of the escape sequence at text[at]. Source: ECMA-48, 5.4. */
static size_t escape_end(const char *text, size_t size, size_t at)
{
	if (at + 1 >= size || text[at + 1] != '[')
		return at + 1;
	for (at += 2; at < size && text[at] >= 0x20 && text[at] < 0x40;)
		at++;
	return at < size && text[at] >= 0x40 ? at + 1 : at;
}

/* Write the cleaned text to `whole`, and to `lines` without the lines that are
 * too long. Both have room for size + 1 bytes.
 */
static void clean_text(const char *text, size_t size, char *whole, char *lines,
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

/* Some line matches `when`. */
static int layout_fits(struct run *run, struct error *err)
{
	struct expression *when = run->layout->when;
	struct line line;
	size_t at = 0;
	int rc = !when;

	while (!rc && line_next(run->lines, run->lines_size, &at, &line))
		rc = run_match(run, when, line.text, EXPRESSION_ANYWHERE, err);
	return rc;
}

/* Read the lines that hold values for all devices. */
static int sample_run_read_all(struct run *run, struct error *err)
{
	const struct expressions *all = &run->layout->all;
	struct line line;
	size_t at = 0;

	while (all->count &&
	       line_next(run->lines, run->lines_size, &at, &line)) {
		for (size_t i = 0; i < all->count; i++) {
			int rc = run_match(run, all->list[i], line.text,
					   EXPRESSION_START, err);

			if (rc < 0)
				return -1;
			if (rc)
				row_put_groups(run, &run->all, all->list[i]);
		}
	}
	return 0;
}

/* Give out the rows, completed with the values for all devices. */
static int sample_run_finish(struct run *run, struct samples *samples,
			     struct error *err)
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
	samples->layout = run->layout->name;
	return 0;
}

static int sample_run_read_layout(struct run *run, struct error *err)
{
	int rc = layout_fits(run, err);

	run->count = run->keys = 0;
	run->all = (struct row){ 0 };
	if (rc > 0 && (run->layout->read(run, err) < 0 ||
		       sample_run_read_all(run, err) < 0))
		rc = -1;
	return rc < 0 ? error_prefix(err, "layout %s", run->layout->name) : rc;
}

/* None of the layouts fits the text. */
static int sample_run_refuse(const struct run *run, struct error *err)
{
	struct line line = { 0 };
	size_t at = 0;

	while (!line.text.size &&
	       line_next(run->lines, run->lines_size, &at, &line))
		continue;
	if (!line.text.size)
		return error_set(err, EPROTO, "no line contains text%s",
				 run->size > SAMPLE_LINE_MAX
					 ? " of a plausible length"
					 : "");
	return error_set(err, EPROTO,
			 "\"%.*s\" at its start matches none of the %zu "
			 "layouts of the profile",
			 line.text.size < 60 ? (int)line.text.size : 60,
			 line.text.data, run->sampler->count);
}

static int read_layouts(struct run *run, struct samples *samples,
			struct error *err)
{
	const char *near = NULL;

	for (size_t i = 0; i < run->sampler->count; i++) {
		int rc;

		run->layout = &run->sampler->layouts[i];
		rc = sample_run_read_layout(run, err);
		if (rc < 0)
			return -1;
		if (rc && run->count)
			return sample_run_finish(run, samples, err);
		if (rc && run->layout->when)
			near = run->layout->name;
	}
	if (near)
		return error_set(err, EPROTO,
				 "it matches the layout \"%s\", but contains "
				 "no device",
				 near);
	return sample_run_refuse(run, err);
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
	struct run run = { .sampler = sampler };

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
	clean_text(text, size, whole, lines, &run);
	run.rows = rows;
	run_limit_time(&run);
	if (read_layouts(&run, samples, err) < 0)
		return error_prefix(err, "monitor output");
	return 0;
}

/* As JSON. */

static bool sample_add_word(cJSON *object, const char *name, const char *word)
{
	return *word ? cJSON_AddStringToObject(object, name, word)
		     : cJSON_AddNullToObject(object, name);
}

static bool sample_add_row(cJSON *array, const struct device_sample *row)
{
	cJSON *object = cJSON_CreateObject();
	bool good = cJSON_AddItemToArray(array, object) &&
		    sample_add_word(object, "device", row->device) &&
		    sample_add_word(object, "bus_id", row->bus_id) &&
		    sample_add_word(object, "name", row->name);

	for (unsigned i = 0; good && i < READINGS; i++) {
		const char *name = reading_name((enum reading)i);

		good = row->has & 1u << i
			       ? cJSON_AddNumberToObject(object, name,
							 row->value[i])
			       : cJSON_AddNullToObject(object, name);
	}
	return good && sample_add_word(object, "driver", row->driver);
}

cJSON *samples_json(const struct samples *samples, struct error *err)
{
	cJSON *array = cJSON_CreateArray();

	for (size_t i = 0; i < samples->count; i++)
		if (!array || !sample_add_row(array, &samples->rows[i])) {
			error_nomem(err, "samples");
			cJSON_Delete(array);
			return NULL;
		}
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
