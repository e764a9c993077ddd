/* validate.c - validate: measures nodes and links, and judges them by their
 * peers.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/token.h"
#include "controller/cli/commands/validation.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"

#include <math.h>

#define DRAIN_SHARE 0.10    /* of the nodes, at most */
#define PAGE_MAX (64 << 20) /* bytes of a file that is written */
#define SHOWN_GOOD 32       /* a larger cluster's good nodes are not listed */

struct validate_options {
	struct options common;
	const char *nodes;
	const char *again;
	bool drain, tournament, accept;
	const char *nodes_file, *junit, *html;
};

/* What follows. */

static int print_verdicts(struct validation *of, struct error *err)
{
	static const struct column columns[] = {
		{ "NAME", false }, { "KIND", false }, { "VERDICT", false },
		{ "WHY", false },  { NULL, false },
	};
	static const enum colour colours[VERDICTS] = { PLAIN, GREEN, YELLOW,
						       RED };
	owned(table_clear) struct table table = { .columns = columns };
	const struct acceptance *acceptance = &of->acceptance;

	if (cli_format(of->cli, "json"))
		return cli_print_struct(of->cli, &acceptance_schema, acceptance,
					err);
	for (size_t i = 0; i < acceptance->units_count; i++) {
		const struct accepted_unit *unit = &acceptance->units[i];
		char why[ACCEPTANCE_WHY];

		if (unit->verdict == VERDICT_GOOD &&
		    of->names.count > SHOWN_GOOD)
			continue;
		table_text(&table, unit->name);
		table_text(&table, unit_kind_names[unit->kind]);
		table_cell(&table, colours[unit->verdict], "%s",
			   verdict_names[unit->verdict]);
		table_text(&table, unit_why(unit, why));
	}
	if (cli_print_table(of->cli, "", &table, NULL, err) < 0)
		return -1;
	for (size_t i = 0; i < acceptance->notes.count; i++)
		fprintf(of->cli->out, "%s\n", acceptance->notes.items[i]);
	fprintf(of->cli->out,
		"%zu of %zu nodes are good; a good one is called bad with a "
		"chance of at most %g\n",
		acceptance_count(acceptance, UNIT_NODE, VERDICT_GOOD),
		of->names.count, acceptance->family);
	return 0;
}

static int good_names_write(const struct validation *of, struct buffer *text,
			    struct error *err)
{
	for (size_t i = 0; i < of->names.count; i++)
		if (acceptance_of(&of->acceptance, of->names.items[i]) ==
			    VERDICT_GOOD &&
		    buffer_printf(text, err, "%s\n", of->names.items[i]) < 0)
			return -1;
	return 0;
}

static int verdict_files_write(struct validation *of,
			       const struct validate_options *given,
			       struct error *err)
{
	const char *const files[] = { given->nodes_file, given->junit,
				      given->html };

	for (size_t i = 0; i < 3; i++) {
		owned(buffer_clear) struct buffer text = BUFFER_INIT(PAGE_MAX);
		int rc = 0;

		if (!files[i])
			continue;
		rc = i == 0   ? good_names_write(of, &text, err)
		     : i == 1 ? acceptance_junit(&of->acceptance, &text, err)
			      : acceptance_html(&of->acceptance, &of->pairs,
						&of->names, &text, err);
		if (rc < 0 ||
		    file_write_any(files[i], text.data, text.size, err) < 0)
			return -1;
	}
	return 0;
}

