/* policy.c - policy: prints the policy that a sweep needs.
 */
#include "controller/cli/command.h"
#include "controller/cli/input.h"
#include "controller/cli/commands/least_policy.h"
#include "protocol/base/program.h"

static int add_sweep(struct least_policy *least, struct sweep *sweep,
		     struct error *err)
{
	for (size_t i = 0; i < sweep_totals(sweep)->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };

		if (sweep_cell_spec(sweep, i, &spec, err) < 0 ||
		    least_policy_add(least, &spec.container, err) < 0)
			return -1;
	}
	return 0;
}

static int policy_command(struct cli *cli, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(least_policy_clear) struct least_policy least = { 0 };
	owned(cJSON_Delete) cJSON *object = NULL;

	if (least_policy_init(&least, err) < 0 ||
	    input_init(&input, cli, cli->args[1], false, err) < 0 ||
	    add_sweep(&least, input.sweep, err) < 0)
		return -1;
	if (cli_format(cli, "json")) {
		object = least_policy_json(&least);
		return cli_print_json(cli, object, err) < 0 ? -1 : EXIT_GOOD;
	}
	fprintf(cli->out,
		"# The minimal policy of a node for the sweep %s, see "
		"regatta-policy(5)\n",
		sweep_name(input.sweep));
	if (!least_policy_print(&least, cli->out))
		fputs("# Nothing: a node without a policy file allows all of "
		      "it.\n",
		      cli->out);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct subcommand subcommands[] = {
	{ "suggest", "SWEEP", 1, 1, NULL,
	  "print the minimal policy for a sweep", policy_command },
	{ 0 },
};

static const struct option_rule rules[] = {
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_policy = {
	.name = "policy",
	.min_args = 1,
	.rules = rules,
	.summary = "print the policy that a sweep needs",
	.help =
		"Prints a policy file that allows only what the cells of the "
		  "sweep need beyond the defaults of a node, and explains "
		  "each line. A list replaces the list of the existing "
		  "policy, so merge both lists. Needs no controller.",
	.example = "regatta policy suggest flagperf-training.yaml",
	.subcommands = subcommands,
};
/* clang-format on */
