/* setup.h - prepares everything that `regatta run` needs before it starts
 * daemons.
 *
 * It reads the sweep and checks that it fits this machine, checks that the
 * engine answers, finds programs and credentials, and makes and locks the run's
 * folder.
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/cli/input.h"
#include "controller/cli/run/daemons.h"
#include "protocol/base/error.h"

#include <stdbool.h>

/* Runs the agents of an allocation for a run that another allocation
 * leads.
 *
 * The agents read the controller's address from the folder, and follow it when
 * it changes. If the leader ends before the sweep, the first allocation that
 * locks the folder becomes the leader.
 */

/* All borrowed. */
struct follower {
	struct run_setup *setup;
	struct daemons *daemons;
	sd_event *loop;
	const bool *interrupted; /* set by callbacks */
	const bool *left;        /* all agents have left (daemons.h) */
};

/* Run until the sweep ends or this allocation becomes the leader. Returns 1: it
 * leads now; 0: the sweep has ended with *code, and the agents have left.
 */
int follow_run(const struct follower *follow, int *code, struct error *err);

/* Checks whether a Docker engine can be reached at an address. */

#define PROBE_MS 5000

/* Connect to the engine at unix:///PATH or tcp://HOST:PORT and disconnect.
 * OWN_ENGINE succeeds if the user has an engine or can start a Podman service.
 * Waits at most PROBE_MS for each address of HOST. EINVAL: the address is not
 * valid; ECONNREFUSED: no answer; the text names the address and says what to
 * do.
 */
int probe_engine(const char *host, struct error *err);

/* Does the engine at unix:///PATH (or OWN_ENGINE) take connections, but leave a
 * request without an answer for PROBE_MS? False for other addresses.
 */
bool probe_is_silent(const char *host);

struct run_options {
	struct options common;
	const char *resume;
	const char *engine;
	const char *engine_tls;
	uint64_t devices;
	const char *only_devices;
	bool keep;
	bool slurm;
	bool join;
	const char *notify;
	const cJSON *k8s;    /* the guest's choices (pods.h); NULL: no pods */
	const char *address; /* of the controller, for its pods */
};

/* Must be zeroed before run_setup_open(). */
struct run_setup {
	struct cli *cli;
	struct input input;
	struct folder folder;
	struct allocation allocation; /* with --slurm */
	bool follows; /* with --join: another allocation leads */
	int outcome;  /* the exit code of an ended sweep; -1: not ended */
	struct daemons_config config; /* points to members of this struct */
	char paths[4][PATH_MAX];      /* of the programs, and of the images */
	char guest[PATH_MAX];         /* of this program */
	char credentials[PATH_MAX];
	cJSON *choices; /* of an earlier run in the folder, or NULL */
	char vendor[64];
	bool exclusive;        /* a job uses whole nodes */
	double cpus_of_device; /* the largest need of any job */
};

/* Prepare a new or resumed run by the command line (struct run_options).
 * EINVAL: the sweep needs more than this machine has; ENOTCONN: no engine
 * answers; errors of folder_make() and folder_resume().
 */
int run_setup_open(struct run_setup *setup, struct cli *cli, struct error *err);
void run_setup_clear(struct run_setup *setup);
