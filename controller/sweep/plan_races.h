/* plan_races.h - describes the races of a sweep before they run.
 */
#ifndef CONTROLLER_SWEEP_PLAN_RACES_H
#define CONTROLLER_SWEEP_PLAN_RACES_H

#include "controller/sweep/sweep.h"

/* A list, an object for each race:
 *
 *	{"race": "vendor=nvidia",	keys that separate it, or ""
 *	 "heats": 72, "steps": 10, "margin": 0.05, "repeat": 3,
 *	 "prunable": 17,	the most cells that need no less memory than one
 *	 "first": "micro=1", "last": "micro=8",
 *	 "ladder": false,	of micro batches (`fit`): not all are tried
 *	 "order": [{"cell": "micro=1", "index": 0, "memory_gib": 31.2,
 *		    "prunable": 17}]}	in the order of the heats
 *
 * index: in the plan's list of kept cells. memory_gib: estimated, of a device;
 * null: not known. prunable: cells that never run if this one runs out.
 *
 * Of a sweep with more than PLAN_RACES_CELLS cells only those are looked at.
 * The caller deletes it; an empty list: no cell races.
 */
#define PLAN_RACES_CELLS 2000
cJSON *plan_races(struct sweep *sweep, struct error *err);

#endif
