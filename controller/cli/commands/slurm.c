/* slurm.c - slurm: a sweep as a job of Slurm.
 *
 * The job's script runs `regatta run --slurm`, which starts a controller on its
 * first node and an agent on each. A job that is requeued, or submitted again
 * with --resume, goes on with the folder.
 */
#include "controller/cli/command.h"
#include "controller/cli/input.h"
#include "controller/cli/logins.h"
#include "controller/cli/run/folder.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/config/installed.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define SITE_MAX 65536
#define SCRIPT_MAX 1048576
#define ARGS_MAX 70 /* of sbatch */
#define WARN_S 120  /* before the time limit, for what runs to be collected */

struct slurm_options {
	struct options common;
	const char *resume;
	const char *site;
	const char *engine;
	uint64_t allocations;
	bool print;
};

static const struct slurm_options *given(const struct cli *cli)
{
	return cli->given;
}

/* In single quotes for the shell. */
static int put_word(struct buffer *out, const char *text, struct error *err)
{
	if (buffer_append(out, "'", 1, err) < 0)
		return -1;
	for (; *text; text++)
		if (buffer_append(out, *text == '\'' ? "'\\''" : text,
				  *text == '\'' ? 4 : 1, err) < 0)
			return -1;
	return buffer_append(out, "'", 1, err);
}

static int put_option(struct buffer *out, const char *name, const char *text,
		      struct error *err)
{
	if (!text)
		return 0;
	if (buffer_printf(out, err, " %s ", name) < 0)
		return -1;
	return put_word(out, text, err);
}

/* What the widest and the largest job need. */
struct need {
	uint32_t nodes;
	uint32_t devices;
	char vendor[64];
	bool alone; /* a job shares its nodes with nothing */
	double cpus;
	uint64_t memory_bytes;
};

static void need_job(struct need *need, const struct job_spec *spec)
{
	if (spec->devices > need->devices)
		need->devices = spec->devices;
	if (spec->container.cpus > need->cpus)
		need->cpus = spec->container.cpus;
	if (spec->container.memory_bytes > need->memory_bytes)
		need->memory_bytes = spec->container.memory_bytes;
	need->alone |= !spec->shared;
	snprintf(need->vendor, sizeof(need->vendor), "%s", spec->vendor);
}

static int find_need(struct sweep *sweep, struct need *need, struct error *err)
{
	const struct sweep_totals *totals = sweep_totals(sweep);

	need->nodes = totals->nodes_max;
	for (size_t i = 0; i < totals->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };

		if (sweep_cell_spec(sweep, i, &spec, err) < 0)
			return -1;
		need_job(need, &spec);
	}
	return 0;
}

/* Whole nodes, or of shared ones what the sweep names. */
static int put_share(struct buffer *out, const struct need *need,
		     struct error *err)
{
	uint64_t mib = need->memory_bytes >> 20;

	if (need->alone)
		return buffer_text(out,
				   "#SBATCH --exclusive\n#SBATCH --mem=0\n",
				   err);
	if (need->cpus > 0 &&
	    buffer_printf(out, err, "#SBATCH --cpus-per-task=%.0f\n",
			  ceil(need->cpus)) < 0)
		return -1;
	return mib ? buffer_printf(out, err, "#SBATCH --mem=%" PRIu64 "M\n",
				   mib)
		   : 0;
}

static int put_head(const struct cli *cli, struct buffer *out,
		    const struct input *input, const char *folder,
		    struct error *err)
{
	uint64_t allocations = given(cli)->allocations;
	struct need need = { 0 };

	if (find_need(input->sweep, &need, err) < 0 ||
	    buffer_printf(out, err,
			  "#!/bin/bash\n"
			  "#SBATCH --job-name=regatta-%s\n"
			  "#SBATCH --nodes=%u\n"
			  "#SBATCH --ntasks-per-node=1\n"
			  "#SBATCH --signal=B:TERM@%d\n"
			  "#SBATCH --requeue\n"
			  "#SBATCH --open-mode=append\n"
			  "#SBATCH --output=%s/slurm.log\n",
			  sweep_name(input->sweep), need.nodes, WARN_S,
			  folder) < 0 ||
	    put_share(out, &need, err) < 0)
		return -1;
	if (allocations != OPTION_NONE && allocations > 1 &&
	    buffer_printf(out, err, "#SBATCH --array=1-%" PRIu64 "\n",
			  allocations) < 0)
		return -1;
	if (!strcmp(need.vendor, "cpu"))
		return 0;
	return buffer_printf(out, err, "#SBATCH --gres=gpu:%u\n", need.devices);
}

