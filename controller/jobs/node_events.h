/* node_events.h - handles what nodes report of their tasks, and nodes that
 * are lost.
 */
#ifndef CONTROLLER_JOBS_NODE_EVENTS_H
#define CONTROLLER_JOBS_NODE_EVENTS_H

#include "controller/cluster/active_job.h"

/* A node says what it has, all of it; it is told what it should do. */
void node_event_report(struct jobs *jobs, struct node *node,
		       const struct message_report *report);

/* A node says what became of one task. */
void node_event_status(struct jobs *jobs, struct node *node,
		       const struct task_status *status);
void node_event_progress(struct jobs *jobs, struct node *node,
			 const struct message_progress *progress);
void node_event_discarded(struct jobs *jobs, struct node *node,
			  const struct message_discard *discarded);

/* The node leaves: what runs on it ends, and is queued again. */
void node_event_leaving(struct jobs *jobs, struct node *node);
/* The node was out of reach for too long, or is removed: its tasks count as
 * lost, and it is told to remove them, where it can be. why: a sentence.
 */
void node_event_lost(struct jobs *jobs, struct node *node, const char *why);
/* The node's session ended: it will be asked again when it is back. */
void node_event_gone(struct jobs *jobs, struct node *node);

#endif
