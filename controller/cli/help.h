/* help.h - prints the help.
 */
#ifndef CONTROLLER_CLI_HELP_H
#define CONTROLLER_CLI_HELP_H

#include "controller/cli/command.h"

#include <stdio.h>

/* Print one line for each command. */
void help_all(FILE *out);

/* Print the help of one command: usage, description, options, example. */
void help_command(FILE *out, const struct command *command);

#endif
