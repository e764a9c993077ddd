/* reference_table.c - the performance table of the reference page.
 */
#include "controller/report/reference.h"

#include "controller/report/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 24
#define MIB_PER_GIB 1024.0
#define BYTES_PER_GIB (MIB_PER_GIB * 1024 * 1024)

struct reference_column;
typedef int column_fn(const struct lines *lines, size_t line,
		      const struct reference_column *column, struct buffer *out,
		      struct error *err);

struct reference_column {
	const char *name; /* in about.columns, and the title */
	const char *path; /* what put_number() and put_name() show */
	const char *format;
	column_fn *put;
};

const char *layout_text(const cJSON *row, char text[LAYOUT_TEXT])
{
	static const struct {
		const char *name;
		const char *path;
		bool always; /* also where it is 1 */
	} degrees[] = {
		{ "TP", "setup.layout.tp", true },
		{ "PP", "setup.layout.pp", true },
		{ "CP", "setup.layout.cp", false },
		{ "EP", "setup.layout.ep", false },
		{ "DP", "setup.layout.data", true },
	};
	const char *stage = row_text(row, "setup.layout.stage");
	double sharding = number_at(row, "setup.layout.sharding");
	size_t used = 0;

	text[0] = 0;
	if (number_at(row, "setup.layout.tp") ||
	    number_at(row, "setup.layout.pp") ||
	    number_at(row, "setup.layout.ep"))
		for (size_t i = 0; i < sizeof(degrees) / sizeof(degrees[0]);
		     i++) {
			double degree = number_at(row, degrees[i].path);

			/* The shards are all the data ranks: "SH2SP8". */
			if (!strcmp(degrees[i].name, "DP") && stage &&
			    sharding == degree)
				used += (size_t)snprintf(text + used,
							 LAYOUT_TEXT - used,
							 "SH%.8sSP%.0f", stage,
							 sharding);
			else if (degree > 1 || degrees[i].always)
				used += (size_t)snprintf(text + used,
							 LAYOUT_TEXT - used,
							 "%s%.0f",
							 degrees[i].name,
							 degree > 0 ? degree
								    : 1);
		}
	return *text ? text : "/";
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
static int put_configuration(const struct lines *lines, size_t line,
			     const struct reference_column *column,
			     struct buffer *out, struct error *err)
{
	const cJSON *row = lines->rows[line];
	const char *stage = row_text(row, "setup.stage");
	char chip[CHIP_TEXT];
	double nodes = number_at(row, "nodes");
	double devices = number_at(row, "devices");
	char shape[64];

	chip_text(row, chip);
	snprintf(shape, sizeof(shape), "%.0fx%.0f", nodes,
		 nodes > 0 ? devices / nodes : 0);
	if (nodes == 1
		    ? buffer_printf(out, err,
				    phrase(lines->language, PHRASE_ONE_NODE),
				    chip, devices, shape) < 0
		    : buffer_printf(out, err,
				    phrase(lines->language, PHRASE_MANY_NODES),
				    chip, nodes, devices, shape) < 0)
		return -1;
	if (!stage || !lines_differ(lines, "setup.stage"))
		return 0;
	return buffer_printf(out, err,
			     lines->language == LANGUAGE_ZH ? "（%s）"
							    : " (%s)",
			     stage);
}

static int put_name(const struct lines *lines, size_t line,
		    const struct reference_column *column, struct buffer *out,
		    struct error *err)
{
	return cell_text(out, row_text(lines->rows[line], column->path), err);
}

static int put_number(const struct lines *lines, size_t line,
		      const struct reference_column *column, struct buffer *out,
		      struct error *err)
{
	const cJSON *row = lines->rows[line];
	const cJSON *value = row_at(row, column->path);

	if (row_completed(row) && cJSON_IsString(value))
		return cell_text(out, value->valuestring, err);
	if (!row_completed(row) || !cJSON_IsNumber(value))
		return buffer_text(out, "/", err);
	return buffer_printf(out, err, column->format, value->valuedouble);
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
static int put_metric(const struct lines *lines, size_t line,
		      const struct reference_column *column, struct buffer *out,
		      struct error *err)
{
	const cJSON *row = lines->rows[line];

	if (put_number(lines, line, column, out, err) < 0)
		return -1;
	return row_completed(row) && in_percent(row, column->name) &&
			       cJSON_IsNumber(row_at(row, column->path))
		       ? buffer_text(out, "%", err)
		       : 0;
}

/* "2.1025", "3.20": two digits at least. */
static int put_loss(const struct lines *lines, size_t line,
		    const struct reference_column *column, struct buffer *out,
		    struct error *err)
{
	const cJSON *loss = row_at(lines->rows[line], column->path);
	char five[32] = "", two[32] = "";

	if (!row_completed(lines->rows[line]) || !cJSON_IsNumber(loss))
		return put_number(lines, line, column, out, err);
	snprintf(five, sizeof(five), "%.5g", loss->valuedouble);
	snprintf(two, sizeof(two), "%.2f", loss->valuedouble);
	return buffer_text(out, strlen(five) < strlen(two) ? two : five, err);
}

static int put_aligned(const struct lines *lines, size_t line,
		       const struct reference_column *column,
		       struct buffer *out, struct error *err)
{
	const cJSON *row = lines->rows[line];
	const char *verdict = row_text(row, column->path);

	if (row_completed(row) && verdict && !strcmp(verdict, "baseline"))
		return buffer_text(out,
				   phrase(lines->language, PHRASE_BASELINE),
				   err);
	return put_number(lines, line, column, out, err);
}

static int put_layout(const struct lines *lines, size_t line,
		      const struct reference_column *column, struct buffer *out,
		      struct error *err)
{
	char text[LAYOUT_TEXT];

	return buffer_text(out, layout_text(lines->rows[line], text), err);
}

/* Tokens per step as published pages round them: "2M tokens". */
static int put_tokens(struct buffer *out, double tokens, struct error *err)
{
	if (tokens >= 1 << 20)
		return buffer_printf(out, err, "%.3gM tokens",
				     tokens / (1 << 20));
	return buffer_printf(out, err, "%.0f tokens", tokens);
}

/* What the row sets otherwise than the first: "GAS=64(GBS=1024=2M tokens)". */
static int put_changes(const struct lines *lines, size_t line,
		       const struct reference_column *column,
		       struct buffer *out, struct error *err)
{
	static const struct {
		const char *name;
		const char *path;
	} batch[] = {
		{ "LBS", "setup.micro_batch" },
		{ "GAS", "setup.accumulate" },
		{ "MPE", "setup.sequence" },
	};
	const cJSON *row = lines->rows[line], *first = lines->rows[0];
	const char *said = row_text(row, "setup.about.fix_hp");
	double global = number_at(row, "setup.global_batch");
	double sequence = number_at(row, "setup.sequence");
	size_t start = out->size;

	if (said)
		return cell_text(out, said, err);
	for (size_t i = 0; i < sizeof(batch) / sizeof(batch[0]); i++) {
		double value = number_at(row, batch[i].path);

		if (value == number_at(first, batch[i].path) || !value)
			continue;
		if (buffer_printf(out, err, "%s%s=%.0f",
				  out->size > start ? ", " : "", batch[i].name,
				  value) < 0)
			return -1;
	}
	if (out->size == start)
		return buffer_text(out, "/", err);
	if (!global)
		return 0;
	if (buffer_printf(out, err, "(GBS=%.0f", global) < 0 ||
	    (sequence > 0 && (buffer_text(out, "=", err) < 0 ||
			      put_tokens(out, global * sequence, err) < 0)))
		return -1;
	return buffer_text(out, ")", err);
}

/* Whole above a thousand, cut as published pages cut it; else two digits. */
static int put_rate(const struct lines *lines, size_t line,
		    const struct reference_column *column, struct buffer *out,
		    struct error *err)
{
	const cJSON *row = lines->rows[line];
	double rate = number_at(row, "result.tokens_per_second_per_device");

	if (!row_completed(row) || rate <= 0)
		return buffer_text(out, "/", err);
	if (rate >= 1000)
		return buffer_printf(out, err, "%.0f", floor(rate));
	return buffer_printf(out, err, "%.2f", rate);
}

/* samples/s * sequence / devices = token/p/s, as the Paddle pages write it. */
static int put_product(const struct lines *lines, size_t line,
		       const struct reference_column *column,
		       struct buffer *out, struct error *err)
{
	const cJSON *row = lines->rows[line];
	double samples = number_at(row, "result.samples_per_second");
	double sequence = number_at(row, "setup.sequence");

	if (row_completed(row) && samples > 0 && sequence > 0 &&
	    buffer_printf(out, err, "%.2f \\* %.0f / %.0f = ", samples,
			  sequence, number_at(row, "devices")) < 0)
		return -1;
	if (put_rate(lines, line, column, out, err) < 0)
		return -1;
	return row_completed(row) ? buffer_text(out, " tokens/s", err) : 0;
}

static double total_gib(const cJSON *row)
{
	double total = number_at(row, "result.usage.mem_total_mib");
	double chip = number_at(row, "result.inputs.chip_memory_bytes");

	return total > 0 ? total / MIB_PER_GIB : chip / BYTES_PER_GIB;
}

/* Of a device. What a container holds is the host's, unless that computes. */
static double used_gib(const cJSON *row)
{
	const char *source = row_text(row, "result.memory_source");

	if (source && !strcmp(source, "cgroup") && row_text(row, "setup.chip"))
		return 0;
	return number_at(row, "result.memory_mib") / MIB_PER_GIB;
}

/* "77/80": the fullest device, and what it has, in one form. */
static int put_memory(const struct lines *lines, size_t line,
		      const struct reference_column *column, struct buffer *out,
		      struct error *err)
{
	const cJSON *row = lines->rows[line];
	double used = used_gib(row);
	double total = total_gib(row);
	double scale = used < 10 ? 100 : 10;
	int digits;

	if (!row_completed(row) || used <= 0)
		return buffer_text(out, "/", err);
	/* "1.25/2.00", "44.2/48.0", "77/80" */
	used = round(used * scale) / scale;
	digits = used < 10 ? 2 : used == floor(used) ? 0 : 1;
	if (buffer_printf(out, err, "%.*f", digits, used) < 0)
		return -1;
	return total > 0 ? buffer_printf(out, err, "/%.*f", digits, total)
			 : buffer_text(out, "/-", err);
}

/* "46.77*2 + 36.59*2 GB": devices that use as much stand together. */
static int put_each_memory(const struct lines *lines, size_t line,
			   const struct reference_column *column,
			   struct buffer *out, struct error *err)
{
	const cJSON *row = lines->rows[line];
	const cJSON *list = row_at(row, "result.memory_by_rank_mib");
	const cJSON *item = list ? list->child : NULL;
	size_t start = out->size;

	if (!row_completed(row) || !item)
		return put_memory(lines, line, column, out, err);
	while (item) {
		double gib = round(item->valuedouble / MIB_PER_GIB * 100) / 100;
		unsigned same = 0;

		for (;
		     item &&
		     round(item->valuedouble / MIB_PER_GIB * 100) / 100 == gib;
		     item = item->next)
			same++;
		if (buffer_printf(out, err, "%s%.2f\\*%u",
				  out->size > start ? " + " : "", gib,
				  same) < 0)
			return -1;
	}
	return buffer_text(out, " GB", err);
}

static int put_mfu(const struct lines *lines, size_t line,
		   const struct reference_column *column, struct buffer *out,
		   struct error *err)
{
	const cJSON *row = lines->rows[line];
	const cJSON *mfu = row_at(row, "result.mfu");

	if (!row_completed(row) || !cJSON_IsNumber(mfu))
		return buffer_text(out, "/", err);
	return buffer_printf(out, err, "%.2f%%", mfu->valuedouble * 100);
}

/* clang-format off */
static const struct reference_column known[] = {
	{ "configuration", NULL, NULL, put_configuration },
	{ "config", "values.config", NULL, put_name },
	{ "precision", "setup.precision", NULL, put_name },
	{ "parallel", NULL, NULL, put_layout },
	{ "fix_hp", NULL, NULL, put_changes },
	{ "parallel_strategy", NULL, NULL, put_layout },
	{ "token/p/s", NULL, NULL, put_rate },
	{ "throughput", NULL, NULL, put_product },
	{ "loss", "result.loss.last", "%.5g", put_loss },
	{ "aligned", "alignment.verdict", "%.3g", put_aligned },
	{ "mem", NULL, NULL, put_memory },
	{ "memory", NULL, NULL, put_each_memory },
	{ "MFU", NULL, NULL, put_mfu },
};
/* clang-format on */

#define KNOWN (sizeof(known) / sizeof(known[0]))

struct reference_layout {
	struct reference_column columns[COLUMNS_MAX];
	size_t count;
	char paths[COLUMNS_MAX][80]; /* of metrics */
};

static const struct reference_column *column_find(const char *name, size_t size)
{
	for (size_t i = 0; i < KNOWN; i++)
		if (strlen(known[i].name) == size &&
		    !strncmp(known[i].name, name, size))
			return &known[i];
	return NULL;
}

static void add(struct reference_layout *table, const char *name)
{
	const struct reference_column *column = column_find(name, strlen(name));

	if (column && table->count < COLUMNS_MAX)
		table->columns[table->count++] = *column;
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
		(struct reference_column){ name, path, "%.6g", put_metric };
}

static void add_metrics(struct reference_layout *table,
			const struct lines *lines)
{
	const cJSON *metric;

	for (size_t i = 0; i < lines->count; i++)
		cJSON_ArrayForEach(metric,
				   row_at(lines->rows[i], "result.metrics"))
		{
			if (row_completed(lines->rows[i]) && metric->string &&
			    row_shows(lines->rows[i], metric->string))
				add_metric(table, metric->string);
		}
}

static bool any_has(const struct lines *lines, const char *path)
{
	for (size_t i = 0; i < lines->count; i++)
		if (row_at(lines->rows[i], path))
			return true;
	return false;
}

/* A metric that some row has, under the name that the sweep gives. */
static void add_named(struct reference_layout *table, const struct lines *lines,
		      const char *name, size_t size)
{
	const cJSON *metric;

	for (size_t i = 0; i < lines->count; i++)
		cJSON_ArrayForEach(metric,
				   row_at(lines->rows[i], "result.metrics"))
		{
			if (metric->string && strlen(metric->string) == size &&
			    !strncmp(metric->string, name, size))
				add_metric(table, metric->string);
		}
}

/* The columns that the sweep names; else those that the rows call for, in the
 * order of published pages.
 */
static void choose(struct reference_layout *table, const struct lines *lines)
{
	const char *said =
		lines->count ? row_text(lines->rows[0], "setup.about.columns")
			     : NULL;

	add(table, "configuration");
	for (; said && *said; said += strspn(said, " ")) {
		size_t size = strcspn(said, " ");
		const struct reference_column *column = column_find(said, size);

		if (column && table->count < COLUMNS_MAX)
			table->columns[table->count++] = *column;
		if (!column)
			add_named(table, lines, said, size);
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
	add_metrics(table, lines);
	add(table, "MFU");
}

static const char *title_of(const struct reference_layout *table, size_t column,
			    enum language language)
{
	const char *name = table->columns[column].name;

	if (!strcmp(name, "configuration"))
		return phrase(language, PHRASE_CONFIGURATION);
	if (!strcmp(name, "aligned"))
		return phrase(language, PHRASE_ALIGNED);
	return name;
}

/* Where models differ, each has its own head. */
static int put_group(const struct reference_layout *table, const char *model,
		     struct buffer *out, struct error *err)
{
	if (buffer_text(out, "| **", err) < 0 ||
	    cell_text(out, model, err) < 0 || buffer_text(out, "** |", err) < 0)
		return -1;
	for (size_t c = 1; c < table->count; c++)
		if (buffer_text(out, " |", err) < 0)
			return -1;
	return buffer_text(out, "\n", err);
}

static int put_line(const struct reference_layout *table,
		    const struct lines *lines, size_t line, struct buffer *out,
		    struct error *err)
{
	for (size_t c = 0; c < table->count; c++)
		if (buffer_text(out, "| ", err) < 0 ||
		    table->columns[c].put(lines, line, &table->columns[c], out,
					  err) < 0 ||
		    buffer_text(out, " ", err) < 0)
			return -1;
	return buffer_text(out, "|\n", err);
}

static int put_head(const struct reference_layout *table,
		    const struct lines *lines, struct buffer *out,
		    struct error *err)
{
	for (size_t c = 0; c < table->count; c++)
		if (buffer_text(out, "| ", err) < 0 ||
		    cell_text(out, title_of(table, c, lines->language), err) <
			    0 ||
		    buffer_text(out, " ", err) < 0)
			return -1;
	if (buffer_text(out, "|\n", err) < 0)
		return -1;
	for (size_t c = 0; c < table->count; c++)
		if (buffer_text(out, "| --- ", err) < 0)
			return -1;
	return buffer_text(out, "|\n", err);
}

int reference_table(const struct lines *lines, struct buffer *out,
		    struct error *err)
{
	struct reference_layout table = { .count = 0 };
	bool groups = lines_differ(lines, "setup.model");
	const char *last = "";

	choose(&table, lines);
	if (put_head(&table, lines, out, err) < 0)
		return -1;
	for (size_t i = 0; i < lines->count; i++) {
		const char *model = row_text(lines->rows[i], "setup.model");

		if (groups && strcmp(model ? model : "", last) != 0 &&
		    put_group(&table, model, out, err) < 0)
			return -1;
		last = model ? model : "";
		if (put_line(&table, lines, i, out, err) < 0)
			return -1;
	}
	return 0;
}
