/* reference_table.c - writes the performance table of the reference page.
 */
#include "controller/report/reference.h"

#include "controller/report/row.h"
#include "protocol/base/strings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 24
#define MIB_PER_GIB 1024.0
#define BYTES_PER_GIB (MIB_PER_GIB * 1024 * 1024)

struct reference_column;
typedef void column_fn(struct writer *to, const struct lines *lines,
		       const cJSON *row, const struct reference_column *column);

struct reference_column {
	const char *name; /* in about.columns, and the title */
	const char *path; /* what put_number() and put_name() show */
	const char *format;
	column_fn *put;
	bool measured; /* "/" unless the row is completed */
};

const char *layout_text(const cJSON *row, char text[LAYOUT_TEXT])
{
	static const struct {
		const char *name;
		const char *path;
		bool always; /* shown even if it is 1 */
	} degrees[] = {
		{ "TP", "setup.layout.tp", true },
		{ "PP", "setup.layout.pp", true },
		{ "CP", "setup.layout.cp", false },
		{ "EP", "setup.layout.ep", false },
		{ "DP", "setup.layout.data", true },
	};
	const char *stage = row_text(row, "setup.layout.stage");
	double sharding = number_at(row, "setup.layout.sharding");

	text[0] = 0;
	if (!number_at(row, "setup.layout.tp") &&
	    !number_at(row, "setup.layout.pp") &&
	    !number_at(row, "setup.layout.ep"))
		return "/";
	for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++) {
		double degree = number_at(row, degrees[i].path);

		/* Sharded over all data ranks: "SH2SP8". */
		if (!strcmp(degrees[i].name, "DP") && stage &&
		    sharding == degree)
			text_append(text, LAYOUT_TEXT, "SH%.8sSP%.0f", stage,
				    sharding);
		else if (degree > 1 || degrees[i].always)
			text_append(text, LAYOUT_TEXT, "%s%.0f",
				    degrees[i].name, fmax(degree, 1));
	}
	return text;
}

const char *chip_text(const cJSON *row, char text[CHIP_TEXT])
{
	static const char *const boards[] = { "-SXM", "-PCI", "-OAM" };
	const char *chip = row_text(row, "setup.chip");
	const char *vendor = row_text(row, "setup.vendor");
	char *end;

	snprintf(text, CHIP_TEXT, "%s", chip ? chip : vendor ? vendor : "");
	for (size_t i = 0; i < sizeof(boards) / sizeof(boards[0]); i++)
		if ((end = strstr(text, boards[i])))
			*end = 0;
	/* "-64GB" */
	end = strrchr(text, '-');
	if (end && end[1 + strspn(end + 1, "0123456789")] == 'G')
		*end = 0;
	return text;
}

/* "H800 2机16卡（2x8）" */
static void put_configuration(struct writer *to, const struct lines *lines,
			      const cJSON *row,
			      const struct reference_column *column)
{
	enum language language = lines->language;
	const char *stage = row_text(row, "setup.stage");
	double nodes = number_at(row, "nodes");
	double devices = number_at(row, "devices");
	char chip[CHIP_TEXT], shape[64];

	chip_text(row, chip);
	snprintf(shape, sizeof(shape), "%.0fx%.0f", nodes,
		 nodes > 0 ? devices / nodes : 0);
	if (nodes == 1)
		writer_printf(to,
			      phrase(language, "%s, 1 node, %.0f devices (%s)"),
			      chip, devices, shape);
	else
		writer_printf(to,
			      phrase(language,
				     "%s, %.0f nodes, %.0f devices (%s)"),
			      chip, nodes, devices, shape);
	if (stage && lines_differ(lines, "setup.stage"))
		writer_printf(to, phrase(language, " (%s)"), stage);
}

static void put_name(struct writer *to, const struct lines *lines,
		     const cJSON *row, const struct reference_column *column)
{
	writer_text(to, text_or_slash(row_text(row, column->path)));
}

static void put_number(struct writer *to, const struct lines *lines,
		       const cJSON *row, const struct reference_column *column)
{
	const cJSON *value = row_at(row, column->path);

	if (cJSON_IsNumber(value))
		writer_printf(to, column->format, value->valuedouble);
	else
		writer_text(to, text_or_slash(cJSON_GetStringValue(value)));
}

