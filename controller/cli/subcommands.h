/* subcommands.h - commands whose first word says what to do: `node drain`.
 */
#ifndef CONTROLLER_CLI_SUBCOMMANDS_H
#define CONTROLLER_CLI_SUBCOMMANDS_H

#include "controller/cli/command.h"

/* Check words and options against the part that the first word names, and run
 * it. Returns what its function does, or -1 with EINVAL.
 */
int subcommands_run(struct cli *cli, const struct command *command,
		    struct error *err);

#endif
