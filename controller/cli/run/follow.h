/* follow.h - an allocation whose nodes work for a run that another one leads.
 *
 * Its agents read where the controller is in the folder, and go on where it
 * moves. When the one that leads ends before the sweep does, whoever locks the
 * folder first leads.
 */
#ifndef CONTROLLER_CLI_RUN_FOLLOW_H
#define CONTROLLER_CLI_RUN_FOLLOW_H

#include "controller/cli/run/setup.h"

/* Borrowed. */
struct follower {
	struct run_setup *setup;
	struct daemons *daemons;
	sd_event *loop;
	const bool *interrupted; /* set by callbacks */
	const bool *left;        /* the agents have, daemons.h */
};

/* Until the sweep ends: *code is that of the run, and the agents have left.
 * Returns 1 when this allocation leads from now on, 0 when it is over.
 */
int follow_run(const struct follower *follow, int *code, struct error *err);

#endif
