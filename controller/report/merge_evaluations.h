/* merge_evaluations.h - evaluations join the rows of what they evaluate.
 *
 * A completed row that has metrics but no rate, and follows another cell of the
 * sweep ("follows" in report.h), is an evaluation of that cell: of its repeats
 * the one of the same number, else the last. Published pages state both in one
 * line.
 */
#ifndef CONTROLLER_REPORT_MERGE_EVALUATIONS_H
#define CONTROLLER_REPORT_MERGE_EVALUATIONS_H

#include "protocol/base/error.h"

#include <cjson/cJSON.h>

/* A copy of the rows in which the metrics of evaluations, and what tables show
 * of them, are those of the rows that they evaluate, and which has no rows for
 * them. The caller deletes it. NULL: ENOMEM.
 */
cJSON *rows_merge_evaluations(const cJSON *rows, struct error *err);

#endif
