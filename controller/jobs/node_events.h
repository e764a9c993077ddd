/* node_events.h - handles what nodes report of their tasks, and nodes that
 * are lost.
 */
#pragma once

#include "controller/cluster/active_job.h"

/* What follows for a job when output and files of its tasks arrive. */

/* A node sent bytes of a stream. The last ones of a job let it go on. */
void output_append(struct jobs *jobs, struct node *node,
		   const struct message_log *log, const void *data,
		   size_t size);

/* Compare the files that a task reports with its spec: files that are too many
 * or too large are dropped.
 */
void output_limit_files(struct task *task);

/* Files arrived, or more may be fetched: check the tasks that wait for files.
 * Jobs whose files are all here go on.
 */
void output_check_files(struct jobs *jobs);

/* Read stored output for a moment. Jobs whose output is read to its end go on.
 */
void output_read(struct jobs *jobs);

/* A node reports all its tasks; it is sent the commands that they need. */
void node_event_report(struct jobs *jobs, struct node *node,
		       const struct message_report *report);

/* A node reports the status of one task, the progress of its image, or that the
 * task is discarded.
 */
void node_event_status(struct jobs *jobs, struct node *node,
		       const struct task_status *status);
void node_event_progress(struct jobs *jobs, struct node *node,
			 const struct message_progress *progress);
void node_event_discarded(struct jobs *jobs, struct node *node,
			  const struct message_discard *discarded);

/* Jobs that hold one of these devices (one bit each) get JOB_EVENT_DEVICE, and
 * go on.
 */
void node_event_devices(struct node *node, uint64_t lost);

/* Its engine went away, or came back. */
void node_event_engine(struct jobs *jobs, struct node *node);

/* The node was disconnected for too long, or is removed: its tasks are lost. If
 * it is connected, it is told to discard them. why: a sentence.
 */
void node_event_lost(struct jobs *jobs, struct node *node, const char *why);
/* The node's session has ended; its tasks stay until it is lost. */
void node_event_gone(struct jobs *jobs, struct node *node);
