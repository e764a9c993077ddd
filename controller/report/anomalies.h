/* anomalies.h - finds repeats that differ, and rates that jump against those of
 * neighbouring cells.
 *
 * Added to each completed row that has a rate (token/p/s):
 *
 *	"repeats": {"n": 3, "mean": 4150.2, "stdev": 35.1, "cv_percent": 0.85}
 *			of the completed repeats of its cell, with at least two
 *	"doubts": ["..."]	sentences, where there is one
 *
 * A coefficient of variation above the sweep's spread_percent (5 when it says
 * nothing) is a doubt.
 *
 * Neighbours of a cell are those whose words ("nodes=2 batch.micro=4") differ
 * in one value; where those are numbers, only the next smaller and the next
 * larger one. A cell whose rate, as the mean of its repeats, is more than 5
 * times that of each of its neighbours, or less than a fifth, is a doubt: such
 * jumps come from wrong units and batches. Where both have an MFU that is
 * compared; without, cells of different models, chips, vendors or precisions
 * are no neighbours.
 */
#ifndef CONTROLLER_REPORT_ANOMALIES_H
#define CONTROLLER_REPORT_ANOMALIES_H

#include "protocol/base/error.h"

#include <cjson/cJSON.h>

/* rows as report.h says. What an earlier call added is replaced. EINVAL: a row
 * is no object; ENOMEM.
 */
int anomalies_add(cJSON *rows, struct error *err);

#endif
