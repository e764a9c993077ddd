/* log_ingest.h - receives the output of jobs and appends it to the log
 * store.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"

#define LOG_INGEST_CREDIT (8ULL << 20)   /* unacknowledged bytes of a node */
#define LOG_INGEST_CREDIT_MIN (64 << 10) /* the same with many nodes */

/* The arguments are borrowed. */
struct log_ingest;
struct log_ingest *log_ingest_new(const struct job_effects *effects,
				  struct changes *changes, struct error *err);
void log_ingest_free(struct log_ingest *ingest);

/* Bytes of output stored since the controller started. */
uint64_t log_ingest_stored_bytes(const struct log_ingest *ingest);

/* What came with the bytes of a stream: bits. */
enum log_found {
	LOG_EXPECTED = 1, /* the task has such a stream */
	LOG_STORED = 2,   /* bytes are stored that are not synced yet */
	LOG_CROWDED = 4,  /* they are dropped: the job has too many streams */
};

/* Bytes of a stream of an active task: appended if they continue it,
 * acknowledged either way. The node is cut off if the task has no such stream.
 * Returns what was found.
 */
unsigned int log_ingest_append(struct log_ingest *ingest,
			       const struct task *task,
			       const struct message_log *log, const void *data,
			       size_t size);

/* Send the node the stored length of each stream of the task. */
void log_ingest_tell_lengths(struct log_ingest *ingest,
			     const struct task *task);

/* Is all output of an ended task here? */
bool log_ingest_complete(const struct log_ingest *ingest,
			 const struct task *task);
