/* reference_table.c - writes the performance table of the reference page.
 */
#include "controller/report/reference_table.h"

#include "protocol/base/strings.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#define COLUMNS_MAX 24
#define MIB_PER_GIB 1024.0
#define BYTES_PER_GIB (MIB_PER_GIB * 1024 * 1024)

struct reference_column;
typedef void column_fn(struct writer *to, const struct lines *lines,
		       const struct report_row *row);

/* A column: a text that is put together, a figure, or a metric. */
struct reference_column {
	const char *name; /* in about.columns, and the title */
	column_fn *put;   /* NULL: a figure or metric */
	bool measured;    /* "/" unless the row is completed */
	const struct report_figure *figure; /* NULL: a metric */
};

const struct member member_model = MEMBER(OF_SETUP, setup, measure.model);
const struct member member_precision =
	MEMBER(OF_SETUP, setup, measure.precision);

static const struct setup no_setup;

static const struct setup *setup_of(const struct report_row *row)
{
	return row->info.setup ? row->info.setup : &no_setup;
}

const struct layout_spec *row_layout(const struct report_row *row)
{
	return &setup_of(row)->layout;
}

const char *text_or_slash(const char *text)
{
	return text && *text ? text : "/";
}

bool lines_spread(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct layout_spec *layout = row_layout(lines->rows[i]);

		if (layout->tp > 1 || layout->pp > 1 || layout->cp > 1 ||
		    layout->ep > 1)
			return true;
	}
	return false;
}

bool lines_differ(const struct lines *lines, const struct member *member)
{
	for (size_t i = 1; i < lines->count; i++) {
		struct datum a = row_datum(lines->rows[0], member);
		struct datum b = row_datum(lines->rows[i], member);

		if (a.kind != b.kind ||
		    (a.kind == DATUM_NUMBER && a.number != b.number) ||
		    (a.kind == DATUM_TEXT && strcmp(a.text, b.text) != 0))
			return true;
	}
	return false;
}

const char *layout_text(const struct report_row *row, char text[LAYOUT_TEXT])
{
	const struct layout_spec *layout = row_layout(row);
	const struct {
		const char *name;
		uint64_t degree;
		bool always; /* shown even if it is 1 */
	} degrees[] = {
		{ "TP", layout->tp, true },
		{ "PP", layout->pp, true },
		{ "CP", layout->cp, false },
		{ "EP", layout->ep, false },
	};

	text[0] = 0;
	if (!layout->tp && !layout->pp && !layout->ep)
		return "/";
	for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]); i++)
		if (degrees[i].degree > 1 || degrees[i].always)
			text_append(text, LAYOUT_TEXT, "%s%.0f",
				    degrees[i].name,
				    fmax((double)degrees[i].degree, 1));
	/* Sharded over all data ranks: "SH2SP8". */
	if (layout->stage && layout->sharding == layout->data)
		text_append(text, LAYOUT_TEXT, "SH%.8sSP%u", layout->stage,
			    layout->sharding);
	else
		text_append(text, LAYOUT_TEXT, "DP%.0f",
			    fmax((double)layout->data, 1));
	return text;
}

const char *chip_text(const struct report_row *row, char text[CHIP_TEXT])
{
	static const char *const boards[] = { "-SXM", "-PCI", "-OAM" };
	const char *chip = setup_of(row)->measure.chip;
	const char *vendor = setup_of(row)->vendor;
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
			      const struct report_row *row)
{
	static const struct member member_stage =
		MEMBER(OF_SETUP, setup, measure.stage);
	enum language language = lines->language;
	const char *stage = setup_of(row)->measure.stage;
	double nodes = row->info.nodes, devices = row->info.devices;
	char chip[CHIP_TEXT], shape[64];

	chip_text(row, chip);
	snprintf(shape, sizeof(shape), "%.0fx%.0f", nodes,
		 nodes > 0 ? devices / nodes : 0);
	if (nodes == 1)
		writer_printf(to,
			      phrase(language,
				     devices == 1
					     ? "%s, 1 node, %.0f device (%s)"
					     : "%s, 1 node, %.0f devices (%s)"),
			      chip, devices, shape);
	else
		writer_printf(to,
			      phrase(language,
				     "%s, %.0f nodes, %.0f devices (%s)"),
			      chip, nodes, devices, shape);
	if (stage && lines_differ(lines, &member_stage))
		writer_printf(to, phrase(language, " (%s)"), stage);
}

