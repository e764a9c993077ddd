/* own_rules.h - log rules that stand in a sweep, in place of a format's name.
 *
 *	log:
 *	  rules:
 *	    - match: 'step (?<step>\d+) loss (?<loss>\S+)'
 *
 * The section is that of a framework (controller/results/rules/log_rules.h).
 * It makes a format of its own, named after its content: rules-1a2b3c4d.
 */
#pragma once

#include "controller/cell/cells.h"

#define OWN_RULES_MAX (16 << 10) /* bytes, as JSON */

/* Have the job read its log by these rules. Errors name their place in the
 * sweep: what extract_rules_new() says, or E2BIG.
 */
int own_rules_take(struct cells *cells, const struct value *log,
		   struct job_spec *spec, struct error *err);

void own_rules_clear(struct cells *cells);
