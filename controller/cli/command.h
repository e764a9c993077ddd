/* command.h - the table of commands, for who runs, explains or completes them.
 */
#ifndef CONTROLLER_CLI_COMMAND_H
#define CONTROLLER_CLI_COMMAND_H

#include "controller/cli/commands/commands.h"

struct command {
	const char *name;
	const char *args; /* as the usage shows them */
	size_t min_args;
	size_t max_args;
	bool connects; /* has the options of the connection */
	const struct option_rule *rules;
	const char *summary;
	const char *help;
	const char *example;
	command_fn *fn;
};

/* NULL past the end. */
const struct command *command_at(size_t index);

/* All options of a command: its own, those of the connection (NULL: it has
 * none), --help and --version.
 */
#define COMMAND_CONNECTION 1
struct option_tables command_options(const struct command *command);

#endif
