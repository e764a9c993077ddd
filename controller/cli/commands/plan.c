/* plan.c - plan: checks a sweep and lists its cells.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/images.h"
#include "controller/cli/commands/plan_forecast.h"
#include "controller/cli/commands/plan_text.h"
#include "controller/cli/input.h"
#include "controller/sweep/plan.h"
#include "controller/results/json_object.h"
#include "protocol/base/program.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <string.h>

struct plan_options {
	struct options common;
	bool pin;
	bool commands;
};

/* --pin: the image of the sweep is replaced by its digest. */

/* The digest of the image, and a node that has it. Both are borrowed. */
struct pin {
	const char *digest; /* NAME@DIGEST; "": not known yet */
	const char *node;
};

/* The images of the cells that would run, each once. */
static int collect_images(struct sweep *sweep, struct strings *images,
			  struct error *err)
{
	for (size_t i = 0; i < sweep_totals(sweep)->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };

		if (sweep_cell_spec(sweep, i, &spec, err) < 0)
			return -1;
		if (spec.container.build)
			return error_set(err, EINVAL,
					 "%.200s is built by the nodes, so its "
					 "tag already identifies it",
					 spec.container.image);
		if (!strings_has(images, spec.container.image) &&
		    strings_add(images, spec.container.image, err) < 0)
			return -1;
	}
	return 0;
}

static bool pin_match_image(const struct image_info *image,
			    const struct reference *wanted)
{
	char text[REFERENCE_MAX + 140];

	snprintf(text, sizeof(text), "%s:%s", wanted->name,
		 wanted->tag[0] ? wanted->tag : "latest");
	return strings_has(&image->tags, text);
}

/* The digest of the name's own repository; NULL: it came from none, or from
 * none that is known.
 */
static const char *pin_find_digest(const struct image_info *image,
				   const char *name)
{
	size_t length = strlen(name);
	bool pulled = image->origin && !strcmp(image->origin, "pulled");

	for (size_t i = 0; i < image->digests.count; i++)
		if (!strncmp(image->digests.items[i], name, length) &&
		    image->digests.items[i][length] == '@' &&
		    (pulled ||
		     !reference_digest_is(image->digests.items[i], image->id)))
			return image->digests.items[i];
	return NULL;
}

static int find_on_node(const struct image_node *node, const char *name,
			const struct reference *wanted, struct pin *pin,
			struct error *err)
{
	for (size_t i = 0; i < node->images_count; i++) {
		const char *digest;

		if (!pin_match_image(&node->images[i], wanted))
			continue;
		digest = pin_find_digest(&node->images[i], wanted->name);
		if (!digest)
			return error_set(err, ENOENT,
					 "%s: %.200s is not known to be from a "
					 "registry, so it has no digest",
					 node->name, name);
		if (pin->digest[0] && strcmp(pin->digest, digest) != 0)
			return error_set(err, EINVAL,
					 "%s has another image as %.200s than "
					 "%s",
					 node->name, name, pin->node);
		*pin = (struct pin){ digest, node->name };
	}
	return 0;
}

static int find_pin(const struct image_operation_info *images, const char *name,
		    struct pin *pin, struct error *err)
{
	struct reference wanted;

	if (reference_parse(name, &wanted, err) < 0)
		return -1;
	for (size_t i = 0; i < images->nodes_count; i++)
		if (find_on_node(&images->nodes[i], name, &wanted, pin, err) <
		    0)
			return -1;
	if (pin->digest[0])
		return 0;
	return error_set(err, ENOENT,
			 "no node has %.200s; run 'regatta image pull'", name);
}

/* Add the digest as a further document. The image of a single cell would take
 * precedence: that is an error.
 */
static int pin_append(struct input *input, const char *name,
		      const struct pin *pin, struct error *err)
{
	owned(strings_clear) struct strings images = { 0 };
	owned(sweep_free) struct sweep *sweep = NULL;

	if (buffer_printf(&input->text, err,
			  "\n---\n# %s, as %s has it\nimage: %s\n", name,
			  pin->node, pin->digest) < 0)
		return -1;
	sweep = sweep_parse(input->text.data, input->text.size, input->name,
			    input->catalog, err);
	if (!sweep || collect_images(sweep, &images, err) < 0)
		return -1;
	if (images.count == 1 && !strcmp(images.items[0], pin->digest))
		return 0;
	return error_set(err, EINVAL,
			 "%s: the matrix names the image; write %s there",
			 input->name, pin->digest);
}

