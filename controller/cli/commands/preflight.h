/* preflight.h - measures nodes before a sweep that asks for it.
 */
#pragma once

#include "controller/cli/input.h"

/* If the sweep has `preflight`, measure the nodes that it may use and that were
 * not measured within max_age, and label them (validation.h): only accepted
 * ones get its jobs. Busy nodes are left out, unless the others are too few.
 * What was found is said on stderr.
 */
int preflight_run(struct cli *cli, struct client *client,
		  const struct input *input, struct error *err);
