/* html_charts.c - the pictures of a report page.
 */
#include "controller/report/html_charts.h"

#include "controller/report/bars.h"
#include "controller/report/chart.h"
#include "controller/report/html_text.h"
#include "controller/report/row.h"
#include "protocol/base/owned.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS_MAX 8
#define OVERLAY_MAX 64 /* curves in one picture */
#define GROUP_SIZE 130

/* Bars. */

static const char rate_path[] = "result.tokens_per_second_per_device";

static const struct picture {
	const char *title;
	const char *unit;
	const char *path;
	double scale;
	const char *limit; /* path of a mark; NULL: none */
	double limit_scale;
	const char *limited; /* the title where marks are drawn */
	bool spread;         /* of the steps, for the rate */
} pictures[] = {
	{ .title = "Throughput per device",
	  .unit = "token/s",
	  .path = rate_path,
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

/* What one picture of bars is made of. */
struct drawing {
	struct bar *bars;
	char (*labels)[LABEL_SIZE];
	size_t count;
	char groups[GROUPS_MAX][GROUP_SIZE]; /* "nvidia A100" */
	const char *names[GROUPS_MAX];
	size_t groups_count;
};

static void drawing_clear(struct drawing *drawing)
{
	free(drawing->bars);
	free(drawing->labels);
}
OWNED_VALUE(struct drawing, drawing_clear)

static int drawing_init(struct drawing *drawing, size_t rows, struct error *err)
{
	drawing->bars = calloc(rows + 1, sizeof(*drawing->bars));
	drawing->labels = calloc(rows + 1, sizeof(*drawing->labels));
	return drawing->bars && drawing->labels ? 0
						: error_nomem(err, "report");
}

/* Bars of one vendor and chip share a colour; past the eighth, the last. */
static size_t group_of(struct drawing *drawing, const cJSON *row)
{
	const char *vendor = row_text(row, "setup.vendor");
	const char *chip = row_text(row, "setup.chip");
	char name[GROUP_SIZE];

	snprintf(name, sizeof(name), "%.60s %.60s", vendor ? vendor : "",
		 chip ? chip : "");
	for (size_t i = 0; i < drawing->groups_count; i++)
		if (!strcmp(drawing->groups[i], name))
			return i;
	if (drawing->groups_count == GROUPS_MAX)
		return GROUPS_MAX - 1;
	memcpy(drawing->groups[drawing->groups_count], name, sizeof(name));
	drawing->names[drawing->groups_count] =
		drawing->groups[drawing->groups_count];
	return drawing->groups_count++;
}

static struct bar *add_bar(struct drawing *drawing, const struct labels *labels,
			   const cJSON *row, double value)
{
	struct bar *bar = &drawing->bars[drawing->count];

	*bar = (struct bar){
		.label = labels_short(labels, row,
				      drawing->labels[drawing->count]),
		.value = value,
		.low = NAN,
		.high = NAN,
		.limit = NAN,
		.group = group_of(drawing, row),
	};
	drawing->count++;
	return bar;
}

/* A step's quartiles as rates: half of the steps lie between them. */
static void set_spread(struct bar *bar, const cJSON *row)
{
	double median = row_double(row, "result.iteration_ms.median");

	bar->low =
		bar->value * median / row_double(row, "result.iteration_ms.q3");
	bar->high =
		bar->value * median / row_double(row, "result.iteration_ms.q1");
}

static int put_drawing(const struct drawing *drawing, const char *title,
		       const char *unit, struct buffer *out, struct error *err)
{
	struct bars bars = { .title = title,
			     .unit = unit,
			     .bars = drawing->bars,
			     .count = drawing->count,
			     .groups = drawing->names,
			     .groups_count = drawing->groups_count };

	return bars_svg(&bars, out, err);
}

static int put_picture(const struct picture *picture, const cJSON *rows,
		       const struct labels *labels, struct buffer *out,
		       struct error *err)
{
	owned(drawing_clear) struct drawing drawing = { 0 };
	const char *title = picture->title;
	const cJSON *row;

	if (drawing_init(&drawing, (size_t)cJSON_GetArraySize(rows), err) < 0)
		return -1;
	cJSON_ArrayForEach(row, rows)
	{
		double value = row_double(row, picture->path) * picture->scale;
		struct bar *bar;

		if (!row_completed(row) || !isfinite(value) || value < 0)
			continue;
		bar = add_bar(&drawing, labels, row, value);
		if (picture->limit)
			bar->limit = row_double(row, picture->limit) *
				     picture->limit_scale;
		if (isfinite(bar->limit))
			title = picture->limited;
		if (picture->spread)
			set_spread(bar, row);
	}
	return put_drawing(&drawing, title, picture->unit, out, err);
}

/* How the rate holds over nodes: what one device does, against what it does in
 * the same cell on the fewest nodes.
 */
struct scaling {
	const cJSON *row;
	char *rest; /* the cell's words without the nodes */
	double nodes, rate;
};

static int by_rest(const void *a, const void *b)
{
	const struct scaling *x = a, *y = b;
	int order = strcmp(x->rest, y->rest);

	if (order)
		return order;
	return (x->nodes > y->nodes) - (x->nodes < y->nodes);
}

/* The cell's words but "nodes=N", vendor and chip before them. */
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

static int list_scaling(const cJSON *rows, struct scaling *list, size_t *count,
			struct error *err)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		struct scaling *at = &list[*count];

		*at = (struct scaling){ .row = row,
					.nodes = row_double(row, "nodes"),
					.rate = row_double(row, rate_path) };
		if (!row_completed(row) || !(at->rate > 0) || !(at->nodes > 0))
			continue;
		at->rest = rest_of(row);
		if (!at->rest)
			return error_nomem(err, "report");
		(*count)++;
	}
	qsort(list, *count, sizeof(*list), by_rest);
	return 0;
}

