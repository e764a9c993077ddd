/* html_style.h - writes the head of a page with its styles (style.css).
 */
#pragma once

#include "controller/report/writer.h"

/* Write the page up to <body>, with the styles for charts (chart.h, bars.h) and
 * tables (table.h). language: as in <html lang>.
 */
void html_begin(struct writer *to, const char *language, const char *title);
