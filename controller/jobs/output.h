/* output.h - what follows for a job when output and files of its tasks arrive.
 */
#ifndef CONTROLLER_JOBS_OUTPUT_H
#define CONTROLLER_JOBS_OUTPUT_H

#include "controller/cluster/active_job.h"

/* A node sent bytes of a stream. The last ones of a job let it go on. */
void output_append(struct jobs *jobs, struct node *node,
		   const struct message_log *log, const void *data,
		   size_t size);

/* Compare the files that a task reports with its spec: files that are too many
 * or too large are dropped.
 */
void output_limit_files(struct task *task);

/* Is all output of the ended task here, and all that it collected? Files that
 * are not here are fetched; a file that the node cannot send is dropped.
 */
void output_check(struct task *task);

/* Files arrived, or more may be fetched: check the tasks that wait for files.
 * Jobs whose files are all here go on.
 */
void output_check_files(struct jobs *jobs);

/* Read stored output for a moment. Jobs whose output is read to its end go on.
 */
void output_read(struct jobs *jobs);

#endif
