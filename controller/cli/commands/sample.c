/* sample.c - what a vendor's monitor tool says, as JSON per device.
 */
#include "controller/cli/commands/commands.h"
#include "controller/cli/json.h"
#include "controller/cli/settings.h"
#include "protocol/file.h"
#include "protocol/hardware/profile.h"
#include "protocol/hardware/tool.h"
#include "protocol/program.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

/* The tool while it runs here. */
struct reading_tool {
	sd_event *loop;
	struct buffer *text;
	struct error *err;
	const char *name;
	int rc;
};

static void tool_ended(void *arg, const struct error *err,
		       const struct tool_output *output)
{
	struct reading_tool *reading = arg;

	if (err)
		reading->rc = error_set(reading->err, err->code, "%s",
					err->text);
	else if (output->exit_code)
		reading->rc = error_set(
			reading->err, EIO, "%s ended with %d%s%s",
			reading->name, output->exit_code,
			*output->complaint ? ": " : "", output->complaint);
	else
		reading->rc = buffer_append(reading->text, output->text,
					    output->size, reading->err);
	sd_event_exit(reading->loop, 0);
}

static int run_on(sd_event *loop, const struct profile *profile,
		  struct buffer *text, struct error *err)
{
	const struct monitor_rules *monitor = &profile->monitor;
	const struct tool_command command = {
		.argv = &monitor->command,
		.env = &monitor->env,
		.timeout_ms = monitor->timeout_ms,
		.output_max = SAMPLE_TEXT_MAX,
	};
	struct reading_tool reading = {
		.loop = loop,
		.text = text,
		.err = err,
		.name = monitor->command.items[0],
		.rc = -1,
	};
	owned(tool_cancel) struct tool *tool =
		tool_run(loop, &command, tool_ended, &reading, err);

	if (!tool)
		return -1;
	sd_event_loop(loop);
	(void)take(tool); /* it is freed behind tool_ended() */
	return reading.rc;
}

/* Run the tool of this machine. */
static int run_tool(const struct profile *profile, struct buffer *text,
		    struct error *err)
{
	sd_event *loop = NULL;
	sigset_t children, before;
	int rc;

	if (!profile->monitor.command.count)
		return error_set(err, EINVAL,
				 "vendor %s has no monitor tool to run; allowed "
				 "is --from FILE",
				 profile->vendor);
	rc = sd_event_new(&loop);
	if (rc < 0)
		return error_set(err, -rc, "event loop: cannot be made");
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, &before);
	rc = run_on(loop, profile, text, err);
	sigprocmask(SIG_SETMASK, &before, NULL);
	sd_event_unref(loop);
	return rc;
}

static int read_from(const char *name, struct buffer *text, struct error *err)
{
	/* A file that cannot be read is a wrong request. */
	if (file_read_any(strcmp(name, "-") ? name : "/dev/stdin", text, err) <
	    0) {
		if (err->code != E2BIG)
			err->code = EINVAL;
		return -1;
	}
	return 0;
}

static int unknown_vendor(const struct profiles *profiles, const char *name,
			  struct error *err)
{
	char all[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < profiles->count && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s",
					 i ? ", " : "",
					 profiles->list[i]->vendor);
	return error_set(err, EINVAL, "vendor: found '%.60s', allowed: %s",
			 name, all);
}

int command_sample(struct cli *cli, struct error *err)
{
	owned(profiles_clear) struct profiles profiles = { 0 };
	owned(buffer_clear) struct buffer text;
	owned(samples_clear) struct samples samples = { 0 };
	owned(json_free) cJSON *array = NULL;
	const struct profile *profile;
	char images[PATH_MAX];

	buffer_init(&text, SAMPLE_TEXT_MAX);
	if (settings_images(cli->environment, &cli->options, images, err) < 0 ||
	    profiles_load(images, &profiles, err) < 0)
		return -1;
	profile = profiles_find(&profiles, cli->args[0]);
	if (!profile)
		return unknown_vendor(&profiles, cli->args[0], err);
	if (!profile->monitor.sampler)
		return error_set(err, EINVAL,
				 "vendor %s has no monitor: there is nothing "
				 "to sample",
				 profile->vendor);
	if ((cli->options.from
		     ? read_from(cli->options.from, &text, err)
		     : run_tool(profile, &text, err)) < 0 ||
	    sampler_read(profile->monitor.sampler, text.data, text.size,
			 &samples, err) < 0)
		return -1;
	array = samples_json(&samples, err);
	if (!array || cli_print_json(cli, array, err) < 0)
		return -1;
	return EXIT_GOOD;
}
