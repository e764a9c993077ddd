/* html_charts.h - writes the charts of a report page.
 *
 * A chart with too few values is left out.
 */
#pragma once

#include "controller/report/labels.h"
#include "controller/report/writer.h"

/* Charts over all cells: rate, MFU, memory with the chip's limit, power,
 * energy, scaling over nodes; then loss and rate by step.
 */
void html_overview(struct writer *to, const struct report_rows *rows,
		   const struct report_rows *shown,
		   const struct labels *labels);

/* The curves of one row: loss, rate, devices, processors. */
void html_curves(struct writer *to, const struct report_row *row);
