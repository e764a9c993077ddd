/* slurm.c - slurm: runs a sweep as a Slurm job.
 *
 * The job's script runs `regatta run --slurm`, which starts a controller on its
 * first node and an agent on each. A job that is requeued, or submitted again
 * with --resume, goes on with the folder.
 */
#include "controller/cli/command.h"
#include "controller/cli/input.h"
#include "controller/cli/run/folder.h"
#include "controller/report/writer.h"
#include "protocol/base/file.h"
#include "protocol/base/program.h"
#include "protocol/config/installed.h"

#include <errno.h>
#include <fcntl.h>
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

static const struct slurm_options *slurm_options_given(const struct cli *cli)
{
	return cli->given;
}

/* escape_fn: in single quotes for the shell. */
static int shell_quote(struct buffer *out, const char *text, struct error *err)
{
	if (buffer_append(out, "'", 1, err) < 0)
		return -1;
	for (; *text; text++)
		if (buffer_append(out, *text == '\'' ? "'\\''" : text,
				  *text == '\'' ? 4 : 1, err) < 0)
			return -1;
	return buffer_append(out, "'", 1, err);
}

static void put_option(struct writer *to, const char *name, const char *text)
{
	if (!text)
		return;
	writer_raw(to, name);
	writer_printf(to, " %s", text);
}

/* The most that any job needs. */
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

/* Whole nodes; of shared nodes, what the sweep requests. */
static void put_share(struct writer *to, const struct need *need)
{
	size_t mib = (size_t)(need->memory_bytes >> 20);

	if (need->alone) {
		writer_raw(to, "#SBATCH --exclusive\n#SBATCH --mem=0\n");
		return;
	}
	if (need->cpus > 0)
		writer_printf(to, "#SBATCH --cpus-per-task=%.0f\n",
			      ceil(need->cpus));
	if (mib)
		writer_printf(to, "#SBATCH --mem=%zuM\n", mib);
}

static void script_put_head(const struct cli *cli, struct writer *to,
			    const struct need *need, const char *sweep,
			    const char *folder)
{
	uint64_t allocations = slurm_options_given(cli)->allocations;

	writer_raw(to, "#!/bin/bash\n#SBATCH --job-name=regatta-");
	writer_raw(to, sweep);
	writer_printf(to,
		      "\n#SBATCH --nodes=%zu\n"
		      "#SBATCH --ntasks-per-node=1\n"
		      "#SBATCH --signal=B:TERM@%d\n"
		      "#SBATCH --requeue\n"
		      "#SBATCH --open-mode=append\n"
		      "#SBATCH --output=",
		      (size_t)need->nodes, WARN_S);
	writer_raw(to, folder);
	writer_raw(to, "/slurm.log\n");
	put_share(to, need);
	if (allocations != OPTION_NONE && allocations > 1)
		writer_printf(to, "#SBATCH --array=1-%zu\n",
			      (size_t)allocations);
	if (strcmp(need->vendor, "cpu") != 0)
		writer_printf(to, "#SBATCH --gres=gpu:%zu\n",
			      (size_t)need->devices);
}

/* The lines that a site needs: #SBATCH, modules, variables. */
static int put_site(const struct cli *cli, struct writer *to, struct error *err)
{
	const char *site = slurm_options_given(cli)->site
				   ? slurm_options_given(cli)->site
				   : installed_slurm_sh;
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SITE_MAX);

	if (!slurm_options_given(cli)->site && access(site, F_OK) < 0)
		return 0;
	if (file_read(AT_FDCWD, site, &text, err) < 0)
		return error_prefix(err, "site");
	writer_raw(to, text.data);
	writer_raw(to, "\n");
	return 0;
}

static void put_run(const struct cli *cli, const char *program,
		    const char *folder, const char *sweep, struct writer *to)
{
	const struct options *options = cli->options;

	writer_printf(to,
		      "\numask 077\nstate=%s\nregatta=%s\nexec \"$regatta\" "
		      "run "
		      "--slurm --join --state \"$state\"",
		      folder, program);
	put_option(to, " --images", options->images);
	put_option(to, " --registry-auth", options->registry_auth);
	put_option(to, " --tree", options->tree);
	put_option(to, " --engine", slurm_options_given(cli)->engine);
	for (size_t i = 0; i < options->set.count; i++)
		put_option(to, " --set", options->set.items[i]);
	writer_raw(to, options->keep_going ? " --keep-going" : "");
	writer_printf(to, " %s\n", sweep);
}

/* sbatch splits the path of its log at blanks. */
static int choose_folder(const struct cli *cli, const struct input *input,
			 char folder[PATH_MAX], struct error *err)
{
	char made[FOLDER_NAME_SIZE], here[PATH_MAX];
	const char *state = slurm_options_given(cli)->common.state;
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
	struct need need = { 0 };
	struct writer to;

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
	if (find_need(input.sweep, &need, err) < 0)
		return -1;
	writer_init(&to, script, shell_quote);
	script_put_head(cli, &to, &need, sweep_name(input.sweep), folder);
	if (put_site(cli, &to, err) < 0)
		return -1;
	put_run(cli, program, folder, sweep, &to);
	return writer_end(&to, err);
}

/* Replace this process by sbatch, so that its exit code is the exit code. */
static int script_submit(struct cli *cli, const char *script, size_t first,
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

static int slurm_command(struct cli *cli, struct error *err)
{
	owned(buffer_clear) struct buffer script = BUFFER_INIT(SCRIPT_MAX);
	const char *resume = slurm_options_given(cli)->resume;
	char folder[PATH_MAX], path[PATH_MAX + 16];

	if (resume && (slurm_options_given(cli)->common.state ||
		       slurm_options_given(cli)->common.set.count))
		return error_set(err, EINVAL,
				 "--resume DIR excludes --set and --state: the "
				 "folder has its sweep; what is changed is run "
				 "in a new folder");
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
		return script_submit(cli, path, 0, err);
	}
	if (!cli->arg_count)
		return error_set(err, EINVAL,
				 "slurm: missing argument SWEEP (expected "
				 "regatta slurm SWEEP [-- SBATCH-OPTIONS])");
	if (make_script(cli, &script, folder, err) < 0)
		return -1;
	if (slurm_options_given(cli)->print) {
		fwrite(script.data, 1, script.size, cli->out);
		return EXIT_GOOD;
	}
	snprintf(path, sizeof(path), "%s/job.sh", folder);
	if (access(path, F_OK) == 0)
		return error_set(err, EEXIST,
				 "%.200s: the folder has an earlier run; "
				 "regatta slurm --resume %.200s continues it",
				 folder, folder);
	if (file_make_folders(folder, 0700, err) < 0 ||
	    file_write(AT_FDCWD, path, script.data, script.size, 0700, 1, err) <
		    0)
		return -1;
	cli_say(cli, "state, logs and results: %s", folder);
	cli_say(cli, "output of the Slurm job: %s/slurm.log", folder);
	return script_submit(cli, path, 1, err);
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
	.fn = slurm_command,
};
/* clang-format on */
