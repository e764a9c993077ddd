/* plan.h - describes a sweep as JSON: which cells run, which are dropped, and
 * why.
 *
 *	{"sweep": "demo",
 *	 "totals": {"cells": 8, "kept": 7, "dropped": 1, "jobs": 7,
 *	   "nodes_max": 2, "node_jobs": 11, "timeout_ms": 0},
 *	 "kept": [{"cell": "model=gpt-nano nodes=1", "key": "<64 hex digits>",
 *	   "repeats": 1, "vendor": "cpu", "nodes": 1, "devices": 0,
 *	   "image": "regatta-cpu", "log": "cpu",	the format, or "auto"
 *	   "values": {...},
 *	   "repeats_max": 10,		only with `until`
 *	   "after": "step=train",	only if it follows other cells
 *	   "build": "/tree/folder",	only if nodes build a missing image
 *	   "missing": "/tree/folder/Dockerfile"}],	only if they cannot
 *	 "dropped": [{"cell": "...", "reason": "..."}],
 *	 "races": [...]}		plan_races.h; only if cells race
 *
 * timeout_ms is the sum of the time limits of all jobs, each in whole seconds,
 * rounded up; 0: at least one has no limit.
 */
#pragma once

#include "controller/sweep/sweep.h"

/* List at most `rows` kept and `rows` dropped cells; the totals count all. The
 * caller deletes the result.
 */
cJSON *plan_new(struct sweep *sweep, size_t rows, struct error *err);