/* Is the metric among those that are in percent? */
static bool in_percent(const struct report_row *row, const char *metric)
{
	return row->info.result &&
	       strings_has(&row->info.result->metric_percents, metric);
}

/* "35.9%" */
static void layout_put_metric(struct writer *to, const struct report_row *row,
			      const char *metric)
{
	double number = row_metric(row, metric);

	if (isnan(number))
		writer_raw(to, "/");
	else
		writer_printf(to, "%.6g", number);
	if (!isnan(number) && in_percent(row, metric))
		writer_raw(to, "%");
}

/* "2.1025", "3.20": two digits at least. */
static void put_loss(struct writer *to, double loss)
{
	char five[32], two[32];

	snprintf(five, sizeof(five), "%.5g", loss);
	snprintf(two, sizeof(two), "%.2f", loss);
	writer_raw(to, strlen(five) < strlen(two) ? two : five);
}

static void put_layout(struct writer *to, const struct lines *lines,
		       const struct report_row *row)
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
static void layout_put_changes(struct writer *to, const struct lines *lines,
			       const struct report_row *row)
{
	const struct measure_spec *of = &setup_of(row)->measure;
	const struct measure_spec *first = &setup_of(lines->rows[0])->measure;
	const struct {
		const char *name;
		uint32_t value, first;
	} batch[] = {
		{ "LBS", of->micro_batch, first->micro_batch },
		{ "GAS", of->accumulate, first->accumulate },
		{ "MPE", of->sequence, first->sequence },
	};
	const char *said = row_about(row, "fix_hp");
	bool any = false;

	if (said) {
		writer_text(to, text_or_slash(said));
		return;
	}
	for (size_t i = 0; i < sizeof(batch) / sizeof(batch[0]); i++) {
		if (!batch[i].value || batch[i].value == batch[i].first)
			continue;
		writer_printf(to, "%s%s=%u", any ? ", " : "", batch[i].name,
			      batch[i].value);
		any = true;
	}
	if (!any) {
		writer_raw(to, "/");
	} else if (of->global_batch) {
		writer_printf(to, "(GBS=%llu",
			      (unsigned long long)of->global_batch);
		put_tokens(to, (double)of->global_batch * of->sequence);
		writer_raw(to, ")");
	}
}

/* From 1000 on rounded down, as on published pages; else with two digits. */
static void layout_put_rate(struct writer *to, double rate)
{
	if (!(rate > 0))
		writer_raw(to, "/");
	else if (rate >= 1000)
		writer_printf(to, "%.0f", floor(rate));
	else
		writer_printf(to, "%.2f", rate);
}

/* samples/s * sequence / devices = token/p/s, as the Paddle pages write it. */
static void put_product(struct writer *to, const struct lines *lines,
			const struct report_row *row)
{
	const struct result *result = row->info.result;
	double samples = result ? result->samples_per_second : 0;
	uint32_t sequence = setup_of(row)->measure.sequence;

	if (samples > 0 && sequence > 0)
		writer_printf(to, "%.2f \\* %u / %u = ", samples, sequence,
			      row->info.devices);
	layout_put_rate(to, result ? result->tokens_per_second_per_device : 0);
	writer_raw(to, " tokens/s");
}

static double total_gib(const struct result *result)
{
	double total =
		result && result->usage ? result->usage->mem_total_mib : 0;

	if (!result)
		return NAN;
	return total > 0 ? total / MIB_PER_GIB
			 : result->inputs.chip_memory_bytes / BYTES_PER_GIB;
}

/* Of a device. The memory of the container counts only if no chip is known. */
static double used_gib(const struct report_row *row)
{
	const struct result *result = row->info.result;

	if (!result || (result->memory_source &&
			!strcmp(result->memory_source, "cgroup") &&
			setup_of(row)->measure.chip))
		return 0;
	return result->memory_mib / MIB_PER_GIB;
}

