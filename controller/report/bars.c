/* bars.c - draws values of cells as an SVG bar chart.
 */
#include "controller/report/bars.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 560
#define LABELS 200 /* room for the names */
#define VALUES 76  /* room for the numbers */
#define TOP 30
#define LINE 20 /* height of a bar with its gap */
#define COLOURS 8
#define LABEL_COLUMNS 30 /* of a terminal, for a name */

int bars_init(struct bars *bars, size_t most, struct error *err)
{
	bars->bars = calloc(most + 1, sizeof(*bars->bars));
	return bars->bars ? 0 : error_nomem(err, "report");
}

void bars_clear(struct bars *bars)
{
	free(bars->bars);
}

size_t bars_group(struct bars *bars, const char *name)
{
	size_t group = 0;

	while (group < bars->groups_count && strcmp(bars->groups[group], name))
		group++;
	if (group == BARS_GROUPS_MAX)
		return group - 1;
	if (group == bars->groups_count)
		snprintf(bars->groups[bars->groups_count++], BARS_GROUP_SIZE,
			 "%s", name);
	return group;
}

struct bar *bars_add(struct bars *bars, double value, size_t group)
{
	struct bar *bar = &bars->bars[bars->count++];

	bar->value = value;
	bar->low = bar->high = bar->limit = NAN;
	bar->group = group;
	return bar;
}

static double largest(const struct bars *bars, size_t count)
{
	double most = 0;

	for (size_t i = 0; i < count; i++) {
		const struct bar *bar = &bars->bars[i];

		most = fmax(most, bar->value);
		most = fmax(most, bar->high);
		most = fmax(most, bar->limit);
	}
	return most > 0 ? most : 1;
}

static double bar_place_value(double value, double most)
{
	return LABELS + value / most * (WIDTH - LABELS - VALUES);
}

static void put_label(struct writer *to, const char *label, double y)
{
	char brief[LABEL_SIZE];

	snprintf(brief, sizeof(brief), "%s", label);
	labels_squeeze(brief, LABEL_COLUMNS);
	writer_printf(to,
		      "<text class=\"axis\" x=\"%d\" y=\"%.0f\" "
		      "text-anchor=\"end\">%s",
		      LABELS - 8, y + 12, brief);
	if (strcmp(brief, label) != 0)
		writer_printf(to, "<title>%s</title>", label);
	writer_raw(to, "</text>");
}

static void put_bar(struct writer *to, const struct bar *bar, double most,
		    double y)
{
	double end = bar_place_value(bar->value, most);
	int digits = bar->value >= 100 ? 0 : bar->value >= 10 ? 1 : 3;

	put_label(to, bar->label, y);
	writer_printf(to,
		      "<rect class=\"f%zu\" x=\"%d\" y=\"%.0f\" "
		      "width=\"%.1f\" height=\"%d\"/>",
		      bar->group % COLOURS, LABELS, y, end - LABELS, LINE - 5);
	if (isfinite(bar->low) && isfinite(bar->high))
		writer_printf(to,
			      "<line class=\"spread\" x1=\"%.1f\" "
			      "x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
			      bar_place_value(fmax(bar->low, 0), most),
			      bar_place_value(bar->high, most), y + 7.5,
			      y + 7.5);
	if (isfinite(bar->limit))
		writer_printf(to,
			      "<line class=\"limit\" x1=\"%.1f\" "
			      "x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\"/>",
			      bar_place_value(bar->limit, most),
			      bar_place_value(bar->limit, most), y - 2,
			      y + LINE - 3);
	writer_printf(to,
		      "<text class=\"axis\" x=\"%d\" y=\"%.0f\" "
		      "text-anchor=\"end\">%.*f</text>\n",
		      WIDTH, y + 12, digits, bar->value);
}

static void bars_put_legend(struct writer *to, const struct bars *bars)
{
	size_t more = bars->count > BARS_MAX ? bars->count - BARS_MAX : 0;

	if (bars->groups_count < 2 && !more && !bars->note)
		return;
	writer_raw(to, "<figcaption>");
	for (size_t i = 0; bars->groups_count > 1 && i < bars->groups_count;
	     i++)
		writer_printf(to, "<span class=\"k%zu\">%s</span> ",
			      i % COLOURS, bars->groups[i]);
	if (bars->note)
		writer_printf(to, "<span class=\"mute\">%s</span> ",
			      bars->note);
	if (more)
		writer_printf(to, "<span class=\"mute\">and %zu more</span>",
			      more);
	writer_raw(to, "</figcaption>\n");
}

void bars_svg(struct writer *to, const struct bars *bars)
{
	size_t count = bars->count < BARS_MAX ? bars->count : BARS_MAX;
	double most = largest(bars, count);

	if (count < 2)
		return;
	writer_printf(to,
		      "<figure><svg class=\"chart\" viewBox=\"0 0 %d %zu\" "
		      "role=\"img\">\n"
		      "<text class=\"name\" x=\"8\" y=\"16\">%s</text>"
		      "<text class=\"axis\" x=\"%d\" y=\"16\" "
		      "text-anchor=\"end\">%s</text>\n",
		      WIDTH, TOP + count * LINE + 6, bars->title, WIDTH,
		      bars->unit);
	for (size_t i = 0; i < count; i++)
		put_bar(to, &bars->bars[i], most, (double)(TOP + i * LINE));
	writer_raw(to, "</svg>\n");
	bars_put_legend(to, bars);
	writer_raw(to, "</figure>\n");
}
