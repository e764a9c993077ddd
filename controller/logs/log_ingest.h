/* log_ingest.h - receives the output of jobs and appends it to the log
 * store.
 */
#ifndef CONTROLLER_LOGS_LOG_INGEST_H
#define CONTROLLER_LOGS_LOG_INGEST_H

#include "controller/cluster/active_job.h"
#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"

#define LOG_INGEST_CREDIT (8ULL << 20)   /* unacknowledged bytes of a node */
#define LOG_INGEST_CREDIT_MIN (64 << 10) /* the same with many nodes */

/* The arguments are borrowed. New output is reported to `reader`. */
struct log_ingest;
struct log_reader;
struct log_ingest *log_ingest_new(const struct job_effects *effects,
				  struct changes *changes,
				  const struct job_table *table,
				  struct log_reader *reader, struct error *err);
void log_ingest_free(struct log_ingest *ingest);

/* Bytes of output stored since the controller started. */
uint64_t log_ingest_stored_bytes(const struct log_ingest *ingest);

/* Bytes of a stream: appended if they continue it, acknowledged either way. */
void log_ingest_log(struct log_ingest *ingest, struct node *node,
		    const struct message_log *log, const void *data,
		    size_t size);

/* Send the node the stored length of each stream of the task. */
void log_ingest_tell_lengths(struct log_ingest *ingest, struct task *task);

/* Check whether all output and files of an ended task are here; then
 * task_collected() becomes true.
 */
void log_ingest_check(struct log_ingest *ingest, struct task *task);

#endif