static int put_scaling(const cJSON *rows, const struct labels *labels,
		       struct buffer *out, struct error *err)
{
	owned(drawing_clear) struct drawing drawing = { 0 };
	size_t total = (size_t)cJSON_GetArraySize(rows), count = 0, first = 0;
	owned_free struct scaling *list = calloc(total + 1, sizeof(*list));
	int rc;

	if (!list)
		return error_nomem(err, "report");
	rc = drawing_init(&drawing, total, err);
	if (rc == 0)
		rc = list_scaling(rows, list, &count, err);
	for (size_t i = 0; rc == 0 && i < count; i++) {
		if (strcmp(list[i].rest, list[first].rest) != 0)
			first = i;
		if (list[i].nodes > list[first].nodes)
			add_bar(&drawing, labels, list[i].row,
				list[i].rate / list[first].rate * 100);
	}
	if (rc == 0)
		rc = put_drawing(&drawing,
				 "Scaling: rate per device, relative to the "
				 "fewest nodes",
				 "%", out, err);
	for (size_t i = 0; i < count; i++)
		free(list[i].rest);
	return rc;
}

/* Curves. */

/* The same curve of every row in one picture. */
static int put_overlay(const char *title, const char *unit, const char *path,
		       const cJSON *rows, const struct labels *labels,
		       struct buffer *out, struct error *err)
{
	size_t count = (size_t)cJSON_GetArraySize(rows);
	owned_free char(*names)[LABEL_SIZE] = calloc(count + 1, LABEL_SIZE);
	struct chart chart = { .title = title,
			       .x_label = "step",
			       .y_label = unit };
	const cJSON *row;

	if (!names)
		return error_nomem(err, "report");
	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *curve = row_at(row, path);

		if (chart.count == OVERLAY_MAX || !chart_draws(curve))
			continue;
		chart.lines[chart.count].name =
			labels_short(labels, row, names[chart.count]);
		chart.lines[chart.count++].points = curve;
	}
	return chart_svg(&chart, out, err);
}

int html_overview(const cJSON *rows, const struct labels *labels,
		  struct buffer *out, struct error *err)
{
	size_t start = out->size, empty;
	char keys[LABEL_SIZE];

	if (rows->child && rows->child->next &&
	    (buffer_text(out, "<p class=\"mute\">Charts label each cell by ",
			 err) < 0 ||
	     html_text(out, labels_keys(labels, rows->child, keys), err) < 0 ||
	     buffer_text(out, ".</p>\n", err) < 0))
		return -1;
	if (buffer_text(out, "<div class=\"charts\">\n", err) < 0)
		return -1;
	empty = out->size;
	for (size_t i = 0; i < PICTURES; i++)
		if (put_picture(&pictures[i], rows, labels, out, err) < 0)
			return -1;
	if (put_scaling(rows, labels, out, err) < 0 ||
	    put_overlay("Loss of all cells", "", "series.loss", rows, labels,
			out, err) < 0 ||
	    put_overlay("Throughput of all cells", "token/s",
			"series.tokens_per_second", rows, labels, out, err) < 0)
		return -1;
	if (out->size > empty)
		return buffer_text(out, "</div>\n", err);
	out->size = start;
	out->data[start] = 0;
	return 0;
}

static const struct {
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

#define READINGS (sizeof(readings) / sizeof(readings[0]))

/* One reading of all devices, or nodes, of a job. */
static int put_reading(size_t reading, const cJSON *series, struct buffer *out,
		       struct error *err)
{
	struct chart chart = { .x_label = "s",
			       .y_label = readings[reading].unit,
			       .from_zero = true,
			       .band = true };
	char names[CHART_LEGEND_MAX][160], title[120];
	const cJSON *item;

	cJSON_ArrayForEach(item,
			   row_at(series,
				  readings[reading].host ? "hosts" : "devices"))
	{
		const cJSON *curve = row_at(item, readings[reading].path);
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
	if (chart.count > CHART_LEGEND_MAX)
		snprintf(title, sizeof(title),
			 "%s: mean of %zu %s, from the lowest to the highest",
			 readings[reading].title, chart.count,
			 readings[reading].host ? "nodes" : "devices");
	else
		snprintf(title, sizeof(title), "%s", readings[reading].title);
	chart.title = title;
	return chart_svg(&chart, out, err);
}

int html_curves(const cJSON *row, struct buffer *out, struct error *err)
{
	struct chart loss = { .title = "Loss",
			      .x_label = "step",
			      .y_label = "",
			      .lines = { { "loss",
					   row_at(row, "series.loss") } },
			      .count = 1 };
	struct chart rate = {
		.title = "Throughput",
		.x_label = "step",
		.y_label = "token/s",
		.lines = { { "token/s",
			     row_at(row, "series.tokens_per_second") } },
		.count = 1,
		.from_zero = true
	};

	if (buffer_text(out, "<div class=\"charts\">\n", err) < 0 ||
	    chart_svg(&loss, out, err) < 0 || chart_svg(&rate, out, err) < 0)
		return -1;
	for (size_t i = 0; i < READINGS; i++)
		if (put_reading(i, row_at(row, "series"), out, err) < 0)
			return -1;
	return buffer_text(out, "</div>\n", err);
}
