/* arrival.h - computes the time of a step from the arrival of log lines.
 *
 * For logs that print no time, and to check the time that a log prints. Lines
 * arrive late and many at once, so the time is measured over blocks of steps
 * that are long compared to the precision of an arrival.
 */
#pragma once

#include "controller/results/rules/record.h"
#include "protocol/message/result.h"

#define ARRIVAL_PRECISION_MS 100 /* of the arrival time of a line */

/* From records by step with came_ms; all 0 where the steps came within a
 * second, or not in order.
 */
struct arrival arrival_of(const struct record *records, size_t count);
