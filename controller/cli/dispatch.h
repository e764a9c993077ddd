/* dispatch.h - runs the command of a command line, and prints its help or
 * error.
 */
#pragma once

#include "controller/cli/cli.h"

/* Run the command that argv[1..argc) names. Returns its exit code. */
int cli_run(struct cli *cli, int argc, char **argv);
