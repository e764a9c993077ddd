/* anomalies.h - finds repeats that differ too much, and rates that differ too
 * much from those of neighbouring cells.
 *
 * Each completed row with a rate gets `repeats`, over the completed
 * repeats of its cell if two or more, and `anomalies`, if there are any.
 *
 * A coefficient of variation above the sweep's spread_percent (default 5) is an
 * anomaly; so is one seed that all repeats have.
 *
 * Neighbours of a cell are the cells whose words ("nodes=2 batch.micro=4")
 * differ in one value; of numbers only the next smaller and the next larger. A
 * cell is an anomaly if its rate (the mean of its repeats) is more than 5
 * times, or less than a fifth, of that of each neighbour: the cause is usually
 * a wrong unit or batch size. If both have an MFU, the MFU is compared instead.
 * Without MFU, cells of different models, chips, vendors or precisions are not
 * neighbours.
 */
#pragma once

#include "controller/report/row.h"

/* The result of an earlier call is replaced. ENOMEM. */
int anomalies_add(struct report_rows *rows, struct error *err);
