/* compare_html.c - sweeps beside each other, as one page with charts.
 */
#include "controller/report/bars.h"
#include "controller/report/compare.h"
#include "controller/report/html_style.h"
#include "controller/report/html_text.h"
#include "controller/report/labels.h"
#include "controller/report/row.h"
#include "protocol/base/owned.h"

#include <math.h>
#include <stdlib.h>

struct comparison {
	const cJSON *cells;
	const struct compare_sweep *about;
	const char *names[COMPARE_SWEEPS_MAX]; /* "sweep 3" */
	char texts[COMPARE_SWEEPS_MAX][32];
	size_t sweeps;
	struct labels labels;
	struct buffer *out;
	struct error *err;
};

/* What the cell says of a sweep but the first, against that; NULL: nothing. */
static const cJSON *against_first(const cJSON *cell, size_t sweep)
{
	return sweep == 1 ? cell
			  : cJSON_GetArrayItem(row_at(cell, "more"),
					       (int)sweep - 2);
}

static const cJSON *side_of(const cJSON *cell, size_t sweep)
{
	return sweep ? row_at(against_first(cell, sweep), "b")
		     : row_at(cell, "a");
}

/* Bars of one picture: one for each cell and sweep that has the figure. */
typedef bool bar_fn(const cJSON *cell, size_t sweep, struct bar *bar);

static bool rate_bar(const cJSON *cell, size_t sweep, struct bar *bar)
{
	const cJSON *side = side_of(cell, sweep);
	double spread = row_double(side, "spread");

	bar->value = row_double(side, "rate");
	bar->low = bar->value - spread;
	bar->high = bar->value + spread;
	return isfinite(bar->value);
}

static bool ratio_bar(const cJSON *cell, size_t sweep, struct bar *bar)
{
	const cJSON *difference = sweep ? against_first(cell, sweep) : NULL;

	bar->value = row_double(difference, "ratio");
	bar->low = row_double(difference, "ratio_low");
	bar->high = row_double(difference, "ratio_high");
	bar->limit = 1;
	return isfinite(bar->value);
}

static int put_bars(struct comparison *page, const char *title,
		    const char *unit, bar_fn *fill)
{
	size_t room = (size_t)cJSON_GetArraySize(page->cells) * page->sweeps;
	owned_free struct bar *list = calloc(room + 1, sizeof(*list));
	owned_free char(*texts)[LABEL_SIZE] = calloc(room + 1, LABEL_SIZE);
	struct bars bars = { .title = title,
			     .unit = unit,
			     .bars = list,
			     .groups = page->names,
			     .groups_count = page->sweeps };
	const cJSON *cell;

	if (!list || !texts)
		return error_nomem(page->err, "compare");
	cJSON_ArrayForEach(cell, page->cells)
	{
		for (size_t sweep = 0; sweep < page->sweeps; sweep++) {
			struct bar *bar = &list[bars.count];

			*bar = (struct bar){ .limit = NAN, .group = sweep };
			if (!fill(cell, sweep, bar))
				continue;
			bar->label = labels_short(&page->labels, cell,
						  texts[bars.count]);
			bars.count++;
		}
	}
	return bars_svg(&bars, page->out, page->err);
}

static int put_cell(struct comparison *page, const char *text, bool number)
{
	if (buffer_text(page->out, number ? "<td class=\"n\">" : "<td>",
			page->err) < 0 ||
	    html_text(page->out, text, page->err) < 0)
		return -1;
	return buffer_text(page->out, "</td>", page->err);
}

static int put_side(struct comparison *page, const cJSON *side)
{
	char text[120] = "missing";

	if (isfinite(row_double(side, "spread")))
		snprintf(text, sizeof(text), "%.1f ± %.1f (n = %.0f)",
			 row_double(side, "rate"), row_double(side, "spread"),
			 row_double(side, "n"));
	else if (isfinite(row_double(side, "rate")))
		snprintf(text, sizeof(text), "%.1f (n = %.0f)",
			 row_double(side, "rate"), row_double(side, "n"));
	else if (cJSON_IsObject(side))
		snprintf(text, sizeof(text), "no result");
	return put_cell(page, text, true);
}

static int put_difference(struct comparison *page, const cJSON *difference)
{
	const cJSON *significant = row_at(difference, "significant");
	double ratio = row_double(difference, "ratio");
	char text[120] = "-";

	if (isfinite(row_double(difference, "ratio_low")))
		snprintf(text, sizeof(text), "%.3f (%.3f to %.3f)", ratio,
			 row_double(difference, "ratio_low"),
			 row_double(difference, "ratio_high"));
	else if (isfinite(ratio))
		snprintf(text, sizeof(text), "%.3f", ratio);
	if (put_cell(page, text, true) < 0)
		return -1;
	return put_cell(page,
			!cJSON_IsBool(significant)   ? "-"
			: cJSON_IsFalse(significant) ? "within the spread"
			: ratio > 1                  ? "faster"
						     : "slower",
			false);
}

