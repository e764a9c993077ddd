/* command.c - the table of all commands, and the options that they share.
 */
#include "controller/cli/command.h"

#include <string.h>

/* clang-format off */
static const struct option_rule connection_rules[] = {
	{ OPTION(options, "controller", 0, OPTION_TEXT, controller, "ENDPOINT"),
	  .help = "tcp://HOST:7117 (REGATTA_CONTROLLER)" },
	{ OPTION(options, "controller-key", 0, OPTION_TEXT, controller_key,
		 "KEY"),
	  .help = "public key of the controller, or a file with it "
		  "(REGATTA_CONTROLLER_KEY)" },
	{ OPTION(options, "key", 0, OPTION_TEXT, key, "FILE"),
	  .help = "your key (REGATTA_KEY, ~/.config/regatta/key)" },
	{ 0 },
};

const char *const formats_text[] = { "text", "json", NULL };
const char *const formats_page[] = { "text", "json", "html", NULL };
const char *const formats_json[] = { "json", NULL };
const char *const formats_report[] = { "markdown", "csv", "json", "html",
				       NULL };

static const struct option_rule always[] = {
	{ OPTION(options, "help", 'h', OPTION_LAST, help, NULL),
	  .help = "show this" },
	{ OPTION(options, "version", 'V', OPTION_LAST, version, NULL),
	  .help = "show the version" },
	{ 0 },
};
/* clang-format on */

#define COMMAND_ADDRESS(name) &command_##name,
static const struct command *const commands[] = { COMMANDS(COMMAND_ADDRESS) };
#define COMMANDS_COUNT (sizeof(commands) / sizeof(commands[0]))

const struct command *command_at(size_t index)
{
	return index < COMMANDS_COUNT ? commands[index] : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS_COUNT; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

struct option_tables command_options(const struct command *command)
{
	return (struct option_tables){
		{ command->rules, command->connects ? connection_rules : NULL,
		  always }
	};
}