/* Is the metric among those that are in percent? */
static bool in_percent(const cJSON *row, const char *metric)
{
	const cJSON *name;

	cJSON_ArrayForEach(name, row_at(row, "result.metric_percents"))
	{
		if (cJSON_IsString(name) && !strcmp(name->valuestring, metric))
			return true;
	}
	return false;
}

/* "35.9%" */
static void put_metric(struct writer *to, const struct lines *lines,
		       const cJSON *row, const struct reference_column *column)
{
	put_number(to, lines, row, column);
	if (in_percent(row, column->name) &&
	    cJSON_IsNumber(row_at(row, column->path)))
		writer_raw(to, "%");
}

/* "2.1025", "3.20": two digits at least. */
static void put_loss(struct writer *to, const struct lines *lines,
		     const cJSON *row, const struct reference_column *column)
{
	const cJSON *loss = row_at(row, column->path);
	char five[32], two[32];

	if (!cJSON_IsNumber(loss)) {
		put_number(to, lines, row, column);
		return;
	}
	snprintf(five, sizeof(five), "%.5g", loss->valuedouble);
	snprintf(two, sizeof(two), "%.2f", loss->valuedouble);
	writer_raw(to, strlen(five) < strlen(two) ? two : five);
}

static void put_aligned(struct writer *to, const struct lines *lines,
			const cJSON *row, const struct reference_column *column)
{
	const char *verdict = row_text(row, column->path);

	if (verdict && !strcmp(verdict, "baseline"))
		writer_raw(to, phrase(lines->language, "True (baseline)"));
	else
		put_number(to, lines, row, column);
}

static void put_layout(struct writer *to, const struct lines *lines,
		       const cJSON *row, const struct reference_column *column)
{
	char text[LAYOUT_TEXT];

	writer_text(to, layout_text(row, text));
}

/* Tokens per step as published pages round them: "2M tokens". */
static void put_tokens(struct writer *to, double tokens)
{
	if (tokens >= 1 << 20)
		writer_printf(to, "=%.3gM tokens", tokens / (1 << 20));
	else if (tokens > 0)
		writer_printf(to, "=%.0f tokens", tokens);
}

/* The settings that differ from the first row: "GAS=64(GBS=1024=2M tokens)". */
static void put_changes(struct writer *to, const struct lines *lines,
			const cJSON *row, const struct reference_column *column)
{
	static const struct {
		const char *name;
		const char *path;
	} batch[] = {
		{ "LBS", "setup.micro_batch" },
		{ "GAS", "setup.accumulate" },
		{ "MPE", "setup.sequence" },
	};
	const char *said = row_text(row, "setup.about.fix_hp");
	double global = number_at(row, "setup.global_batch");
	bool any = false;

	if (said) {
		writer_text(to, text_or_slash(said));
		return;
	}
	for (size_t i = 0; i < sizeof(batch) / sizeof(batch[0]); i++) {
		double value = number_at(row, batch[i].path);

		if (!value || value == number_at(lines->rows[0], batch[i].path))
			continue;
		writer_printf(to, "%s%s=%.0f", any ? ", " : "", batch[i].name,
			      value);
		any = true;
	}
	if (!any) {
		writer_raw(to, "/");
	} else if (global) {
		writer_printf(to, "(GBS=%.0f", global);
		put_tokens(to, global * number_at(row, "setup.sequence"));
		writer_raw(to, ")");
	}
}

/* From 1000 on rounded down, as on published pages; else with two digits. */
static void put_rate(struct writer *to, const struct lines *lines,
		     const cJSON *row, const struct reference_column *column)
{
	double rate = number_at(row, ROW_RATE);

	if (rate <= 0)
		writer_raw(to, "/");
	else if (rate >= 1000)
		writer_printf(to, "%.0f", floor(rate));
	else
		writer_printf(to, "%.2f", rate);
}

/* samples/s * sequence / devices = token/p/s, as the Paddle pages write it. */
static void put_product(struct writer *to, const struct lines *lines,
			const cJSON *row, const struct reference_column *column)
{
	double samples = number_at(row, "result.samples_per_second");
	double sequence = number_at(row, "setup.sequence");

	if (samples > 0 && sequence > 0)
		writer_printf(to, "%.2f \\* %.0f / %.0f = ", samples, sequence,
			      number_at(row, "devices"));
	put_rate(to, lines, row, column);
	writer_raw(to, " tokens/s");
}

