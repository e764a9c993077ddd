/* trend.h - the same cells over many sweeps: how their rate went, and where it
 * fell.
 *
 * Rows are as report.h says. Cells are the same when their words, vendor, chip,
 * framework and precision are.
 */
#ifndef CONTROLLER_REPORT_TREND_H
#define CONTROLLER_REPORT_TREND_H

#include "controller/report/about.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stddef.h>

/* A fall of more than this against the mean of the earlier sweeps, and of more
 * than twice their standard deviation, is a regression.
 */
#define TREND_FALL_PERCENT 5

struct trend_sweep {
	struct report_about about;
	const cJSON *rows;
};

/* The cells whose model is `what`, or whose words hold all words of `what`, in
 * the order in which they came first:
 *
 *	[{"cell": "model=x nodes=2", "vendor": "acme", "chip": "A1",
 *	  "framework": "torch", "precision": "bf16",
 *	  "points": [{"sweep": 3, "name": "first",
 *		"submitted_utc": "2026-05-04T03:02:01Z",
 *		"n": 3,			completed repeats
 *		"rate": 2068.1,		the mean of their token/p/s
 *		"change_percent": -7.1,	against the mean of the earlier
 *					points; null of the first
 *		"regression": true}]}]
 *
 * Sweeps are given in the order of their numbers; one without a result of the
 * cell has no point. The caller deletes it. NULL: ENOMEM.
 */
cJSON *trend_cells(const struct trend_sweep *sweeps, size_t count,
		   const char *what, struct error *err);

#endif
