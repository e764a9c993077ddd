/* html_charts.c - writes the charts of a report page.
 */
#include "controller/report/html_charts.h"

#include "controller/report/bars.h"
#include "controller/report/chart.h"
#include "controller/report/figures.h"
#include "controller/report/maps.h"
#include "controller/report/translations.h"
#include "controller/results/json_object.h"
#include "controller/results/series.h"
#include "protocol/base/owned.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bars. */

static struct bar *add_bar(struct bars *bars, const struct labels *labels,
			   const struct report_row *row, double value)
{
	const struct setup *setup = row->info.setup;
	const char *vendor = setup ? setup->vendor : NULL;
	const char *chip = setup ? setup->measure.chip : NULL;
	char group[BARS_GROUP_SIZE];
	struct bar *bar;

	snprintf(group, sizeof(group), "%.60s %.60s", vendor ? vendor : "",
		 chip ? chip : "");
	bar = bars_add(bars, value, bars_group(bars, group));
	labels_short(labels, row->info.cell, row->info.repeat, bar->label);
	return bar;
}

/* The 95 % interval of a cell's mean; or, of a run, the rates at the quartiles
 * of the step time: half of the steps lie between them.
 */
static void set_spread(struct bar *bar, const struct report_row *row)
{
	const struct step_spread *steps =
		row->info.result ? row->info.result->iteration_ms : NULL;

	if (row->repeats && row->repeats->runs) {
		bar->low = bar->value - row->repeats->margin;
		bar->high = bar->value + row->repeats->margin;
		return;
	}
	if (!steps)
		return;
	bar->low = bar->value * steps->median / steps->q3;
	bar->high = bar->value * steps->median / steps->q1;
}

/* unit: only of rows with rates in this unit; RATE_NONE: of all. */
static void put_picture(struct writer *to, const struct report_figure *figure,
			enum rate_unit unit, const struct report_rows *rows,
			const struct labels *labels)
{
	owned(bars_clear) struct bars bars = {
		.title = phrase(to->language, figure->chart),
		.unit = unit ? rate_units[unit] : figure->unit,
	};

	if (bars_init(&bars, rows->count, &to->failure) < 0)
		return;
	ROWS_EACH(row, rows)
	{
		double value = figure_datum(figure, row).number *
			       (figure->scale ? figure->scale : 1);
		struct bar *bar;

		if (!isfinite(value) || value < 0 ||
		    (unit && row_rate(row).unit != unit))
			continue;
		bar = add_bar(&bars, labels, row, value);
		if (figure->limited)
			bar->limit = row_number(row, &figure->limit) *
				     figure->limit_scale;
		if (isfinite(bar->limit))
			bars.title = phrase(to->language, figure->limited);
		if (!figure->spread)
			continue;
		set_spread(bar, row);
		if (isfinite(bar->low))
			bars.note = row->repeats && row->repeats->runs
					    ? phrase(to->language,
						     "line: 95 % interval of "
						     "the mean")
					    : phrase(to->language,
						     "line: half of the steps "
						     "lie within");
	}
	bars_svg(to, &bars);
}

/* Unit of the rate, vendor, chip, and the cell's words without "nodes=N". */
static char *rest_of(const struct report_row *row)
{
	const struct setup *setup = row->info.setup;
	const char *vendor = setup ? setup->vendor : NULL;
	const char *chip = setup ? setup->measure.chip : NULL;
	const char *from = row_cell(row), *nodes = from;
	char *rest = NULL;
	size_t length;

	while ((nodes = strstr(nodes, "nodes=")) && nodes != from &&
	       nodes[-1] != ' ')
		nodes++;
	length = nodes ? (size_t)(nodes - from) : strlen(from);
	if (asprintf(&rest, "%s %s %s %.*s%s", rate_units[row_rate(row).unit],
		     vendor ? vendor : "", chip ? chip : "", (int)length, from,
		     nodes ? nodes + strcspn(nodes, " ") : "") < 0)
		return NULL;
	return rest;
}

