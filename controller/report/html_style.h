/* html_style.h - how pages look: light, dark, and on paper.
 */
#ifndef CONTROLLER_REPORT_HTML_STYLE_H
#define CONTROLLER_REPORT_HTML_STYLE_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

/* The beginning of a page, to its <body>, with the style for what chart.h,
 * bars.h and table.h make. language: as in <html lang>.
 */
int html_begin(const char *language, const char *title, struct buffer *out,
	       struct error *err);

#endif
