/* races.h - what the races of a sweep found (controller/race/race_rules.h).
 */
#pragma once

#include "controller/report/row.h"

/* Append a sentence a line: the verdict, what happened to the cells, and what
 * it cost; nothing if no cell races. ENOMEM.
 */
int races_lines(const struct report_rows *runs, struct strings *lines,
		struct error *err);

/* How many races are over without a winner, because no cell has a figure. */
int races_count_empty(const struct report_rows *runs, size_t *count,
		      struct error *err);

/* A list, an object for each race:
 *
 *	{"race": "vendor=nvidia", "end": "won", "winner": 3, "bound": 0.01,
 *	 "confidence": 0.95, "finalists": 4, "rounds": 3, "spread": 0.003,
 *	 "margin": 0.05, "differ": 0.006, "device_hours": 88.0,
 *	 "matrix_device_hours": 408.1,
 *	 "cells": [{"job": 3, "cell": "tp=2", "place": "winner", "rate": 3941.2,
 *		    "unit": "token/p/s", "runs": 3, "round": 0, "why": ""}]}
 *
 * job: the heat. end: won, undecided, spent, noisy, empty, or running. place:
 * winner, equal, final, failed, heat, smaller (a larger micro batch runs), oom,
 * pruned, none (no figure), running. rate: the figure of the race. round: in
 * which a cell was out in the final. why: of its heat's end.
 * matrix_device_hours: what all cells with `repeat` would have taken, by their
 * heats. The caller deletes it; NULL: ENOMEM.
 */
cJSON *races_json(const struct report_rows *runs);