/* What a site needs: lines of #SBATCH, modules, variables. */
static int put_site(const struct cli *cli, struct buffer *out,
		    struct error *err)
{
	const char *site =
		given(cli)->site ? given(cli)->site : installed_slurm_sh;
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, SITE_MAX);
	if (!given(cli)->site && access(site, F_OK) < 0)
		return 0;
	if (file_read(AT_FDCWD, site, &text, err) < 0)
		return error_prefix(err, "site");
	return buffer_printf(out, err, "%s\n", text.data);
}

static int put_run(const struct cli *cli, const char *program,
		   const char *folder, const char *sweep, struct buffer *out,
		   struct error *err)
{
	const struct options *options = &given(cli)->common;

	if (buffer_text(out, "\numask 077\nstate=", err) < 0 ||
	    put_word(out, folder, err) < 0 ||
	    buffer_text(out, "\nregatta=", err) < 0 ||
	    put_word(out, program, err) < 0 ||
	    buffer_text(out,
			"\nexec \"$regatta\" run --slurm --join "
			"--state \"$state\"",
			err) < 0 ||
	    put_option(out, "--images", options->images, err) < 0 ||
	    put_option(out, "--registry-auth", options->registry_auth, err) <
		    0 ||
	    put_option(out, "--tree", options->tree, err) < 0 ||
	    put_option(out, "--engine", given(cli)->engine, err) < 0)
		return -1;
	for (size_t i = 0; i < options->set.count; i++)
		if (put_option(out, "--set", options->set.items[i], err) < 0)
			return -1;
	if (options->keep_going && buffer_text(out, " --keep-going", err) < 0)
		return -1;
	if (buffer_append(out, " ", 1, err) < 0 ||
	    put_word(out, sweep, err) < 0)
		return -1;
	return buffer_append(out, "\n", 1, err);
}

/* Its own folder must be one path for sbatch, which splits at blanks. */
static int choose_folder(const struct cli *cli, const struct input *input,
			 char folder[PATH_MAX], struct error *err)
{
	char made[FOLDER_NAME_SIZE], here[PATH_MAX];
	const char *state = given(cli)->common.state;
	const char *name =
		state ? state
		      : folder_name("slurm", sweep_name(input->sweep), made);

	if (!getcwd(here, sizeof(here)))
		return error_errno(err, "this folder");
	if (snprintf(folder, PATH_MAX, "%s%s%s", *name == '/' ? "" : here,
		     *name == '/' ? "" : "/", name) >= PATH_MAX ||
	    strpbrk(folder, " \t\n%\\"))
		return error_set(err, EINVAL,
				 "--state: '%.200s' is not valid here; "
				 "expected a path without blanks, %% and \\, "
				 "as Slurm writes its log there",
				 name);
	return 0;
}

static int make_script(struct cli *cli, struct buffer *script,
		       char folder[PATH_MAX], struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	char program[PATH_MAX], sweep[PATH_MAX];

	if (input_init(&input, cli, cli->args[0], false, err) < 0 ||
	    input_check_jobs(&input, cli, err) < 0 ||
	    choose_folder(cli, &input, folder, err) < 0)
		return -1;
	if (!realpath(cli->args[0], sweep))
		return error_set(err, EINVAL,
				 "%.120s: %s; expected a file that the nodes "
				 "can access",
				 cli->args[0], strerror(errno));
	if (!realpath("/proc/self/exe", program))
		return error_errno(err, "/proc/self/exe");
	if (put_head(cli, script, &input, folder, err) < 0 ||
	    put_site(cli, script, err) < 0)
		return -1;
	return put_run(cli, program, folder, sweep, script, err);
}

/* sbatch takes our place: its exit code is ours. */
static int submit(struct cli *cli, const char *script, size_t first,
		  struct error *err)
{
	char *args[ARGS_MAX];
	size_t n = 0;

