/* tell.h - what nodes are told to do with tasks.
 *
 * Orders wait in the wire's queue until the commit of the turn. A node that is
 * not there is told nothing: when it reports, it is reminded.
 */
#ifndef CONTROLLER_CLUSTER_TELL_H
#define CONTROLLER_CLUSTER_TELL_H

#include "controller/cluster/cluster.h"

/* No-op while the task has to wait for what its image means (pin.h). */
void tell_prepare(struct task *task);
void tell_start(struct task *task);
void tell_stop(struct task *task);

/* Also of tasks that no job knows any more. */
void tell_discard(struct cluster *cluster, struct node *node, uint64_t job,
		  uint32_t attempt, uint32_t rank);

#endif