/* The rate per device, relative to the same cell on the fewest nodes. */
static void put_scaling(struct writer *to, const struct report_rows *rows,
			const struct labels *labels)
{
	owned(bars_clear) struct bars bars = {
		.title = phrase(to->language, "Scaling: rate per device, "
					      "relative to the fewest "
					      "nodes"),
		.unit = "%",
	};
	size_t count = 0, least = 0;
	owned_free struct grouped_row *list =
		calloc(rows->count + 1, sizeof(*list));

	if (bars_init(&bars, rows->count, &to->failure) < 0)
		return;
	if (!list) {
		error_nomem(&to->failure, "report");
		return;
	}
	ROWS_EACH(row, rows)
	{
		char *rest;

		/* Whose steps grow with the nodes is not known. */
		if (!row->info.nodes || !row_rate(row).unit ||
		    row_rate(row).unit == RATE_STEPS)
			continue;
		rest = rest_of(row);
		if (!rest) {
			error_nomem(&to->failure, "report");
			break;
		}
		list[count++] = (struct grouped_row){ .key = rest,
						      .order = row->info.nodes,
						      .row = row };
	}
	rows_group(list, count);
	for (size_t i = 0; i < count; i++) {
		if (list[i].first != list[least].first)
			least = i;
		if (list[i].order > list[least].order)
			add_bar(&bars, labels, list[i].row,
				row_rate(list[i].row).value /
					row_rate(list[least].row).value * 100);
	}
	bars_svg(to, &bars);
	for (size_t i = 0; i < count; i++)
		free((char *)list[i].key);
}

/* Curves. */

/* The curve of a row, if it is in this unit. */
typedef const cJSON *curve_fn(const struct report_row *row, const char *unit);

static const cJSON *loss_curve(const struct report_row *row, const char *unit)
{
	return row_at(row->series, "loss");
}

static const cJSON *rate_curve(const struct report_row *row, const char *unit)
{
	const char *own = NULL;
	const cJSON *rate = series_rate(row->series, &own);

	return rate && own && !strcmp(own, unit) ? rate : NULL;
}

/* The fastest rows, as many as a legend names; NULL behind the last. */
static void fastest_find(const struct report_rows *shown,
			 const struct report_row *fastest[CHART_LEGEND_MAX])
{
	size_t count = 0;

	ROWS_EACH(row, shown)
	{
		struct rate rate = row_rate(row);
		size_t at = count;

		while (at && row_rate(fastest[at - 1]).value < rate.value)
			at--;
		if (!rate.unit || at == CHART_LEGEND_MAX)
			continue;
		count += count < CHART_LEGEND_MAX;
		for (size_t i = count - 1; i > at; i--)
			fastest[i] = fastest[i - 1];
		fastest[at] = row;
	}
}

static bool
fastest_has(const struct report_row *row,
	    const struct report_row *const fastest[CHART_LEGEND_MAX])
{
	for (size_t i = 0; i < CHART_LEGEND_MAX; i++)
		if (fastest[i] == row)
			return true;
	return false;
}

/* The same curve of the rows that are shown in one picture; of a cell the mean
 * of its runs.
 */
static void put_overlay(struct writer *to, const char *title, const char *unit,
			curve_fn *of, const struct report_rows *rows,
			const struct report_rows *shown,
			const struct labels *labels)
{
	const struct report_row *fastest[CHART_LEGEND_MAX] = { NULL };
	char names[CHART_LEGEND_MAX][LABEL_SIZE];
	struct chart chart = { .x_label = phrase(to->language, "step"),
			       .y_label = unit };
	size_t group = 0;
	bool some = shown->count > CHART_LEGEND_MAX, bands = false;
	char words[80];

	fastest_find(shown, fastest);
	ROWS_EACH(cell, shown)
	{
		size_t before = chart.count;

		if (group == CHART_LEGEND_MAX ||
		    (some && !fastest_has(cell, fastest)))
			continue;
		labels_short(labels, cell->info.cell, cell->info.repeat,
			     names[group]);
		ROWS_EACH(run, rows)
		{
			const cJSON *curve;

			if (rows == shown ? run != cell
					  : strcmp(row_cell(run),
						   row_cell(cell)) != 0)
				continue;
			curve = of(run, unit);
			if (chart.count < CHART_LINES_MAX && chart_draws(curve))
				chart.lines[chart.count++] =
					(struct chart_line){ names[group],
							     group, curve };
		}
		bands |= chart.count > before + 1;
		group += chart.count > before;
	}
	snprintf(words, sizeof(words),
		 phrase(to->language,
			some ? "%s of the fastest cells" : "%s of all cells"),
		 phrase(to->language, title));
	chart.title = words;
	chart.note =
		bands ? phrase(to->language, "band: lowest to highest repeat")
		      : NULL;
	chart_svg(to, &chart);
}

