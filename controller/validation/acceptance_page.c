/* acceptance_page.c - a validation as JUnit XML and as a page.
 */
#include "controller/report/html_style.h"
#include "controller/validation/acceptance.h"

#include <math.h>
#include <string.h>

#define MAP_NODES 64 /* of a map of links */

int acceptance_junit(const struct acceptance *acceptance, struct buffer *out,
		     struct error *err)
{
	size_t failures = 0;
	struct writer to;

	for (int kind = UNIT_NODE; kind <= UNIT_LINK; kind++)
		failures += acceptance_count(acceptance, kind, VERDICT_BAD);
	writer_init(&to, out, html_text);
	writer_printf(&to,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" "
		      "errors=\"0\">\n",
		      acceptance->set, acceptance->units_count, failures);
	for (size_t i = 0; i < acceptance->units_count; i++) {
		const struct accepted_unit *unit = &acceptance->units[i];
		char why[ACCEPTANCE_WHY];

		writer_printf(&to, "<testcase classname=\"%s\" name=\"%s\">",
			      acceptance->set, unit->name);
		unit_why(unit, why);
		if (unit->verdict == VERDICT_BAD)
			writer_printf(&to, "<failure message=\"%s\"/>", why);
		else if (*why)
			writer_printf(&to, "<system-out>%s: %s</system-out>",
				      verdict_names[unit->verdict], why);
		writer_raw(&to, "</testcase>\n");
	}
	writer_raw(&to, "</testsuite>\n");
	return writer_end(&to, err);
}

/* A square of a strip or of a map; colours are those of cells by rate. */
static void square_write(struct writer *to, double x, double y,
			 const char *colour, const char *title)
{
	writer_printf(to,
		      "<rect x=\"%.0f\" y=\"%.0f\" width=\"14\" height=\"14\" "
		      "style=\"fill:%s\"><title>%s</title></rect>\n",
		      x, y, colour, title);
}

static void page_strip(struct writer *to, const struct acceptance *of)
{
	static const char *const colours[VERDICTS] = { NULL, "var(--c2)",
						       "var(--c6)",
						       "var(--bad)" };
	size_t nodes = 0, rows;

	for (size_t i = 0; i < of->units_count; i++)
		nodes += of->units[i].kind == UNIT_NODE;
	rows = (nodes + 63) / 64;
	writer_printf(to,
		      "<h2>nodes</h2>\n<svg width=\"1024\" height=\"%.0f\">\n",
		      16.0 * (double)rows);
	for (size_t i = 0, at = 0; i < of->units_count; i++) {
		const struct accepted_unit *unit = &of->units[i];
		char title[ACCEPTANCE_WHY + 100], why[ACCEPTANCE_WHY];
		size_t row = at / 64;

		if (unit->kind != UNIT_NODE)
			continue;
		snprintf(title, sizeof(title), "%.60s: %s %s", unit->name,
			 verdict_names[unit->verdict], unit_why(unit, why));
		square_write(to, 16 * (double)(at % 64), 16 * (double)row,
			     colours[unit->verdict], title);
		at++;
	}
	writer_raw(to, "</svg>\n");
}

/* A pair's share of the median: the darker, the slower. */
static void page_map(struct writer *to, const struct pairs *pairs,
		     const struct strings *names)
{
	size_t side = pairs->nodes < MAP_NODES ? pairs->nodes : MAP_NODES;

	writer_printf(to,
		      "<h2>links</h2>\n<svg width=\"%.0f\" height=\"%.0f\">\n",
		      16.0 * (double)side, 16.0 * (double)side);
	for (size_t i = 0; i < pairs->count; i++) {
		const struct node_pair *pair = &pairs->list[i];
		double share = isfinite(pair->rate) ? fmin(1, pair->rate) : 0;
		char title[300], colour[60];

		if (pair->b >= side)
			continue;
		snprintf(title, sizeof(title), "%.60s+%.60s: %.0f %%",
			 names->items[pair->a], names->items[pair->b],
			 100 * pair->rate);
		snprintf(colour, sizeof(colour), "%s;opacity:%.2f",
			 pair->slow ? "var(--bad)" : "var(--c2)",
			 pair->slow ? fmax(0.4, 1 - share / 2) : share);
		square_write(to, 16.0 * pair->a, 16.0 * pair->b, colour, title);
		square_write(to, 16.0 * pair->b, 16.0 * pair->a, colour, title);
	}
	writer_raw(to, "</svg>\n");
}

int acceptance_html(const struct acceptance *acceptance,
		    const struct pairs *pairs, const struct strings *names,
		    struct buffer *out, struct error *err)
{
	struct writer to;
	char title[200];

	snprintf(title, sizeof(title), "Validation: %.120s", acceptance->set);
	writer_init(&to, out, html_text);
	html_begin(&to, "en", title);
	writer_printf(&to,
		      "<h1>%s</h1>\n<p class=\"mute\">%zu good, %zu suspect, "
		      "%zu bad nodes; the chance that any good one is called "
		      "bad is at most %.2g.</p>\n",
		      title,
		      acceptance_count(acceptance, UNIT_NODE, VERDICT_GOOD),
		      acceptance_count(acceptance, UNIT_NODE, VERDICT_SUSPECT),
		      acceptance_count(acceptance, UNIT_NODE, VERDICT_BAD),
		      acceptance->family);
	page_strip(&to, acceptance);
	if (pairs && pairs->count)
		page_map(&to, pairs, names);
	writer_raw(&to, "<ul>\n");
	for (size_t i = 0; i < acceptance->units_count; i++) {
		const struct accepted_unit *unit = &acceptance->units[i];
		char why[ACCEPTANCE_WHY];

		if (unit->verdict != VERDICT_GOOD)
			writer_printf(&to, "<li>%s: %s: %s</li>\n", unit->name,
				      verdict_names[unit->verdict],
				      unit_why(unit, why));
	}
	for (size_t i = 0; i < acceptance->notes.count; i++)
		writer_printf(&to, "<li>%s</li>\n", acceptance->notes.items[i]);
	writer_raw(&to, "</ul>\n</body></html>\n");
	return writer_end(&to, err);
}
