/* log_reader.h - reads metrics from the stored output of jobs.
 *
 * It reads the stored files, never messages: after a restart it reads the same
 * bytes again and gets the same metrics. Its state for a gang is gang_output().
 */
#ifndef CONTROLLER_LOGS_LOG_READER_H
#define CONTROLLER_LOGS_LOG_READER_H

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

/* Bytes of that stream of the task were stored. */
void log_reader_wake(struct log_reader *reader, const struct task *task,
		     const char *stream);

/* Read a few pieces of several jobs. If there is more, it requests another call
 * (effects.h: read_soon).
 */
void log_reader_run(struct log_reader *reader);

/* Is all output with metrics read? If not, reading continues in the background,
 * and gang_advance() is called at its end.
 */
bool log_reader_done(struct log_reader *reader, struct gang *gang);

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
const struct samplings *log_reader_samplings(const struct gang *gang);

/* Free the state for the gang's output. */
void gang_output_free(struct gang_output *output);

#endif
