/* setup.h - what `regatta run` needs before it starts anything.
 *
 * The sweep is read and fits this machine, the engine answers, programs and
 * credentials are found, and the run's folder is there and locked.
 */
#ifndef CONTROLLER_CLI_RUN_SETUP_H
#define CONTROLLER_CLI_RUN_SETUP_H

#include "controller/cli/cli.h"
#include "controller/cli/input.h"
#include "controller/cli/run/daemons.h"

struct run_options {
	struct options common;
	const char *resume;
	const char *engine;
	const char *engine_tls;
	uint64_t devices;
	bool keep;
	bool slurm;
	bool join;
};

/* Starts as zeros. */
struct run_setup {
	struct cli *cli;
	struct input input;
	struct folder folder;
	struct allocation allocation; /* with --slurm */
	bool follows;                 /* with --join: another one leads, */
	int outcome; /* or the sweep has ended, with this code; -1: not */
	bool known;  /* the folder had a run already */
	struct daemons_config config; /* what it points to is here */
	char paths[4][PATH_MAX];      /* of the programs, and of the images */
	char credentials[PATH_MAX];
	cJSON *choices; /* of an earlier run in the folder, or NULL */
	char vendor[64];
	bool exclusive;        /* a job uses whole nodes */
	double cpus_of_device; /* the most that a job needs for each */
};

/* By the words and options of the command line (struct run_options): for a new
 * run, or for one that goes on in its folder. EINVAL: the sweep asks for more
 * than this machine has; ENOTCONN: no engine; and as folder_make() and
 * folder_resume() say.
 */
int run_setup_open(struct run_setup *setup, struct cli *cli, struct error *err);
void run_setup_clear(struct run_setup *setup);

#endif
