/* about.h - reads the keys `about`, `align` and `require` of a sweep, which
 * only reports use.
 *
 *	about:			# texts for report pages
 *	  task: ...
 *	  dataset: ...
 *	  framework: deepspeed 0.11.1
 *	  optimizations: gradient checkpointing
 *	  columns: config fix_hp throughput memory
 *	align:			# compare losses with a baseline
 *	  baseline: 17		# a job, or values of a cell of this sweep:
 *				# {vendor: nvidia}
 *	  cells: {batch.accumulate: 64}	# only cells with these values
 *	  from_step: 21		# default
 *	  tolerance: 2%		# default; of the mean relative difference
 *
 *	require:		# what every cell must reach
 *(report/requirement.h)
 *	  - mfu >= 40%
 *
 * They do not change what runs, and are not part of a cell's key.
 */
#ifndef CONTROLLER_SWEEP_ABOUT_H
#define CONTROLLER_SWEEP_ABOUT_H

#include "protocol/yaml/value.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define ABOUT_TEXT_MAX 1000 /* bytes of a text */

/* {texts..., "align": {"job": 17 or "values": {...}, "cells": {...},
 * "from_step": 21, "tolerance": 0.02}, "require": [texts...]} to *about, which
 * the caller deletes; NULL: the file says nothing. Errors name file and line.
 */
int about_read(const struct value *root, cJSON **about, struct error *err);

#endif
