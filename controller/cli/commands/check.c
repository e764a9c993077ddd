/* check.c - check: checks files of settings and policies.
 */
#include "controller/cli/command.h"
#include "protocol/base/program.h"
#include "protocol/config/agent.h"
#include "protocol/config/controller.h"
#include "protocol/config/policy.h"

#include <errno.h>
#include <string.h>

static const struct {
	const char *kind; /* a word in the file's name */
	const char *what;
	const struct config_program *program; /* NULL: a policy */
} kinds[] = {
	{ "controller", "settings of regatta-controller", &controller_program },
	{ "agent", "settings of regatta-agent", &agent_program },
	{ "policy", "policy of a node", NULL },
};

#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static int kind_check_file(const struct config_program *program,
			   const char *path, struct error *err)
{
	owned(config_free) struct config *config = NULL;
	owned(policy_free) struct policy *policy = NULL;
	owned_free void *settings = NULL;

	if (!program) {
		policy = policy_read(path, err);
		return policy ? 0 : -1;
	}
	settings = calloc(1, program->size);
	return settings
		       ? config_read_file(program, path, settings, &config, err)
		       : error_nomem(err, "settings");
}

/* By its word, or for "config" by the file's name. */
static int kind_find(const char *word, const char *path, size_t *kind,
		     struct error *err)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	bool by_name = !strcmp(word, "config");

	for (*kind = 0; *kind < KINDS; ++*kind)
		if (by_name ? !!strstr(name, kinds[*kind].kind)
			    : !strcmp(word, kinds[*kind].kind))
			return 0;
	if (by_name)
		return error_set(err, EINVAL,
				 "%.120s: the kind of the file is not clear "
				 "from its name; expected regatta check "
				 "controller, agent or policy FILE",
				 path);
	return error_set(err, EINVAL,
			 "'%.60s' is not valid here; expected config, "
			 "controller, agent, policy",
			 word);
}

static int check_command(struct cli *cli, struct error *err)
{
	bool bad = false;

	for (size_t i = 1; i < cli->arg_count; i++) {
		struct error why = { 0 };
		size_t kind;

		if (kind_find(cli->args[0], cli->args[i], &kind, err) < 0)
			return -1;
		if (kind_check_file(kinds[kind].program, cli->args[i], &why) <
		    0) {
			cli_say(cli, "%s", why.text);
			bad = true;
		} else {
			fprintf(cli->out, "%s: good (%s)\n", cli->args[i],
				kinds[kind].what);
		}
	}
	return bad ? EXIT_WRONG_REQUEST : EXIT_GOOD;
}

/* clang-format off */
const struct command command_check = {
	.name = "check",
	.args = "config | controller | agent | policy FILE...",
	.min_args = 2,
	.max_args = COMMAND_ARGS_MAX,
	.summary = "check settings and policies",
	.help =
		"With config, the kind of a file is derived from its name. "
		  "The exit status is 0 if all files are valid, otherwise 2. "
		  "Needs no controller.",
	.example = "regatta check config /etc/regatta/agent.yaml",
	.fn = check_command,
};
/* clang-format on */
