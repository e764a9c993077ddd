/* html_charts.c - writes the charts of a report page.
 */
#include "controller/report/html_charts.h"

#include "controller/report/bars.h"
#include "controller/report/chart.h"
#include "controller/report/row.h"
#include "protocol/base/owned.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAY_MAX 64 /* curves in one picture */

/* Bars. */

static const struct picture {
	const char *title;
	const char *unit;
	const char *path;
	double scale;
	const char *limit; /* path of a value that is marked on the bar; NULL:
			      none */
	double limit_scale;
	const char *limited; /* the title of a chart with marks */
	bool spread;         /* draw the spread of the steps */
} pictures[] = {
	{ .title = "Throughput per device",
	  .unit = "token/s",
	  .path = ROW_RATE,
	  .scale = 1,
	  .spread = true },
	{ .title = "Model FLOPS utilisation",
	  .unit = "%",
	  .path = "result.mfu",
	  .scale = 100 },
	{ .title = "Memory per device",
	  .limited = "Memory per device (dashed: size of the memory)",
	  .unit = "MiB",
	  .path = "result.memory_mib",
	  .scale = 1,
	  .limit = "result.chip_memory_gib",
	  .limit_scale = 1024 },
	{ .title = "Power of all devices",
	  .unit = "W",
	  .path = "result.usage.power_w",
	  .scale = 1 },
	{ .title = "Energy per token",
	  .unit = "J",
	  .path = "result.joules_per_token",
	  .scale = 1 },
};

#define PICTURES (sizeof(pictures) / sizeof(pictures[0]))

static struct bar *add_bar(struct bars *bars, const struct labels *labels,
			   const cJSON *row, double value)
{
	const char *vendor = row_text(row, "setup.vendor");
	const char *chip = row_text(row, "setup.chip");
	char group[BARS_GROUP_SIZE];
	struct bar *bar;

	snprintf(group, sizeof(group), "%.60s %.60s", vendor ? vendor : "",
		 chip ? chip : "");
	bar = bars_add(bars, value, bars_group(bars, group));
	labels_short(labels, row, bar->label);
	return bar;
}

/* The rates at the quartiles of the step time: half of the steps lie between
 * them.
 */
static void set_spread(struct bar *bar, const cJSON *row)
{
	double median = row_double(row, "result.iteration_ms.median");

	bar->low =
		bar->value * median / row_double(row, "result.iteration_ms.q3");
	bar->high =
		bar->value * median / row_double(row, "result.iteration_ms.q1");
}

static void put_picture(struct writer *to, const struct picture *picture,
			const cJSON *rows, const struct labels *labels)
{
	size_t count = (size_t)cJSON_GetArraySize(rows);
	owned(bars_clear) struct bars bars = { .title = picture->title,
					       .unit = picture->unit };
	const cJSON *row;

	if (bars_init(&bars, count, &to->failure) < 0)
		return;
	cJSON_ArrayForEach(row, rows)
	{
		double value = row_double(row, picture->path) * picture->scale;
		struct bar *bar;

		if (!row_completed(row) || !isfinite(value) || value < 0)
			continue;
		bar = add_bar(&bars, labels, row, value);
		if (picture->limit)
			bar->limit = row_double(row, picture->limit) *
				     picture->limit_scale;
		if (isfinite(bar->limit))
			bars.title = picture->limited;
		if (picture->spread)
			set_spread(bar, row);
	}
	bars_svg(to, &bars);
}

/* Vendor, chip, and the cell's words without "nodes=N". */
static char *rest_of(const cJSON *row)
{
	const char *cell = row_text(row, "cell");
	const char *vendor = row_text(row, "setup.vendor");
	const char *chip = row_text(row, "setup.chip");
	const char *from = cell ? cell : "", *nodes = from;
	char *rest = NULL;
	size_t length;

	while ((nodes = strstr(nodes, "nodes=")) && nodes != from &&
	       nodes[-1] != ' ')
		nodes++;
	length = nodes ? (size_t)(nodes - from) : strlen(from);
	if (asprintf(&rest, "%s %s %.*s%s", vendor ? vendor : "",
		     chip ? chip : "", (int)length, from,
		     nodes ? nodes + strcspn(nodes, " ") : "") < 0)
		return NULL;
	return rest;
}