static double total_gib(const cJSON *row)
{
	double total = number_at(row, "result.usage.mem_total_mib");
	double chip = number_at(row, "result.inputs.chip_memory_bytes");

	return total > 0 ? total / MIB_PER_GIB : chip / BYTES_PER_GIB;
}

/* Of a device. The memory of the container counts only if no chip is known. */
static double used_gib(const cJSON *row)
{
	const char *source = row_text(row, "result.memory_source");

	if (source && !strcmp(source, "cgroup") && row_text(row, "setup.chip"))
		return 0;
	return number_at(row, "result.memory_mib") / MIB_PER_GIB;
}

/* "77/80": the memory use of the fullest device, and its total, with the same
 * digits.
 */
static void put_memory(struct writer *to, const struct lines *lines,
		       const cJSON *row, const struct reference_column *column)
{
	double used = used_gib(row);
	double total = total_gib(row);
	double scale = used < 10 ? 100 : 10;
	int digits;

	if (used <= 0) {
		writer_raw(to, "/");
		return;
	}
	/* "1.25/2.00", "44.2/48.0", "77/80" */
	used = round(used * scale) / scale;
	digits = used < 10 ? 2 : used == floor(used) ? 0 : 1;
	writer_printf(to, "%.*f/", digits, used);
	if (total > 0)
		writer_printf(to, "%.*f", digits, total);
	else
		writer_raw(to, "-");
}

static double rounded_gib(const cJSON *mib)
{
	return round(mib->valuedouble / MIB_PER_GIB * 100) / 100;
}

/* "46.77*2 + 36.59*2 GB": adjacent devices with the same use are counted. */
static void put_each_memory(struct writer *to, const struct lines *lines,
			    const cJSON *row,
			    const struct reference_column *column)
{
	const cJSON *list = row_at(row, "result.memory_by_rank_mib");
	const cJSON *item = list ? list->child : NULL;

	if (!item) {
		put_memory(to, lines, row, column);
		return;
	}
	while (item) {
		double gib = rounded_gib(item);
		size_t same = 0;

		for (; item && rounded_gib(item) == gib; item = item->next)
			same++;
		writer_printf(to, "%.2f\\*%zu%s", gib, same,
			      item ? " + " : " GB");
	}
}

static void put_mfu(struct writer *to, const struct lines *lines,
		    const cJSON *row, const struct reference_column *column)
{
	double mfu = row_double(row, "result.mfu");

	if (isnan(mfu))
		writer_raw(to, "/");
	else
		writer_printf(to, "%.2f%%", mfu * 100);
}

/* clang-format off */
static const struct reference_column known[] = {
	{ "configuration", NULL, NULL, put_configuration, false },
	{ "config", "values.config", NULL, put_name, false },
	{ "precision", "setup.precision", NULL, put_name, false },
	{ "parallel", NULL, NULL, put_layout, false },
	{ "fix_hp", NULL, NULL, put_changes, false },
	{ "parallel_strategy", NULL, NULL, put_layout, false },
	{ "token/p/s", NULL, NULL, put_rate, true },
	{ "throughput", NULL, NULL, put_product, true },
	{ "loss", "result.loss.last", NULL, put_loss, true },
	{ "aligned", "alignment.verdict", "%.3g", put_aligned, true },
	{ "mem", NULL, NULL, put_memory, true },
	{ "memory", NULL, NULL, put_each_memory, true },
	{ "MFU", NULL, NULL, put_mfu, true },
};
/* clang-format on */

#define KNOWN (sizeof(known) / sizeof(known[0]))

struct reference_layout {
	struct reference_column columns[COLUMNS_MAX];
	size_t count;
	char paths[COLUMNS_MAX][80]; /* of metrics */
};

/* Add a known column; false: there is none of this name. */
static bool add_known(struct reference_layout *table, const char *name,
		      size_t size)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (strlen(known[i].name) == size &&
		    !strncmp(known[i].name, name, size)) {
			if (table->count < COLUMNS_MAX)
				table->columns[table->count++] = known[i];
			return true;
		}
	return false;
}

