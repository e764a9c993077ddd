/* bars.c - figures of cells beside each other, as one SVG picture of bars.
 */
#include "controller/report/bars.h"

#include "controller/report/html_text.h"
#include "controller/report/labels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define WIDTH 560
#define LABELS 200 /* room for the names */
#define VALUES 76  /* and for the figures */
#define TOP 30
#define LINE 20 /* of a bar, with its gap */
#define COLOURS 8
#define LABEL_COLUMNS 30 /* of a name */

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

static double place(double value, double most)
{
	return LABELS + value / most * (WIDTH - LABELS - VALUES);
}

static int put_label(const char *label, double y, struct buffer *out,
		     struct error *err)
{
	char brief[LABEL_SIZE];

	snprintf(brief, sizeof(brief), "%s", label);
	labels_squeeze(brief, LABEL_COLUMNS);
	if (buffer_printf(out, err,
			  "<text class=\"axis\" x=\"%d\" y=\"%.0f\" "
			  "text-anchor=\"end\">",
			  LABELS - 8, y + 12) < 0 ||
	    html_text(out, brief, err) < 0)
		return -1;
	if (strcmp(brief, label) != 0 &&
	    (buffer_text(out, "<title>", err) < 0 ||
	     html_text(out, label, err) < 0 ||
	     buffer_text(out, "</title>", err) < 0))
		return -1;
	return buffer_text(out, "</text>", err);
}

static int put_bar(const struct bar *bar, double most, double y,
		   struct buffer *out, struct error *err)
{
	double end = place(bar->value, most);

	if (put_label(bar->label, y, out, err) < 0 ||
	    buffer_printf(out, err,
			  "<rect class=\"f%zu\" x=\"%d\" y=\"%.0f\" "
			  "width=\"%.1f\" height=\"%d\"/>",
			  bar->group % COLOURS, LABELS, y, end - LABELS,
			  LINE - 5) < 0)
		return -1;
	if (isfinite(bar->low) && isfinite(bar->high) &&
	    buffer_printf(out, err,
			  "<line class=\"spread\" x1=\"%.1f\" x2=\"%.1f\" "
			  "y1=\"%.1f\" y2=\"%.1f\"/>",
			  place(bar->low, most), place(bar->high, most),
			  y + 7.5, y + 7.5) < 0)
		return -1;
	if (isfinite(bar->limit) &&
	    buffer_printf(out, err,
			  "<line class=\"limit\" x1=\"%.1f\" x2=\"%.1f\" "
			  "y1=\"%.0f\" y2=\"%.0f\"/>",
			  place(bar->limit, most), place(bar->limit, most),
			  y - 2, y + LINE - 3) < 0)
		return -1;
	return buffer_printf(out, err,
			     "<text class=\"axis\" x=\"%d\" y=\"%.0f\" "
			     "text-anchor=\"end\">%.*f</text>\n",
			     WIDTH, y + 12,
			     bar->value >= 100  ? 0
			     : bar->value >= 10 ? 1
						: 3,
			     bar->value);
}

static int put_legend(const struct bars *bars, struct buffer *out,
		      struct error *err)
{
	size_t more = bars->count > BARS_MAX ? bars->count - BARS_MAX : 0;

	if (bars->groups_count < 2 && !more)
		return 0;
	if (buffer_text(out, "<figcaption>", err) < 0)
		return -1;
	for (size_t i = 0; bars->groups_count > 1 && i < bars->groups_count;
	     i++)
		if (buffer_printf(out, err, "<span class=\"k%zu\">",
				  i % COLOURS) < 0 ||
		    html_text(out, bars->groups[i], err) < 0 ||
		    buffer_text(out, "</span> ", err) < 0)
			return -1;
	if (more &&
	    buffer_printf(out, err, "<span class=\"mute\">and %zu more</span>",
			  more) < 0)
		return -1;
	return buffer_text(out, "</figcaption>\n", err);
}

int bars_svg(const struct bars *bars, struct buffer *out, struct error *err)
{
	size_t count = bars->count < BARS_MAX ? bars->count : BARS_MAX;
	double most = largest(bars, count);

	if (count < 2)
		return 0;
	if (buffer_printf(out, err,
			  "<figure><svg class=\"chart\" viewBox=\"0 0 %d %zu\" "
			  "role=\"img\">\n"
			  "<text class=\"name\" x=\"8\" y=\"16\">",
			  WIDTH, TOP + count * LINE + 6) < 0 ||
	    html_text(out, bars->title, err) < 0 ||
	    buffer_printf(out, err,
			  "</text><text class=\"axis\" x=\"%d\" y=\"16\" "
			  "text-anchor=\"end\">",
			  WIDTH) < 0 ||
	    html_text(out, bars->unit, err) < 0 ||
	    buffer_text(out, "</text>\n", err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (put_bar(&bars->bars[i], most, (double)(TOP + i * LINE), out,
			    err) < 0)
			return -1;
	if (buffer_text(out, "</svg>\n", err) < 0 ||
	    put_legend(bars, out, err) < 0)
		return -1;
	return buffer_text(out, "</figure>\n", err);
}