/* The rate per device, relative to the same cell on the fewest nodes. */
static void put_scaling(struct writer *to, const cJSON *rows,
			const struct labels *labels)
{
	owned(bars_clear) struct bars bars = {
		.title = "Scaling: rate per device, relative to the fewest "
			 "nodes",
		.unit = "%",
	};
	size_t total = (size_t)cJSON_GetArraySize(rows), count = 0, least = 0;
	owned_free struct grouped_row *list = calloc(total + 1, sizeof(*list));
	cJSON *row;

	if (bars_init(&bars, total, &to->failure) < 0)
		return;
	if (!list)
		error_nomem(&to->failure, "report");
	cJSON_ArrayForEach(row, rows)
	{
		double nodes = number_at(row, "nodes");
		char *rest;

		if (!list || !row_completed(row) || !(nodes > 0) ||
		    !(number_at(row, ROW_RATE) > 0))
			continue;
		rest = rest_of(row);
		if (!rest) {
			error_nomem(&to->failure, "report");
			break;
		}
		list[count++] = (struct grouped_row){ .key = rest,
						      .order = nodes,
						      .row = row };
	}
	rows_group(list, count);
	for (size_t i = 0; i < count; i++) {
		if (list[i].first != list[least].first)
			least = i;
		if (list[i].order > list[least].order)
			add_bar(&bars, labels, list[i].row,
				number_at(list[i].row, ROW_RATE) /
					number_at(list[least].row, ROW_RATE) *
					100);
	}
	bars_svg(to, &bars);
	for (size_t i = 0; i < count; i++)
		free((char *)list[i].key);
}

/* Curves. */

/* The same curve of every row in one picture. */
static void put_overlay(struct writer *to, const char *title, const char *unit,
			const char *path, const cJSON *rows,
			const struct labels *labels)
{
	char names[OVERLAY_MAX][LABEL_SIZE];
	struct chart chart = { .title = title,
			       .x_label = "step",
			       .y_label = unit };
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *curve = row_at(row, path);

		if (chart.count == OVERLAY_MAX || !chart_draws(curve))
			continue;
		chart.lines[chart.count].name =
			labels_short(labels, row, names[chart.count]);
		chart.lines[chart.count++].points = curve;
	}
	chart_svg(to, &chart);
}

void html_overview(struct writer *to, const cJSON *rows,
		   const struct labels *labels)
{
	size_t start = to->out->size, empty;
	char keys[LABEL_SIZE];

	if (rows->child && rows->child->next)
		writer_printf(to,
			      "<p class=\"mute\">Charts label each cell by %s."
			      "</p>\n",
			      labels_keys(labels, rows->child, keys));
	writer_raw(to, "<div class=\"charts\">\n");
	empty = to->out->size;
	for (size_t i = 0; i < PICTURES; i++)
		put_picture(to, &pictures[i], rows, labels);
	put_scaling(to, rows, labels);
	put_overlay(to, "Loss of all cells", "", "series.loss", rows, labels);
	put_overlay(to, "Throughput of all cells", "token/s",
		    "series.tokens_per_second", rows, labels);
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
			       .from_zero = true,
			       .band = true };
	char names[CHART_LEGEND_MAX][160], title[120];
	const cJSON *item;

	cJSON_ArrayForEach(item,
			   row_at(series, reading->host ? "hosts" : "devices"))
	{
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
	snprintf(title, sizeof(title), "%s", reading->title);
	if (chart.count > CHART_LEGEND_MAX)
		snprintf(title, sizeof(title),
			 "%s: mean of %zu %s, from the lowest to the highest",
			 reading->title, chart.count,
			 reading->host ? "nodes" : "devices");
	chart.title = title;
	chart_svg(to, &chart);
}

void html_curves(struct writer *to, const cJSON *row)
{
	const struct chart loss = { .title = "Loss",
				    .x_label = "step",
				    .y_label = "",
				    .lines = { { "loss",
						 row_at(row, "series.loss") } },
				    .count = 1 };
	const struct chart rate = {
		.title = "Throughput",
		.x_label = "step",
		.y_label = "token/s",
		.lines = { { "token/s",
			     row_at(row, "series.tokens_per_second") } },
		.count = 1,
		.from_zero = true
	};

	writer_raw(to, "<div class=\"charts\">\n");
	chart_svg(to, &loss);
	chart_svg(to, &rate);
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++)
		put_reading(to, &readings[i], row_at(row, "series"));
	writer_raw(to, "</div>\n");
}
