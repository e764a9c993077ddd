/* log_reading.h - reads metrics from one stream of stored output.
 *
 * If the format of the log is not known, the stored part is tried with all
 * formats, again and again as it grows (format_choice.h). The format that fits
 * then reads the stream from its first byte on.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/cluster/effects.h"
#include "controller/results/extract.h"
#include "controller/results/format_choice.h"
#include "controller/results/likely_lines.h"

/* The compiled log rules of a catalog's frameworks, made at
 * first use.
 */

struct log_formats;

/* catalog is borrowed; NULL: there are no formats. Returns NULL on ENOMEM. */
struct log_formats *log_formats_new(const struct catalog *catalog,
				    struct error *err);
void log_formats_free(struct log_formats *formats);

/* The compiled rules of a framework that has rules, borrowed. NULL: they do not
 * compile; that is logged once.
 */
struct extract_rules *log_formats_rules(struct log_formats *formats,
					const struct framework *framework);

/* The same of a framework of any catalog; the caller frees them. */
struct extract_rules *log_formats_compile(const struct catalog *catalog,
					  const struct framework *framework);

/* The formats that a log is tried with; NULL past the last. A framework that
 * only reuses the rules of others is not among them.
 */
const struct framework *log_formats_tried(const struct log_formats *formats,
					  size_t number);

/* The job, and the rules for its output; all is borrowed. */
struct log_source {
	const struct job_effects *effects;
	uint64_t job;
	uint32_t attempt;
	struct extract_rules *rules; /* NULL: detect the format */
	struct log_formats *formats; /* among these */
};

struct log_reading;
struct log_reading *log_reading_new(const struct log_source *source,
				    const char *stream);
void log_reading_free(struct log_reading *reading);
OWNED_POINTER(struct log_reading, log_reading_free)

/* Read up to size bytes on, through piece; true: there may be more. *changed is
 * set when figures changed.
 */
bool log_reading_some(struct log_reading *reading, char *piece, size_t size,
		      bool *changed);

/* If nothing more will be stored: is everything read? */
bool log_reading_done(struct log_reading *reading);

/* The rules read nothing: detect the format, and read again. */
void log_reading_detect(struct log_reading *reading);

/* Forget its figures, and read no more. */
void log_reading_give_up(struct log_reading *reading);

/* Everything is read. May be called twice. */
void log_reading_finish(struct log_reading *reading);

const char *log_reading_stream(const struct log_reading *reading);

/* The metrics read; NULL: no format is known. */
struct extract *log_reading_extract(const struct log_reading *reading);

/* The detected format, or NULL. Does another one fit equally well, and read
 * different metrics? If the rules read nothing, or none fit: the lines that
 * look most like metrics; borrowed.
 */
const struct framework *log_reading_format(const struct log_reading *reading);
bool log_reading_tied(const struct log_reading *reading);
size_t log_reading_likely(const struct log_reading *reading,
			  const char (**lines)[LIKELY_LINE_BYTES]);
