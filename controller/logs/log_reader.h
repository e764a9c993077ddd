/* log_reader.h - reads the stored output of jobs for its figures.
 *
 * Readers follow the stored files, never the wire: after a restart they read
 * the same bytes again and come to the same figures. What was read of a gang's
 * output is its `output`.
 */
#ifndef CONTROLLER_LOGS_LOG_READER_H
#define CONTROLLER_LOGS_LOG_READER_H

#include "controller/cluster/active_job.h"
#include "controller/cluster/effects.h"
#include "controller/cluster/changes.h"
#include "controller/results/likely_lines.h"

struct catalog;
struct framework;

/* What it is given is borrowed. catalog NULL: there are no formats. */
struct log_reader;
struct log_reader *log_reader_new(const struct job_effects *effects,
				  struct changes *changes,
				  const struct catalog *catalog,
				  struct error *err);
void log_reader_free(struct log_reader *reader); /* after the last gang */

/* Bytes of that stream of the task were stored. */
void log_reader_wake(struct log_reader *reader, const struct task *task,
		     const char *stream);

/* Go on reading, a few pieces of several jobs; asks to be called again when
 * there is more.
 */
void log_reader_run(struct log_reader *reader);

/* Is all output read that holds metrics? If not, reading goes on in the
 * background and gang_advance() is called when it is.
 */
bool log_reader_done(struct log_reader *reader, struct gang *gang);

/* Are there rules that the gang's output is read by? Where neither a format nor
 * a framework is named, the format is found, as with `log: auto`.
 */
bool log_reader_reads(struct log_reader *reader, const struct gang *gang);

/* Do the rules of the job's format say what is a sign of life? Other output is
 * none then.
 */
bool log_reader_tells_life(struct log_reader *reader, const struct gang *gang);

/* Does the job name a format, auto too, or a framework? If not, it may well
 * print no figures.
 */
bool log_reader_named(const struct gang *gang);

/* The format of the gang's log: the one that was named, or that is found so
 * far; NULL: none.
 */
const struct framework *log_reader_format(const struct gang *gang);

/* Do two formats fit the log as well, and read other figures? */
bool log_reader_tied(const struct gang *gang);

/* Where no format fits, or the one named reads nothing: the lines that look
 * most like figures; borrowed.
 */
size_t log_reader_likely(const struct gang *gang,
			 const char (**lines)[LIKELY_LINE_BYTES]);

/* The last figures read; NULL: none yet. */
const struct record *log_reader_latest(const struct gang *gang);

/* Once all is read: all figures, of the streams together; NULL: there are none.
 * The streams by number; NULL: no more. What the nodes' samples say.
 */
const struct extract *log_reader_extract(const struct gang *gang);
const char *log_reader_stream(const struct gang *gang, size_t number);
const struct samplings *log_reader_samplings(const struct gang *gang);

/* What was read of the gang's output is no longer needed. */
void gang_output_free(struct gang_output *output);

#endif