/* Print the sweep with the digest that its image has on the nodes. ENOENT: no
 * node has the image, or it is of no registry; EINVAL: nodes have different
 * digests, or the cells have several images.
 */
static int print_pinned(struct cli *cli, struct input *input, struct error *err)
{
	owned(strings_clear) struct strings images = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	struct pin pin = { "", "" };

	if (collect_images(input->sweep, &images, err) < 0)
		return -1;
	if (images.count != 1)
		return error_set(err, EINVAL,
				 "%s: the cells have %zu images; expected one",
				 input->name, images.count);
	if (!strstr(images.items[0], "sha256:") &&
	    (images_ask(&view, cli, NULL, &answer, err) < 0 ||
	     find_pin(image_answer(&answer), images.items[0], &pin, err) < 0 ||
	     pin_append(input, images.items[0], &pin, err) < 0))
		return -1;
	fwrite(input->text.data, 1, input->text.size, cli->out);
	return EXIT_GOOD;
}

/* --commands */

/* Print how FlagPerf's run.py would start the container of each case. */
static int docker_commands_print(struct cli *cli, const struct input *input,
				 const cJSON *plan, struct error *err)
{
	const struct flagperf *flagperf = sweep_flagperf(input->sweep);
	owned(cJSON_Delete) cJSON *commands = cJSON_CreateArray();
	const cJSON *row;

	if (!flagperf)
		return error_set(err, EINVAL,
				 "--commands: %s has no flagperf: block",
				 input->name);
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		const char *cell = row_text(row, "cell");
		const char *docker = flagperf_docker(flagperf, cell);
		cJSON *item = docker ? cJSON_CreateObject() : NULL;

		if (!docker)
			continue;
		cJSON_AddStringToObject(item, "cell", cell);
		cJSON_AddStringToObject(item, "command", docker);
		cJSON_AddItemToArray(commands, item);
		if (!cli_format(cli, "json"))
			fprintf(cli->out, "# %s\n%s\n", cell, docker);
	}
	if (cli_format(cli, "json") && cli_print_json(cli, commands, err) < 0)
		return -1;
	return EXIT_GOOD;
}

static int plan_command(struct cli *cli, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(plan_forecast_clear) struct plan_forecast forecast = { 0 };
	owned(cJSON_Delete) cJSON *plan = NULL;
	const struct plan_options *options = cli->given;
	bool json = cli_format(cli, "json");
	size_t rows =
		json || options->commands ? SWEEP_CELLS_MAX : PLAN_TEXT_ROWS;

	if (input_init(&input, cli, cli->args[0], false, err) < 0)
		return -1;
	if (options->pin)
		return print_pinned(cli, &input, err);
	if (!options->commands &&
	    plan_forecast_init(&forecast, cli, &input, rows, err) < 0)
		return -1;
	plan = plan_new(input.sweep, rows, err);
	if (plan && options->commands)
		return docker_commands_print(cli, &input, plan, err);
	if (!plan ||
	    plan_forecast_add(&forecast, cli, input.sweep, plan, err) < 0)
		return -1;
	if (json ? cli_print_json(cli, plan, err) < 0
		 : plan_text_print(cli, plan, input.sweep, &forecast, err) < 0)
		return -1;
	if (sweep_totals(input.sweep)->jobs)
		return EXIT_GOOD;
	cli_say(cli, "regatta: %s: nothing to run: all cells are dropped",
		input.name);
	return EXIT_WRONG_REQUEST;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(plan_options, "pin", 0, OPTION_FLAG, pin, NULL),
	  .help = "print the sweep with its image as NAME@DIGEST, as found on "
		  "the nodes" },
	{ OPTION(plan_options, "commands", 0, OPTION_FLAG, commands, NULL),
	  .help = "print the docker run command that FlagPerf would use for "
		  "each of its cases" },
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_plan = {
	.name = "plan",
	.args = "SWEEP",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct plan_options),
	.summary = "check a sweep and list its cells",
	.help =
		"Lists cells that would run, and dropped cells with the "
		  "reason. SWEEP may be - for standard input. If a controller "
		  "is reachable, it also shows on which nodes and in which "
		  "order the cells would run, how long they took before, and "
		  "which cells the policies of the nodes refuse.",
	.example = "regatta plan first.yaml",
	.fn = plan_command,
};
/* clang-format on */