/* Drain bad nodes, the first of their names at most DRAIN_SHARE of all. */
static int drain_bad(struct validation *of, struct error *err)
{
	size_t most = (size_t)ceil(DRAIN_SHARE * (double)of->names.count);
	size_t drained = 0, bad = 0;

	for (size_t i = 0; i < of->acceptance.units_count; i++) {
		const struct accepted_unit *unit = &of->acceptance.units[i];
		char why[ACCEPTANCE_WHY], reason[200];
		struct message_drain message = { .node = unit->name,
						 .reason = reason };
		owned(answer_clear) struct answer answer = { 0 };

		if (unit->kind != UNIT_NODE || unit->verdict != VERDICT_BAD)
			continue;
		if (++bad > most)
			continue;
		snprintf(reason, sizeof(reason), "validate: %.180s",
			 unit_why(unit, why));
		if (client_call(of->client, MESSAGE_DRAIN, &message, &answer,
				err) < 0)
			return -1;
		drained++;
	}
	if (bad)
		cli_say(of->cli, "%zu of %zu bad nodes are drained%s", drained,
			bad,
			drained < bad ? ": at most 10 % of all nodes" : "");
	return 0;
}

static int validate_command(struct cli *cli, struct error *err)
{
	const struct validate_options *given = cli->given;
	const char *word = cli->arg_count ? cli->args[0] : "quick";
	owned(client_free) struct client *client = NULL;
	owned(validation_clear) struct validation of = {
		.cli = cli, .again_s = VALIDATION_AGAIN_S
	};
	bool bad = false;

	if (given->again && token_seconds(given->again, &of.again_s, err) < 0)
		return error_prefix(err, "--again");
	of.client = client = cli_connect(cli, err);
	if (!client || validation_choose(&of, word, given->nodes, err) < 0 ||
	    validation_run(&of, word, given->tournament, err) < 0 ||
	    print_verdicts(&of, err) < 0 ||
	    verdict_files_write(&of, given, err) < 0 ||
	    (given->accept && validation_label(&of, err) < 0) ||
	    (given->drain && drain_bad(&of, err) < 0))
		return -1;
	for (int kind = UNIT_NODE; kind <= UNIT_LINK; kind++)
		bad |= acceptance_count(&of.acceptance, kind, VERDICT_BAD) > 0;
	return bad ? EXIT_WORK_FAILED : EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(validate_options, "nodes", 0, OPTION_TEXT, nodes, "LIST"),
	  .help = "only these nodes: n1,n2 (all that take jobs)" },
	{ OPTION(validate_options, "again", 0, OPTION_TEXT, again, "TIME"),
	  .help = "time before suspects are measured again (60s)" },
	{ OPTION(validate_options, "all-pairs", 0, OPTION_FLAG, tournament,
		 NULL),
	  .help = "measure all pairs of at most 64 nodes" },
	{ OPTION(validate_options, "accept", 0, OPTION_FLAG, accept, NULL),
	  .help = "note on each good node that it is accepted now; on others, "
		  "that it is not" },
	{ OPTION(validate_options, "drain", 0, OPTION_FLAG, drain, NULL),
	  .help = "drain bad nodes, at most 10 % of all" },
	{ OPTION(validate_options, "nodes-file", 0, OPTION_TEXT, nodes_file,
		 "FILE"),
	  .help = "write the names of the good nodes, one a line" },
	{ OPTION(validate_options, "junit", 0, OPTION_TEXT, junit, "FILE"),
	  .help = "write the verdicts as JUnit XML" },
	{ OPTION(validate_options, "html", 0, OPTION_TEXT, html, "FILE"),
	  .help = "write a page: a strip of nodes, a map of links" },
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_validate = {
	.name = "validate",
	.args = "[quick|pairs|soak|devices|soak-devices] | "
		"[vendor|tools|network|flagperf|full|SET]",
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct validate_options),
	.summary = "measure nodes and links, and judge them by their peers",
	.help =
		"quick measures all nodes side by side, pairs each node with "
		  "others in at most five rounds, soak at full power, devices "
		  "and soak-devices each accelerator, tools and network use well-kept tools, "
		  "flagperf the base suite of a checkout of FlagPerf, full "
		  "all pairs, too. SET is a sweep file with nodes: each or pairs. "
		  "The exit status is 1 if a node, device or link is bad.",
	.example = "regatta validate quick --drain",
	.fn = validate_command,
};
/* clang-format on */