static int put_heads(struct comparison *page)
{
	if (buffer_text(page->out, "<tr><th>Cell</th>", page->err) < 0)
		return -1;
	for (size_t sweep = 0; sweep < page->sweeps; sweep++)
		if (buffer_text(page->out, "<th class=\"n\">", page->err) < 0 ||
		    html_text(page->out, page->names[sweep], page->err) < 0 ||
		    buffer_text(page->out,
				sweep ? "</th><th class=\"n\">Ratio (95 %)"
					"</th><th>Difference</th>"
				      : "</th>",
				page->err) < 0)
			return -1;
	return buffer_text(page->out, "</tr>\n", page->err);
}

static int put_row(struct comparison *page, const cJSON *cell)
{
	char text[LABEL_SIZE];

	if (buffer_text(page->out, "<tr>", page->err) < 0 ||
	    put_cell(page, labels_row(&page->labels, cell, text), false) < 0 ||
	    put_side(page, side_of(cell, 0)) < 0)
		return -1;
	for (size_t sweep = 1; sweep < page->sweeps; sweep++)
		if (put_side(page, side_of(cell, sweep)) < 0 ||
		    put_difference(page, against_first(cell, sweep)) < 0)
			return -1;
	return buffer_text(page->out, "</tr>\n", page->err);
}

static int put_table(struct comparison *page)
{
	const cJSON *cell;

	if (buffer_text(page->out, "<h2>Token/s per device</h2>\n", page->err) <
		    0 ||
	    buffer_text(page->out, "<div class=\"wide\"><table>\n", page->err) <
		    0 ||
	    put_heads(page) < 0)
		return -1;
	cJSON_ArrayForEach(cell, page->cells)
	{
		if (put_row(page, cell) < 0)
			return -1;
	}
	return buffer_text(page->out, "</table></div>\n", page->err);
}

/* "demo, 2026-05-04T03:02:01Z, by ann; model a / b, vendor cpu" */
static int put_sweep(struct comparison *page, size_t sweep)
{
	const struct compare_sweep *about = &page->about[sweep];
	char utc[UTC_SIZE], values[LABEL_SIZE];
	const char *before = "; ";

	if (buffer_printf(page->out, page->err, "<dt>%s</dt><dd>",
			  page->names[sweep]) < 0 ||
	    html_text(page->out, about->about.name, page->err) < 0 ||
	    buffer_printf(page->out, page->err, ", %s, by ",
			  utc_text(about->about.submitted_ms, utc)) < 0 ||
	    html_text(page->out, about->about.client, page->err) < 0)
		return -1;
	for (const struct label_subject *at = label_subjects; at->name; at++) {
		if (!*labels_values(about->rows, at->path, values))
			continue;
		if (buffer_printf(page->out, page->err, "%s%s ", before,
				  at->name) < 0 ||
		    html_text(page->out, values, page->err) < 0)
			return -1;
		before = ", ";
	}
	return buffer_text(page->out, "</dd>\n", page->err);
}

static int put_sweeps(struct comparison *page)
{
	if (buffer_text(page->out, "<dl>\n", page->err) < 0)
		return -1;
	for (size_t sweep = 0; sweep < page->sweeps; sweep++)
		if (put_sweep(page, sweep) < 0)
			return -1;
	return buffer_text(page->out, "</dl>\n", page->err);
}

static int put_title(struct comparison *page)
{
	char title[100], keys[LABEL_SIZE];

	snprintf(title, sizeof(title), "%s%s against %s", page->names[1],
		 page->sweeps > 2 ? " and others" : "", page->names[0]);
	if (html_begin("en", title, page->out, page->err) < 0 ||
	    buffer_printf(page->out, page->err, "<h1>%s</h1>\n", title) < 0 ||
	    put_sweeps(page) < 0 ||
	    buffer_text(page->out, "<p class=\"mute\">", page->err) < 0 ||
	    html_text(page->out, page->labels.common, page->err) < 0 ||
	    buffer_text(page->out,
			"</p>\n<p class=\"mute\">Charts label each "
			"cell by ",
			page->err) < 0 ||
	    html_text(page->out,
		      labels_keys(&page->labels, page->cells->child, keys),
		      page->err) < 0)
		return -1;
	return buffer_text(page->out, ".</p>\n<div class=\"charts\">\n",
			   page->err);
}

int compare_html(const cJSON *cells, const struct compare_sweep *sweeps,
		 size_t sweeps_count, struct buffer *out, struct error *err)
{
	struct comparison page = { .cells = cells,
				   .about = sweeps,
				   .sweeps = sweeps_count,
				   .out = out,
				   .err = err };

	for (size_t i = 0; i < sweeps_count; i++) {
		snprintf(page.texts[i], sizeof(page.texts[i]), "sweep %llu",
			 (unsigned long long)sweeps[i].about.sweep);
		page.names[i] = page.texts[i];
	}
	labels_find(cells, &page.labels);
	if (put_title(&page) < 0 ||
	    put_bars(&page, "Throughput per device", "token/s", rate_bar) < 0 ||
	    put_bars(&page, "Ratio to the first sweep (dashed: 1)", "",
		     ratio_bar) < 0 ||
	    buffer_text(out, "</div>\n", err) < 0 || put_table(&page) < 0)
		return -1;
	return buffer_text(out, "</body></html>\n", err);
}
