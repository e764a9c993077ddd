/* pods.h - keeps a Job of Kubernetes for each job of a run that waits for
 * nodes, and removes it once the job is over.
 *
 * A process of its own beside the run's controller, as srun is with Slurm. It
 * keeps nothing: names and labels of the Jobs say what they are for, so another
 * one goes on after a kill -9. The pods' agents join the controller with the
 * token of their Job, and get the label by which the controller gives them
 * their job. At its end it removes all that the run has created.
 */
#pragma once

#include "controller/cli/cli.h"

/* Serve the run of cli->options->state, whose choices.json has the object
 * "k8s": objects and words (manifest.h), at_once, kubectl (a list of its
 * options). Until SIGTERM, or until the pipe parent_fd ends.
 */
int pods_serve(struct cli *cli, int parent_fd, struct error *err);
