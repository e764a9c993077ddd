/* trend.h - follows the rate of cells over many sweeps and finds regressions.
 *
 * Rows: as in report.h. Cells are the same if their words, vendor, chip,
 * framework and precision are.
 */
#ifndef CONTROLLER_REPORT_TREND_H
#define CONTROLLER_REPORT_TREND_H

#include "controller/report/about.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stddef.h>

/* A regression is a rate that is lower than the mean of the earlier sweeps by
 * more than this, and by more than twice their standard deviation.
 */
#define TREND_FALL_PERCENT 5

struct trend_sweep {
	struct report_about about;
	const cJSON *rows;
};

/* The cells whose model is `what`, or whose words include all words of `what`,
 * in the order of their first sweeps:
 *
 *	[{"cell": "model=x nodes=2", "vendor": "acme", "chip": "A1",
 *	  "framework": "torch", "precision": "bf16",
 *	  "points": [{"sweep": 3, "name": "first",
 *		"submitted_utc": "2026-05-04T03:02:01Z",
 *		"n": 3,			completed repeats
 *		"rate": 2068.1,		the mean of their token/p/s
 *		"change_percent": -7.1,	against the mean of the earlier
 *					points; null for the first
 *		"regression": true}]}]
 *
 * Sweeps must be sorted by number. A sweep without a result of the cell has no
 * point. The caller deletes it. NULL: ENOMEM.
 */
cJSON *trend_cells(const struct trend_sweep *sweeps, size_t count,
		   const char *what, struct error *err);

#endif
