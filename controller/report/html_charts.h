/* html_charts.h - writes the charts of a report page.
 *
 * Rows: as in report.h. A chart with too few values is left out.
 */
#ifndef CONTROLLER_REPORT_HTML_CHARTS_H
#define CONTROLLER_REPORT_HTML_CHARTS_H

#include "controller/report/labels.h"
#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>

/* Charts over all cells: rate, MFU, memory with the chip's limit, power,
 * energy, scaling over nodes; then loss and rate by step.
 */
int html_overview(const cJSON *rows, const struct labels *labels,
		  struct buffer *out, struct error *err);

/* The curves of one row: loss, rate, devices, processors. */
int html_curves(const cJSON *row, struct buffer *out, struct error *err);

#endif