/* "77/80": the memory use of the fullest device, and its total, with the same
 * digits.
 */
static void put_memory(struct writer *to, const struct lines *lines,
		       const struct report_row *row)
{
	double used = used_gib(row), total;
	double scale = used < 10 ? 100 : 10;
	int digits;

	if (!(used > 0)) {
		writer_raw(to, "/");
		return;
	}
	/* "1.25/2.00", "44.2/48.0", "77/80" */
	total = total_gib(row->info.result);
	used = round(used * scale) / scale;
	digits = used < 10 ? 2 : used == floor(used) ? 0 : 1;
	writer_printf(to, "%.*f/", digits, used);
	if (total > 0)
		writer_printf(to, "%.*f", digits, total);
	else
		writer_raw(to, "-");
}

static double rounded_gib(double mib)
{
	return round(mib / MIB_PER_GIB * 100) / 100;
}

/* "46.77*2 + 36.59*2 GB": adjacent devices with the same use are counted. */
static void put_each_memory(struct writer *to, const struct lines *lines,
			    const struct report_row *row)
{
	const struct doubles *list =
		row->info.result ? &row->info.result->memory_by_rank_mib : NULL;

	if (!list || !list->count) {
		put_memory(to, lines, row);
		return;
	}
	for (size_t i = 0, from = 0; i < list->count; from = i) {
		double gib = rounded_gib(list->items[i]);

		while (i < list->count && rounded_gib(list->items[i]) == gib)
			i++;
		writer_printf(to, "%.2f\\*%zu%s", gib, i - from,
			      i < list->count ? " + " : " GB");
	}
}

static void put_figure(struct writer *to, const struct lines *lines,
		       const struct report_row *row,
		       const struct report_figure *figure)
{
	struct datum datum = figure_datum(figure, row);

	if (figure->style == PUBLISHED_VERDICT && datum.text &&
	    !strcmp(datum.text, "baseline"))
		writer_raw(to, phrase(lines->language, "True (baseline)"));
	else if (datum.kind != DATUM_NUMBER)
		writer_text(to, text_or_slash(datum.text));
	else if (figure->style == PUBLISHED_RATE)
		layout_put_rate(to, datum.number);
	else if (figure->style == PUBLISHED_LOSS)
		put_loss(to, datum.number);
	else if (figure->style == PUBLISHED_PERCENT)
		writer_printf(to, "%.2f%%", datum.number * 100);
	else
		writer_printf(to, "%g", datum.number);
}

/* clang-format off */
static const struct reference_column composed[] = {
	{ "configuration", put_configuration, false, NULL },
	{ "parallel", put_layout, false, NULL },
	{ "fix_hp", layout_put_changes, false, NULL },
	{ "parallel_strategy", put_layout, false, NULL },
	{ "throughput", put_product, true, NULL },
	{ "mem", put_memory, true, NULL },
	{ "memory", put_each_memory, true, NULL },
};
/* clang-format on */

#define COMPOSED (sizeof(composed) / sizeof(composed[0]))

struct reference_layout {
	struct reference_column columns[COLUMNS_MAX];
	size_t count;
};

/* Add a known column; false: there is none of this name. */
static bool layout_add_known(struct reference_layout *table, const char *name)
{
	const struct report_figure *figure = figure_published(name);
	struct reference_column column = { 0 };

	for (size_t i = 0; i < COMPOSED; i++)
		if (!strcmp(composed[i].name, name))
			column = composed[i];
	if (figure)
		column = (struct reference_column){
			.name = figure->published,
			.measured = figure->measured,
			.figure = figure,
		};
	if (column.name && table->count < COLUMNS_MAX)
		table->columns[table->count++] = column;
	return column.name;
}

static void add_metric(struct reference_layout *table, const char *name)
{
	for (size_t i = 0; i < table->count; i++)
		if (!strcmp(table->columns[i].name, name))
			return;
	if (table->count < COLUMNS_MAX)
		table->columns[table->count++] =
			(struct reference_column){ .name = name,
						   .measured = true };
}

