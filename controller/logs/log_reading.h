/* log_reading.h - reads one stream of stored output for its figures.
 *
 * The format of a log is named, or it is found: then what is stored so far is
 * tried with all formats, again and again as it grows (format_trial.h), and the
 * one that fits reads the stream from its first byte on.
 */
#ifndef CONTROLLER_LOGS_LOG_READING_H
#define CONTROLLER_LOGS_LOG_READING_H

#include "controller/catalog/catalog.h"
#include "controller/cluster/effects.h"
#include "controller/logs/log_formats.h"
#include "controller/results/extract.h"
#include "controller/results/likely_lines.h"

/* Whose output it is, and how it is read; all is borrowed. */
struct log_source {
	const struct job_effects *effects;
	uint64_t job;
	uint32_t attempt;
	struct extract_rules *rules; /* NULL: the format is to be found */
	struct log_formats *formats; /* among these */
};

struct log_reading;
struct log_reading *log_reading_new(const struct log_source *source,
				    const char *stream);
void log_reading_free(struct log_reading *reading);
OWNED_POINTER(struct log_reading, log_reading_free)

/* Read up to size bytes on, through piece; true: there may be more. *changed is
 * set when there are other figures than before.
 */
bool log_reading_some(struct log_reading *reading, char *piece, size_t size,
		      bool *changed);

/* Nothing more will be stored: is all of it read? */
bool log_reading_done(struct log_reading *reading);

/* All is read. Again is fine. */
void log_reading_finish(struct log_reading *reading);

const char *log_reading_stream(const struct log_reading *reading);

/* What was read; NULL: no format is known. */
struct extract *log_reading_extract(const struct log_reading *reading);

/* Of a format that was to be found: the one that fits; NULL: none. Does another
 * one fit as well, and read other figures? Where the rules read nothing, or
 * none fit: the lines that look most like figures; borrowed.
 */
const struct framework *log_reading_format(const struct log_reading *reading);
bool log_reading_tied(const struct log_reading *reading);
size_t log_reading_likely(const struct log_reading *reading,
			  const char (**lines)[LIKELY_LINE_BYTES]);

#endif
