/* compare_html.c - writes the comparison of sweeps as one HTML page.
 */
#include "controller/report/bars.h"
#include "controller/report/compare.h"
#include "controller/report/html_style.h"
#include "controller/report/labels.h"
#include "protocol/base/units.h"

#include <math.h>

struct comparison {
	const struct compare_cells *cells;
	const struct compare_sweep *about;
	char names[COMPARE_SWEEPS_MAX][32]; /* "sweep 3" */
	size_t sweeps;
	struct labels labels;
	struct writer *to;
};

static const struct compare_side *side_of(const struct compare_cell *cell,
					  size_t sweep)
{
	return sweep ? compare_with(cell, sweep)->b : cell->a;
}

/* Fill the bar of a cell and a sweep; false: it has none. */
typedef bool bar_fn(const struct compare_cell *cell, size_t sweep,
		    struct bar *bar);

static bool rate_bar(const struct compare_cell *cell, size_t sweep,
		     struct bar *bar)
{
	const struct compare_side *side = side_of(cell, sweep);

	if (!side || !isfinite(side->rate))
		return false;
	bar->value = side->rate;
	bar->low = side->rate - side->spread;
	bar->high = side->rate + side->spread;
	return true;
}

static bool ratio_bar(const struct compare_cell *cell, size_t sweep,
		      struct bar *bar)
{
	const struct compare_difference *difference;

	if (!sweep)
		return false;
	difference = compare_with(cell, sweep);
	bar->value = difference->ratio;
	bar->low = difference->ratio_low;
	bar->high = difference->ratio_high;
	bar->limit = 1;
	return isfinite(bar->value);
}

static void put_bars(const struct comparison *page, const char *title,
		     const char *unit, bar_fn *fill)
{
	owned(bars_clear) struct bars bars = { .title = title, .unit = unit };
	size_t most = page->cells->count * page->sweeps;

	if (bars_init(&bars, most, &page->to->failure) < 0)
		return;
	for (size_t sweep = 0; sweep < page->sweeps; sweep++)
		bars_group(&bars, page->names[sweep]);
	for (size_t i = 0; i < page->cells->count; i++) {
		const struct compare_cell *cell = &page->cells->items[i];

		for (size_t sweep = 0; sweep < page->sweeps; sweep++) {
			struct bar *bar = bars_add(&bars, NAN, sweep);

			if (fill(cell, sweep, bar))
				labels_short(&page->labels, cell->cell, 0,
					     bar->label);
			else
				bars.count--;
		}
	}
	bars_svg(page->to, &bars);
}

static void put_side(const struct comparison *page,
		     const struct compare_side *side)
{
	writer_raw(page->to, "<td class=\"n\">");
	if (!side)
		writer_raw(page->to, "missing");
	else if (isfinite(side->spread))
		writer_printf(page->to, "%.1f ± %.1f (n = %u)", side->rate,
			      side->spread, side->n);
	else if (isfinite(side->rate))
		writer_printf(page->to, "%.1f (n = %u)", side->rate, side->n);
	else
		writer_raw(page->to, "no result");
	writer_raw(page->to, "</td>");
}

static void put_difference(const struct comparison *page,
			   const struct compare_difference *difference)
{
	double ratio = difference->ratio;

	writer_raw(page->to, "<td class=\"n\">");
	if (isfinite(difference->ratio_low))
		writer_printf(page->to, "%.3f (%.3f to %.3f)", ratio,
			      difference->ratio_low, difference->ratio_high);
	else if (isfinite(ratio))
		writer_printf(page->to, "%.3f", ratio);
	else
		writer_raw(page->to, "-");
	writer_printf(page->to, "</td><td>%s</td>",
		      difference->significant == TRUTH_UNKNOWN ? "-"
		      : difference->significant == TRUTH_NO
			      ? "within the spread"
		      : ratio > 1 ? "faster"
				  : "slower");
}

static void compare_html_put_heads(const struct comparison *page)
{
	writer_raw(page->to, "<tr><th>Cell</th>");
	for (size_t sweep = 0; sweep < page->sweeps; sweep++) {
		writer_printf(page->to, "<th class=\"n\">%s</th>",
			      page->names[sweep]);
		if (sweep)
			writer_raw(page->to, "<th class=\"n\">Ratio (95 %)</th>"
					     "<th>Difference</th>");
	}
	writer_raw(page->to, "</tr>\n");
}

