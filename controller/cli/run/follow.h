/* follow.h - runs the agents of an allocation for a run that another allocation
 * leads.
 *
 * The agents read the controller's address from the folder, and follow it when
 * it changes. If the leader ends before the sweep, the first allocation that
 * locks the folder becomes the leader.
 */
#ifndef CONTROLLER_CLI_RUN_FOLLOW_H
#define CONTROLLER_CLI_RUN_FOLLOW_H

#include "controller/cli/run/setup.h"

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

#endif
