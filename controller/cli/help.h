/* help.h - what --help prints.
 */
#ifndef CONTROLLER_CLI_HELP_H
#define CONTROLLER_CLI_HELP_H

#include "controller/cli/command.h"

#include <stdio.h>

/* All commands, each in a line. */
void help_all(FILE *out);

/* One command: its forms, what it does, its options, an example. */
void help_command(FILE *out, const struct command *command);

#endif
