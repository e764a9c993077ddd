/* html_style.h - writes the head and styles of pages (light, dark, print).
 */
#ifndef CONTROLLER_REPORT_HTML_STYLE_H
#define CONTROLLER_REPORT_HTML_STYLE_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

/* Write the page up to <body>, with the styles for charts (chart.h, bars.h) and
 * tables (table.h). language: as in <html lang>.
 */
int html_begin(const char *language, const char *title, struct buffer *out,
	       struct error *err);

#endif
