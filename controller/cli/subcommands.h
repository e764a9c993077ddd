/* subcommands.h - runs subcommands such as `node drain`.
 */
#ifndef CONTROLLER_CLI_SUBCOMMANDS_H
#define CONTROLLER_CLI_SUBCOMMANDS_H

#include "controller/cli/command.h"

/* Check the words and options for the subcommand that the first word names, and
 * run it. Returns its result, or -1 with EINVAL.
 */
int subcommands_run(struct cli *cli, const struct command *command,
		    struct error *err);

#endif
