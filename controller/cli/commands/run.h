/* run.h - runs a sweep with a controller and agents of its own, also for the
 * commands that bring other agents.
 */
#pragma once

#include "controller/cli/run/setup.h"

/* command_fn. cli->given begins with a struct run_options. */
int run_command(struct cli *cli, struct error *err);
