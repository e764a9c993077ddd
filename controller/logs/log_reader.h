/* log_reader.h - reads metrics from the stored output of jobs.
 *
 * It reads the stored files, never messages: after a restart it reads the same
 * bytes again and gets the same metrics.
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"

struct catalog;
struct device_metrics; /* protocol/hardware/device_metrics.h */
struct framework;
struct log_reading;

/* The arguments are borrowed. catalog NULL: there are no formats. */
struct log_reader;
struct log_reader *log_reader_new(const struct job_effects *effects,
				  struct changes *changes,
				  const struct catalog *catalog,
				  struct error *err);
void log_reader_free(struct log_reader *reader); /* after the last gang */
OWNED_POINTER(struct log_reader, log_reader_free)

/* The reader's state for the output of a gang. The caller keeps it as
 * gang_output() and frees it before the gang.
 */
struct gang_output *gang_output_new(struct log_reader *reader,
				    struct gang *gang, struct error *err);
void gang_output_free(struct gang_output *output);

/* Bytes of that stream of the task were stored. It requests a call of
 * log_reader_next() (effects.h: read_soon).
 */
void log_reader_wake(const struct task *task, const char *stream);

/* What a turn of reading found. */
struct log_read {
	struct gang *gang; /* whose output was read */
	bool alive; /* it has a new sign of life (log_reader_tells_life) */
	bool whole; /* all of it that is stored is read */
};

/* Read a piece of the next job's output. False: nothing is left to read. */
bool log_reader_next(struct log_reader *reader, struct log_read *read);
/* After the last log_reader_next() of a turn: request the next turn. */
void log_reader_rest(struct log_reader *reader);

/* Is all output with metrics read? If not, reading continues in the background,
 * and log_reader_next() tells its end.
 */
bool log_reader_done(const struct gang *gang);

/* Are there log rules for the gang's output? If the job names neither a format
 * nor a framework, the format is detected, as with `log: auto`.
 */
bool log_reader_reads(struct log_reader *reader, const struct gang *gang);

/* Do the rules of the job's format define signs of life? Then other output is
 * none.
 */
bool log_reader_tells_life(struct log_reader *reader, const struct gang *gang);

/* Does the job name a format (or auto) or a framework? If not, it need not
 * print metrics.
 */
bool log_reader_named(const struct gang *gang);

/* The format of the gang's log: named, or detected so far; NULL: none. */
const struct framework *log_reader_format(const struct gang *gang);

/* The last metrics read; NULL: none yet. */
const struct record *log_reader_latest(const struct gang *gang);

/* The last readings of a device of a node, by rank and number; texts are
 * borrowed. gang may be NULL. False: there are no more devices.
 */
bool log_reader_device(const struct gang *gang, uint32_t rank, size_t device,
		       struct device_metrics *latest);

/* Once everything is read: the reading that has the metrics of all streams;
 * these metrics; the names of the streams by number; the nodes' samples. NULL:
 * there is none.
 */
const struct log_reading *log_reader_first(const struct gang *gang);
const struct extract *log_reader_extract(const struct gang *gang);
const char *log_reader_stream(const struct gang *gang, size_t number);
size_t log_reader_given_up(const struct gang *gang); /* followed files */
const struct samplings *log_reader_samplings(const struct gang *gang);
