/* log_ingest.h - the jobs' output comes in: to the log store, and to the
 * readers.
 */
#ifndef CONTROLLER_LOGS_LOG_INGEST_H
#define CONTROLLER_LOGS_LOG_INGEST_H

#include "controller/cluster/cluster.h"
#include "controller/results/format_choice.h"
#include "controller/results/format_trial.h"
#include "controller/results/likely_lines.h"
#include "protocol/message/stream_index.h"

/* Reading one stream for its metrics. */
struct log_reading {
	char stream[STREAM_INDEX_NAME_MAX + 1];
	struct log_clock *clock;
	struct extract *extract; /* NULL: its format is not known yet */
	uint64_t offset;
	bool finished;
	bool broken; /* the stored output cannot be read */
	/* Where the format is to be found (format_trial.h): */
	const struct framework *format; /* NULL: none fits so far */
	uint64_t tried;                 /* the length when that was tried */
	bool sure;
	bool tied;
	char (*likely)[LIKELY_LINE_BYTES]; /* where none fits */
	size_t likely_count;
};

#define LOG_INGEST_CREDIT (8ULL << 20) /* bytes a node may have under way */
#define LOG_INGEST_CREDIT_MIN (64 << 10) /* where there are many nodes */

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

/* Are there rules that the job's output is read by? Where neither a format nor
 * a framework is named, the format is found, as with `log: auto`.
 */
bool log_ingest_reads(struct cluster *cluster, const struct job *job);

/* Does the job name a format, auto too, or a framework? If not, it may well
 * print no figures.
 */
bool log_ingest_named(const struct job *job);

/* The format of the job's log: the one that was named, or that is found so far;
 * NULL: none.
 */
const struct framework *log_ingest_format(const struct cluster *cluster,
					  const struct gang *gang);

/* Do two formats fit the log as well, and read other figures? */
bool log_ingest_tied(const struct gang *gang);

/* Where no format fits: the lines that look most like figures; borrowed. */
size_t log_ingest_likely(const struct gang *gang,
			 const char (**lines)[LIKELY_LINE_BYTES]);

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
