/* html_charts.h - the pictures of a report page.
 *
 * Rows are as report.h says. What has too little to show is left out.
 */
#ifndef CONTROLLER_REPORT_HTML_CHARTS_H
#define CONTROLLER_REPORT_HTML_CHARTS_H

#include "controller/report/labels.h"
#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>

/* All cells beside each other: rate, MFU, memory against what the chip has,
 * power, energy, how the rate holds over nodes; then loss and rate by step.
 */
int html_overview(const cJSON *rows, const struct labels *labels,
		  struct buffer *out, struct error *err);

/* The curves of one row: loss, rate, devices, processors. */
int html_curves(const cJSON *row, struct buffer *out, struct error *err);

#endif