/* The metrics that tables show, or those of a name, which any row may have. */
static void layout_add_metrics(struct reference_layout *table,
			       const struct lines *lines, const char *name)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct report_row *row = lines->rows[i];
		const struct result *result = row->info.result;

		for (size_t m = 0; result && m < result->metrics_count; m++) {
			const char *is = result->metrics[m].name;

			if (name ? !strcmp(is, name)
				 : row_completed(row) && row_shows(row, is))
				add_metric(table, is);
		}
	}
}

static bool any_aligned(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (lines->rows[i]->alignment)
			return true;
	return false;
}

/* The columns that the sweep names; else those that the rows call for, in the
 * order of published pages.
 */
static void layout_choose(struct reference_layout *table,
			  const struct lines *lines)
{
	const char *said = row_about(lines->rows[0], "columns");

	layout_add_known(table, "configuration");
	for (; said && *said; said += strspn(said, " ")) {
		size_t size = strcspn(said, " ");
		char name[NAME_MAX];

		snprintf(name, sizeof(name), "%.*s", (int)size, said);
		if (*name && !layout_add_known(table, name))
			layout_add_metrics(table, lines, name);
		said += size;
	}
	if (table->count > 1)
		return;
	if (lines_differ(lines, &member_precision))
		layout_add_known(table, "precision");
	if (lines_spread(lines))
		layout_add_known(table, "parallel");
	layout_add_known(table, "fix_hp");
	layout_add_known(table, "rate");
	layout_add_known(table, any_aligned(lines) ? "aligned" : "loss");
	layout_add_known(table, "mem");
	layout_add_metrics(table, lines, NULL);
	layout_add_known(table, "MFU");
}

/* The unit of all rates; tokens, if there are none or they differ. */
static enum rate_unit lines_unit(const struct lines *lines)
{
	enum rate_unit unit = RATE_NONE;

	for (size_t i = 0; i < lines->count; i++) {
		enum rate_unit other = row_rate(lines->rows[i]).unit;

		if (unit && other && unit != other)
			return RATE_TOKENS;
		unit = other ? other : unit;
	}
	return unit ? unit : RATE_TOKENS;
}

static void layout_put_head(struct writer *to,
			    const struct reference_layout *table,
			    const struct lines *lines)
{
	enum language language = lines->language;

	for (size_t c = 0; c < table->count; c++) {
		const struct report_figure *figure = table->columns[c].figure;
		const char *name = table->columns[c].name;

		if (figure && figure->rate)
			name = rate_units[lines_unit(lines)];
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
static void layout_put_group(struct writer *to,
			     const struct reference_layout *table,
			     const char *model)
{
	writer_printf(to, "| **%s** |", text_or_slash(model));
	for (size_t c = 1; c < table->count; c++)
		writer_raw(to, " |");
	writer_raw(to, "\n");
}

static void layout_put_line(struct writer *to,
			    const struct reference_layout *table,
			    const struct lines *lines,
			    const struct report_row *row)
{
	for (size_t c = 0; c < table->count; c++) {
		const struct reference_column *column = &table->columns[c];

		writer_raw(to, "| ");
		if (column->measured && !row_completed(row))
			writer_raw(to, "/");
		else if (column->put)
			column->put(to, lines, row);
		else if (column->figure)
			put_figure(to, lines, row, column->figure);
		else
			layout_put_metric(to, row, column->name);
		writer_raw(to, " ");
	}
	writer_raw(to, "|\n");
}

void reference_table(struct writer *to, const struct lines *lines)
{
	struct reference_layout table = { .count = 0 };
	bool groups = lines_differ(lines, &member_model);
	const char *last = "";

	layout_choose(&table, lines);
	layout_put_head(to, &table, lines);
	for (size_t i = 0; i < lines->count; i++) {
		const char *model = setup_of(lines->rows[i])->measure.model;

		model = model ? model : "";
		if (groups && strcmp(model, last) != 0)
			layout_put_group(to, &table, model);
		last = model;
		layout_put_line(to, &table, lines, lines->rows[i]);
	}
}