static void compare_html_put_row(const struct comparison *page,
				 const struct compare_cell *cell)
{
	char text[LABEL_SIZE];

	writer_printf(page->to, "<tr><td>%s</td>",
		      labels_row(&page->labels, cell->cell, 0, text));
	put_side(page, side_of(cell, 0));
	for (size_t sweep = 1; sweep < page->sweeps; sweep++) {
		put_side(page, side_of(cell, sweep));
		put_difference(page, compare_with(cell, sweep));
	}
	writer_raw(page->to, "</tr>\n");
}

static void compare_html_put_table(const struct comparison *page)
{
	enum rate_unit unit = compare_unit(page->cells);

	writer_printf(page->to,
		      "<h2>Rate%s%s</h2>\n<div class=\"wide\"><table>\n",
		      unit ? " in " : "", rate_units[unit]);
	compare_html_put_heads(page);
	for (size_t i = 0; i < page->cells->count; i++)
		compare_html_put_row(page, &page->cells->items[i]);
	writer_raw(page->to, "</table></div>\n");
}

/* "demo, 2026-05-04T03:02:01Z, by ann; model a / b, vendor cpu" */
static void compare_html_put_sweep(const struct comparison *page, size_t sweep)
{
	const struct compare_sweep *of = &page->about[sweep];
	char utc[UTC_SIZE], values[LABEL_SIZE];
	const struct report_figure *figure;
	const char *before = "; ";

	writer_printf(page->to, "<dt>%s</dt><dd>%s, %s, by %s",
		      page->names[sweep], of->about.name,
		      utc_text(of->about.submitted_ms, utc), of->about.client);
	for (size_t i = 0; (figure = figure_used(AS_SUBJECT, i)); i++) {
		if (!*labels_values(of->rows, &figure->member, values))
			continue;
		writer_printf(page->to, "%s%s %s", before, figure->label,
			      values);
		before = ", ";
	}
	writer_raw(page->to, "</dd>\n");
}

static void compare_html_put_head(const struct comparison *page)
{
	char title[100], keys[LABEL_SIZE];

	snprintf(title, sizeof(title), "%s%s against %s", page->names[1],
		 page->sweeps > 2 ? " and others" : "", page->names[0]);
	html_begin(page->to, "en", title);
	writer_printf(page->to, "<h1>%s</h1>\n<dl>\n", title);
	for (size_t sweep = 0; sweep < page->sweeps; sweep++)
		compare_html_put_sweep(page, sweep);
	writer_printf(page->to,
		      "</dl>\n<p class=\"mute\">%s</p>\n"
		      "<p class=\"mute\">Charts label each cell by %s.</p>\n",
		      page->labels.common,
		      labels_keys(&page->labels,
				  page->cells->count ? page->cells->items->cell
						     : NULL,
				  0, keys));
}

int compare_html(const struct compare_cells *cells,
		 const struct compare_sweep *sweeps, size_t sweeps_count,
		 struct buffer *out, struct error *err)
{
	enum rate_unit unit = compare_unit(cells);
	struct writer to;
	struct comparison page = { .cells = cells,
				   .about = sweeps,
				   .sweeps = sweeps_count,
				   .to = &to };

	for (size_t i = 0; i < sweeps_count; i++)
		snprintf(page.names[i], sizeof(page.names[i]), "sweep %llu",
			 (unsigned long long)sweeps[i].about.sweep);
	labels_find(&cells->items->cell, sizeof(*cells->items), cells->count,
		    &page.labels);
	writer_init(&to, out, html_text);
	compare_html_put_head(&page);
	writer_raw(&to, "<div class=\"charts\">\n");
	put_bars(&page, "Throughput per device", unit ? rate_units[unit] : "",
		 rate_bar);
	put_bars(&page, "Ratio to the first sweep (dashed: 1)", "", ratio_bar);
	writer_raw(&to, "</div>\n");
	compare_html_put_table(&page);
	writer_raw(&to, "</body></html>\n");
	return writer_end(&to, err);
}
