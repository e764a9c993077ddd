/* sample.c - sample: prints the output of a vendor's monitor tool as JSON.
 */
#include "controller/cli/command.h"
#include "protocol/base/local_tool.h"
#include "controller/cli/settings.h"
#include "protocol/base/program.h"
#include "protocol/hardware/profile.h"

#include <errno.h>

struct sample_options {
	struct options common;
	const char *from;
};

/* Run the tool of this machine. */
static int monitor_tool_run(const struct profile *profile, struct buffer *text,
			    struct error *err)
{
	const struct monitor_rules *monitor = &profile->monitor;

	struct error why;
	int rc = -1;

	if (!monitor->commands_count)
		return error_set(err, EINVAL,
				 "vendor %s has no monitor tool; expected "
				 "--from FILE",
				 profile->vendor);
	for (size_t i = 0; rc < 0 && i < monitor->commands_count; i++)
		rc = local_tool_run(&monitor->commands[i], &monitor->env,
				    monitor->timeout_ms, text, &why);
	return rc < 0 ? error_set(err, why.code,
				  "%s; --from FILE reads saved output of the "
				  "tool",
				  why.text)
		      : 0;
}

static int unknown_vendor(const struct profiles *profiles, const char *name,
			  struct error *err)
{
	char all[160] = "";

	for (size_t i = 0; i < profiles->count; i++)
		text_append(all, sizeof(all), "%s%s", i ? ", " : "",
			    profiles->list[i]->vendor);
	return error_set(err, EINVAL,
			 "vendor: '%.60s' is not valid here; expected %s", name,
			 all);
}

static int sample_command(struct cli *cli, struct error *err)
{
	owned(profiles_clear) struct profiles profiles = { 0 };
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SAMPLE_TEXT_MAX);
	owned(samples_clear) struct samples samples = { 0 };
	owned(cJSON_Delete) cJSON *array = NULL;
	const struct sample_options *given = cli->given;
	const struct profile *profile;
	char images[PATH_MAX];

	if (cli_images(cli, images, err) < 0 ||
	    profiles_load(images, &profiles, err) < 0)
		return -1;
	profile = profiles_find(&profiles, cli->args[0]);
	if (!profile)
		return unknown_vendor(&profiles, cli->args[0], err);
	if (!profile->monitor.sampler)
		return error_set(err, EINVAL,
				 "vendor %s has no monitor to sample",
				 profile->vendor);
	if ((given->from ? read_input(given->from, &text, err)
			 : monitor_tool_run(profile, &text, err)) < 0 ||
	    sampler_read(profile->monitor.sampler, text.data, text.size,
			 &samples, err) < 0)
		return -1;
	array = samples_json(&samples, err);
	if (!array || cli_print_json(cli, array, err) < 0)
		return -1;
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(sample_options, "from", 0, OPTION_TEXT, from, "FILE"),
	  .help = "read saved output of the tool; - is standard input (run "
		  "the tool)" },
	OPTION_IMAGES,
	OPTION_FORMAT(formats_json, "json"),
	{ 0 },
};

const struct command command_sample = {
	.name = "sample",
	.args = "VENDOR",
	.min_args = 1,
	.max_args = 1,
	.rules = rules,
	.options_size = sizeof(struct sample_options),
	.summary = "read temperature, power and load from a vendor's tool",
	.help =
		"Runs the vendor's tool, or reads its saved output, and "
		  "prints a JSON array with one object per device. Values "
		  "that the tool does not print are null. bus_id is printed "
		  "as in the tool. Needs no controller.",
	.example = "regatta sample nvidia --from nvidia-smi.txt",
	.fn = sample_command,
};
/* clang-format on */
