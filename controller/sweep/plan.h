/* plan.h - a sweep as a document: what would run, what is dropped and why.
 *
 *	{"sweep": "demo",
 *	 "totals": {"cells": 8, "kept": 7, "dropped": 1, "jobs": 7,
 *	   "nodes_max": 2, "node_jobs": 11, "timeout_ms": 0},
 *	 "kept": [{"cell": "model=gpt-nano nodes=1", "key": "<64 hex digits>",
 *	   "repeats": 1, "vendor": "cpu", "nodes": 1, "devices": 0,
 *	   "image": "regatta-cpu", "log": "cpu",	the format, or "auto"
 *	   "values": {...},
 *	   "repeats_max": 10,		only with `until`
 *	   "after": "step=train",	only where it goes after others
 *	   "build": "/tree/folder",	only where nodes build a missing image
 *	   "missing": "/tree/folder/Dockerfile"}],	only where they cannot
 *	 "dropped": [{"cell": "...", "reason": "..."}]}
 *
 * timeout_ms is what all jobs take together, one after the other, when each
 * runs to its time limit; 0: at least one has none.
 */
#ifndef CONTROLLER_SWEEP_PLAN_H
#define CONTROLLER_SWEEP_PLAN_H

#include "controller/sweep/sweep.h"

/* At most `rows` kept and as many dropped cells are listed; the totals count
 * all. The caller deletes it.
 */
cJSON *plan_new(struct sweep *sweep, size_t rows, struct error *err);

#endif
