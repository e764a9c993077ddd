/* seal.h - whether a cell is measured as a result should be: the seal.
 *
 * It has five parts, each of which names its figure, or why it is missing:
 *
 *	power and clocks steady	read, and no device held down for 1 % of the
 *				steady state or 5 % below the others
 *	5/5 runs ±0.6 %		five runs or more, all completed, half the
 *				interval of their mean at most 1 %
 *	losses equal		the last ones of all runs, to the last bit; and
 *				not different from the baseline of `align`
 *	nodes accepted 3 h before	by `regatta validate --accept`, at most
 *				24 h before each run
 *	recomputable		by this version, from kept logs of real devices
 */
#pragma once

#include "controller/report/row.h"

#define SEAL_RUNS 5
#define SEAL_MARGIN 0.01
#define SEAL_THROTTLED_PCT 1
#define SEAL_AGE_MS (INT64_C(24) * 3600 * 1000)

/* Are the runs of a cell sealed? text: "sealed: ..." or "not sealed: ...", all
 * parts with "; " between them.
 */
#define SEAL_TEXT 400
bool seal_tell(const struct report_row *runs, size_t count,
	       char text[SEAL_TEXT]);
