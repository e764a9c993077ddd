/* dispatch.h - runs the command of a command line, and prints its help or
 * error.
 */
#ifndef CONTROLLER_CLI_DISPATCH_H
#define CONTROLLER_CLI_DISPATCH_H

#include "controller/cli/cli.h"

/* Run the command that argv[1..argc) names. Returns its exit code. */
int cli_run(struct cli *cli, int argc, char **argv);

#endif
