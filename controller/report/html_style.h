/* html_style.h - how pages look: light, dark, and on paper.
 */
#ifndef CONTROLLER_REPORT_HTML_STYLE_H
#define CONTROLLER_REPORT_HTML_STYLE_H

/* The text of a page's <style>, for what chart.h, bars.h and table.h make. */
extern const char html_style[];

#endif