void html_overview(struct writer *to, const struct report_rows *rows,
		   const struct report_rows *shown, const struct labels *labels)
{
	size_t start = to->out->size, empty;
	const struct report_figure *figure;
	char keys[LABEL_SIZE];

	if (rows->count > 1)
		writer_printf(to, "<p class=\"mute\">%s%s</p>\n",
			      phrase(to->language,
				     "Charts label each cell by "),
			      labels_keys(labels, rows->items->info.cell,
					  rows->items->info.repeat, keys));
	writer_raw(to, "<div class=\"charts\">\n");
	empty = to->out->size;
	for (size_t i = 0; (figure = figure_used(IN_CHART, i)); i++)
		for (enum rate_unit unit = figure->rate ? RATE_TOKENS
							: RATE_NONE;
		     unit < (figure->rate ? RATE_UNITS : RATE_TOKENS); unit++)
			put_picture(to, figure, unit, shown, labels);
	put_scaling(to, shown, labels);
	for (enum rate_unit unit = RATE_TOKENS; unit < RATE_UNITS; unit++)
		maps_svg(to, shown, unit);
	put_overlay(to, "Loss", "", loss_curve, rows, shown, labels);
	for (size_t unit = RATE_TOKENS; unit < RATE_UNITS; unit++)
		put_overlay(to, "Throughput", rate_units[unit], rate_curve,
			    rows, shown, labels);
	put_overlay(to, "Throughput", "token/s", rate_curve, rows, shown,
		    labels);
	if (to->out->size > empty)
		writer_raw(to, "</div>\n");
	else
		writer_cut(to, start);
}

static const struct reading {
	const char *path;
	const char *title;
	const char *unit;
	bool host;
} readings[] = {
	{ "power_w", "Power", "W", false },
	{ "temp_c", "Temperature", "°C", false },
	{ "util_pct", "Utilisation", "%", false },
	{ "mem_used_mib", "Memory", "MiB", false },
	{ "cpu_pct", "CPU load of the nodes", "%", true },
};

/* One reading of all devices, or nodes, of a job. */
static void put_reading(struct writer *to, const struct reading *reading,
			const cJSON *series)
{
	struct chart chart = { .x_label = "s",
			       .y_label = reading->unit,
			       .from_zero = true };
	char names[CHART_LEGEND_MAX][160], title[120];
	const cJSON *item;

	cJSON_ArrayForEach(item, row_at(series,
					reading->host ? "hosts" : "devices")) {
		const cJSON *curve = row_at(item, reading->path);
		const char *node = row_text(item, "node");
		const char *device = row_text(item, "device");

		if (chart.count == CHART_LINES_MAX || !chart_draws(curve))
			continue;
		chart.lines[chart.count].name = "-";
		if (chart.count < CHART_LEGEND_MAX) {
			snprintf(names[chart.count], sizeof(names[0]),
				 "%.100s%s%.50s", node ? node : "-",
				 device ? " " : "", device ? device : "");
			chart.lines[chart.count].name = names[chart.count];
		}
		chart.lines[chart.count++].points = curve;
	}
	/* Many lines are one group. */
	for (size_t i = 0; i < chart.count; i++)
		chart.lines[i].group = chart.count > CHART_LEGEND_MAX ? 0 : i;
	snprintf(title, sizeof(title), "%s",
		 phrase(to->language, reading->title));
	if (chart.count > CHART_LEGEND_MAX)
		snprintf(title, sizeof(title),
			 "%s: mean of %zu %s, from the lowest to the highest",
			 reading->title, chart.count,
			 reading->host ? "nodes" : "devices");
	chart.title = title;
	chart_svg(to, &chart);
}

void html_curves(struct writer *to, const struct report_row *row)
{
	const struct chart loss = {
		.title = phrase(to->language, "Loss"),
		.x_label = phrase(to->language, "step"),
		.y_label = "",
		.lines = { { "loss", 0, row_at(row->series, "loss") } },
		.count = 1
	};
	const char *unit;
	const cJSON *points = series_rate(row->series, &unit);
	const struct chart rate = { .title = phrase(to->language, "Throughput"),
				    .x_label = phrase(to->language, "step"),
				    .y_label = unit,
				    .lines = { { unit, 0, points } },
				    .count = 1,
				    .from_zero = true };

	writer_raw(to, "<div class=\"charts\">\n");
	chart_svg(to, &loss);
	chart_svg(to, &rate);
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++)
		put_reading(to, &readings[i], row->series);
	writer_raw(to, "</div>\n");
}