static void add(struct reference_layout *table, const char *name)
{
	add_known(table, name, strlen(name));
}

static void add_metric(struct reference_layout *table, const char *name)
{
	char *path;

	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->columns[i].name, name))
			return;
	if (table->count == COLUMNS_MAX)
		return;
	path = table->paths[table->count];
	snprintf(path, sizeof(table->paths[0]), "result.metrics.%.60s", name);
	table->columns[table->count++] =
		(struct reference_column){ name, path, "%.6g", put_metric,
					   true };
}

/* The metrics that tables show, or those of a name, which any row may have. */
static void add_metrics(struct reference_layout *table,
			const struct lines *lines, const char *name,
			size_t size)
{
	const cJSON *metric;

	for (size_t i = 0; i < lines->count; i++)
		cJSON_ArrayForEach(metric,
				   row_at(lines->rows[i], "result.metrics"))
		{
			const char *is = metric->string;

			if (!is)
				continue;
			if (name ? strlen(is) == size &&
					    !strncmp(is, name, size)
				 : row_completed(lines->rows[i]) &&
					    row_shows(lines->rows[i], is))
				add_metric(table, is);
		}
}

static bool any_has(const struct lines *lines, const char *path)
{
	for (size_t i = 0; i < lines->count; i++)
		if (row_at(lines->rows[i], path))
			return true;
	return false;
}

/* The columns that the sweep names; else those that the rows call for, in the
 * order of published pages.
 */
static void choose(struct reference_layout *table, const struct lines *lines)
{
	const char *said = row_text(lines->rows[0], "setup.about.columns");

	add(table, "configuration");
	for (; said && *said; said += strspn(said, " ")) {
		size_t size = strcspn(said, " ");

		if (!add_known(table, said, size))
			add_metrics(table, lines, said, size);
		said += size;
	}
	if (table->count > 1)
		return;
	if (lines_differ(lines, "setup.precision"))
		add(table, "precision");
	if (lines_spread(lines))
		add(table, "parallel");
	add(table, "fix_hp");
	add(table, "token/p/s");
	add(table, any_has(lines, "alignment") ? "aligned" : "loss");
	add(table, "mem");
	add_metrics(table, lines, NULL, 0);
	add(table, "MFU");
}

static void put_head(struct writer *to, const struct reference_layout *table,
		     enum language language)
{
	for (size_t c = 0; c < table->count; c++) {
		const char *name = table->columns[c].name;

		writer_printf(to, "| %s ",
			      !strcmp(name, "configuration")
				      ? phrase(language, "configuration")
			      : !strcmp(name, "aligned")
				      ? phrase(language, "loss aligned")
				      : name);
	}
	writer_raw(to, "|\n");
	for (size_t c = 0; c < table->count; c++)
		writer_raw(to, "| --- ");
	writer_raw(to, "|\n");
}

/* If models differ, each has its own heading. */
static void put_group(struct writer *to, const struct reference_layout *table,
		      const char *model)
{
	writer_printf(to, "| **%s** |", text_or_slash(model));
	for (size_t c = 1; c < table->count; c++)
		writer_raw(to, " |");
	writer_raw(to, "\n");
}

static void put_line(struct writer *to, const struct reference_layout *table,
		     const struct lines *lines, const cJSON *row)
{
	for (size_t c = 0; c < table->count; c++) {
		const struct reference_column *column = &table->columns[c];

		writer_raw(to, "| ");
		if (column->measured && !row_completed(row))
			writer_raw(to, "/");
		else
			column->put(to, lines, row, column);
		writer_raw(to, " ");
	}
	writer_raw(to, "|\n");
}

void reference_table(struct writer *to, const struct lines *lines)
{
	struct reference_layout table = { .count = 0 };
	bool groups = lines_differ(lines, "setup.model");
	const char *last = "";

	choose(&table, lines);
	put_head(to, &table, lines->language);
	for (size_t i = 0; i < lines->count; i++) {
		const char *model = row_text(lines->rows[i], "setup.model");

		model = model ? model : "";
		if (groups && strcmp(model, last) != 0)
			put_group(to, &table, model);
		last = model;
		put_line(to, &table, lines, lines->rows[i]);
	}
}
