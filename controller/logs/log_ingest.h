/* log_ingest.h - receives the output of jobs and appends it to the log
 * store.
 */
#ifndef CONTROLLER_LOGS_LOG_INGEST_H
#define CONTROLLER_LOGS_LOG_INGEST_H

#include "controller/cluster/active_job.h"
#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"

#define LOG_INGEST_CREDIT (8ULL << 20)   /* bytes a node may have under way */
#define LOG_INGEST_CREDIT_MIN (64 << 10) /* where there are many nodes */

/* What it is given is borrowed; `reader` is told what came. */
struct log_ingest;
struct log_reader;
struct log_ingest *log_ingest_new(const struct job_effects *effects,
				  struct changes *changes,
				  const struct job_table *table,
				  struct log_reader *reader, struct error *err);
void log_ingest_free(struct log_ingest *ingest);

/* Of output, since the controller began. */
uint64_t log_ingest_stored_bytes(const struct log_ingest *ingest);

/* Bytes of a stream: appended if they continue it, acknowledged either way. */
void log_ingest_log(struct log_ingest *ingest, struct node *node,
		    const struct message_log *log, const void *data,
		    size_t size);

/* Tell the node how far each stream has come that the task has or told of. */
void log_ingest_tell_lengths(struct log_ingest *ingest, struct task *task);

/* The task has ended: are all its output and files here? task_collected() is
 * true then.
 */
void log_ingest_check(struct log_ingest *ingest, struct task *task);

#endif
