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

static const struct command *const commands[] = {
	&command_run,
	&command_slurm,
	&command_plan,
	&command_submit,
	&command_sweeps,
	&command_watch,
	&command_web,
	&command_jobs,
	&command_nodes,
	&command_show,
	&command_logs,
	&command_image,
	&command_files,
	&command_fetch,
	&command_cancel,
	&command_retry,
	&command_report,
	&command_compare,
	&command_trend,
	&command_extract,
	&command_diagnose,
	&command_stacks,
	&command_sample,
	&command_verify,
	&command_mfu,
	&command_vendors,
	&command_check,
	&command_policy,
	&command_completion,
	&command_export,
	&command_import,
	&command_key,
	&command_node,
	&command_user,
	&command_join,
	&command_backup,
	&command_gc,
	&command_audit,
};
/* clang-format on */

#define COMMANDS (sizeof(commands) / sizeof(commands[0]))
_Static_assert(COMMANDS < COMMANDS_MAX, "room for the names of all");

const struct command *command_at(size_t index)
{
	return index < COMMANDS ? commands[index] : NULL;
}

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < COMMANDS; i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	return NULL;
}

struct option_tables command_options(const struct command *command)
{
	return options_all(command->rules,
			   command->connects ? connection_rules : NULL);
}
