/* log_ingest.h - the jobs' output comes in: to the log store, and to the
 * readers.
 */
#ifndef CONTROLLER_LOGS_LOG_INGEST_H
#define CONTROLLER_LOGS_LOG_INGEST_H

#include "controller/cluster/cluster.h"
#include "controller/results/format_choice.h"
#include "protocol/message/stream_index.h"

/* Reading one stream for its metrics. */
struct log_reading {
	char stream[STREAM_INDEX_NAME_MAX + 1];
	struct format_choice *choice; /* of one format, where it is named */
	struct extract *extract;      /* of the choice: what it comes to */
	uint64_t offset;
	bool finished;
	bool broken; /* the stored output cannot be read */
};

#define LOG_INGEST_CREDIT (8ULL << 20) /* bytes a node may have under way */

int log_ingest_open(struct cluster *cluster, struct error *err);
void log_ingest_close(struct cluster *cluster); /* after the last job is gone */
/* What was read of the gang's output is no longer needed. */
void log_ingest_forget(struct cluster *cluster, struct gang *gang);

/* Of output, since the controller began. */
uint64_t log_ingest_stored_bytes(const struct cluster *cluster);

/* Bytes of a stream: appended if they continue it, acknowledged either way. */
void log_ingest_log(struct cluster *cluster, struct node *node,
		    const struct message_log *log, const void *data,
		    size_t size);

/* Tell the node how far each stream has come that the task has or told of. */
void log_ingest_tell_lengths(struct cluster *cluster, struct task *task);

/* The task has ended: are all its output and files here? Sets task->collected.
 */
void log_ingest_check(struct cluster *cluster, struct task *task);

/* The log rules of the job's format, or those of the first one that is tried;
 * NULL: it has none.
 */
struct extract_rules *log_ingest_rules(struct cluster *cluster,
				       const struct job *job);

/* The format of the job's log: the one that was named, or that was found once
 * all is read; NULL: none.
 */
const struct framework *log_ingest_format(const struct cluster *cluster,
					  const struct gang *gang);

/* Do two formats fit the log as well, and read other figures? */
bool log_ingest_tied(const struct gang *gang);

/* Go on reading, a few pieces of several jobs; asks to be called again when
 * there is more.
 */
void intake_read(struct cluster *cluster);

/* Is all output read that holds metrics? If not, reading goes on in the
 * background and gang_advance() is called when it is.
 */
bool log_ingest_read_all(struct cluster *cluster, struct job *job);

/* The last figures read; NULL: none yet. */
const struct record *log_ingest_latest(const struct gang *gang);

#endif