	args[n++] = (char *)"sbatch";
	for (size_t i = first; i < cli->arg_count; i++)
		args[n++] = (char *)cli->args[i];
	args[n++] = (char *)script;
	args[n] = NULL;
	fflush(cli->out);
	execvp(args[0], args);
	return error_set(err, ENOENT,
			 "sbatch cannot be started (%s); is Slurm's command "
			 "line in PATH?",
			 strerror(errno));
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(buffer_clear) struct buffer script;
	const char *resume = given(cli)->resume;
	char folder[PATH_MAX], path[PATH_MAX + 16];

	if (resume) {
		if (snprintf(path, sizeof(path), "%s/job.sh", resume) >=
			    (int)sizeof(path) ||
		    access(path, R_OK) < 0)
			return error_set(err, EINVAL,
					 "--resume: '%.200s' is not valid "
					 "here; expected the folder of an "
					 "earlier regatta slurm",
					 resume);
		if (folder_begin_again(resume, err) < 0)
			return -1;
		return submit(cli, path, 0, err);
	}
	if (!cli->arg_count)
		return error_set(err, EINVAL,
				 "slurm: missing argument SWEEP (expected "
				 "regatta slurm SWEEP [-- SBATCH-OPTIONS])");
	buffer_init(&script, SCRIPT_MAX);
	if (make_script(cli, &script, folder, err) < 0)
		return -1;
	if (given(cli)->print) {
		fwrite(script.data, 1, script.size, cli->out);
		return EXIT_GOOD;
	}
	snprintf(path, sizeof(path), "%s/job.sh", folder);
	if (access(path, F_OK) == 0)
		return error_set(err, EEXIST,
				 "%.200s: the folder has an earlier run; "
				 "regatta slurm --resume continues it",
				 folder);
	if (file_make_folders(folder, 0700, err) < 0 ||
	    file_write(AT_FDCWD, path, script.data, script.size, 0700, 1, err) <
		    0)
		return -1;
	cli_say(cli, "state, logs and results: %s", folder);
	cli_say(cli, "output of the Slurm job: %s/slurm.log", folder);
	return submit(cli, path, 1, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(options, "state", 0, OPTION_TEXT, state, "DIR"),
	  .help = "new folder for the files of the run, on a file system that "
		  "all nodes share (./regatta-slurm-SWEEP-DATE-TIME)" },
	{ OPTION(slurm_options, "resume", 0, OPTION_TEXT, resume, "DIR"),
	  .help = "submit the job of that folder again, to run the remaining "
		  "cells" },
	{ OPTION(slurm_options, "allocations", 0, OPTION_NUMBER, allocations,
		 "N"),
	  .min = 1,
	  .max = 1000, .help = "run the sweep in N allocations, which share one "
			       "controller (1)" },
	{ OPTION(slurm_options, "print", 0, OPTION_FLAG, print, NULL),
	  .help = "print the script without submitting it" },
	{ OPTION(slurm_options, "site", 0, OPTION_TEXT, site, "FILE"),
	  .help = "lines for the beginning of the script: #SBATCH, modules, "
		  "variables",
	  .initial = installed_slurm_sh },
	{ OPTION(slurm_options, "engine", 0, OPTION_TEXT, engine, "HOST"),
	  .help = "container engine on each node (DOCKER_HOST there, the "
		  "machine's Docker, else the user's own Podman)" },
	OPTION_REGISTRY_AUTH("registry credentials (~/.docker/config.json)"),
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	{ 0 },
};

const struct command command_slurm = {
	.name = "slurm",
	.args = "SWEEP [-- SBATCH-OPTIONS] | --resume DIR",
	.max_args = ARGS_MAX - 6,
	.rules = rules,
	.options_size = sizeof(struct slurm_options),
	.summary = "run a sweep as a Slurm job",
	.help =
		"Submits a script that requests the nodes and devices of the "
		  "sweep's largest job, starts a controller on the first node "
		  "and an agent on each node, runs the sweep and exits with "
		  "its exit status. Nothing is installed or left on the "
		  "nodes. Two minutes before the time limit, running jobs are "
		  "stopped, collected and queued again. A requeued job, or "
		  "--resume, runs the remaining cells. sbatch receives the "
		  "arguments after --, and its exit status is that of this "
		  "command.",
	.example = "regatta slurm sweep.yaml -- -p gpu -t 8:00:00",
	.fn = run_command,
};
/* clang-format on */
