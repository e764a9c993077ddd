/* log_output.h - prints one stream of a job's output.
 *
 * Bytes are printed unchanged; or, where streams are mixed, as whole lines
 * after their time and the name of their stream.
 */
#ifndef CONTROLLER_CLI_COMMANDS_LOG_OUTPUT_H
#define CONTROLLER_CLI_COMMANDS_LOG_OUTPUT_H

#include "controller/cli/terminal_text.h"
#include "protocol/base/buffer.h"
#include "protocol/message/reply_logs.h"

/* The style of all streams of a job. */
struct line_style {
	FILE *out;
	bool escape;     /* escape control characters, for a terminal */
	bool timestamps; /* before each line */
	bool names;      /* before each line */
};

/* Initialised by log_output_init(). style and name are borrowed. */
struct log_output {
	const struct line_style *style;
	const char *name;
	struct terminal_text shown;
	int64_t time_ms;    /* arrival of the last byte, if known */
	struct buffer held; /* an incomplete line */
	int64_t held_ms;    /* arrival of its first byte */
};
void log_output_init(struct log_output *output, const struct line_style *style,
		     const char *name);

/* Print a piece that begins at this offset. times: arrival times, ascending. */
int log_output_put(struct log_output *output, const char *data, size_t size,
		   uint64_t offset, const struct log_time *times,
		   size_t times_count, struct error *err);

/* Print an incomplete last line. */
void log_output_end(struct log_output *output);
void log_output_clear(struct log_output *output);

#endif
