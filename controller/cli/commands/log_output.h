/* log_output.h - the bytes of one stream of a job's output, as a person reads
 * them.
 *
 * Bytes go out as they are; or in whole lines, each behind its time and the
 * name of its stream, where the streams of a job are mixed.
 */
#ifndef CONTROLLER_CLI_COMMANDS_LOG_OUTPUT_H
#define CONTROLLER_CLI_COMMANDS_LOG_OUTPUT_H

#include "controller/cli/terminal_text.h"
#include "protocol/base/buffer.h"
#include "protocol/message/reply_logs.h"

/* Of all streams of a job. */
struct line_style {
	FILE *out;
	bool harmless;   /* for a terminal */
	bool timestamps; /* before each line */
	bool names;      /* before each line */
};

/* Starts by log_output_init(); style and name are borrowed. */
struct log_output {
	const struct line_style *style;
	const char *name;
	struct terminal_text shown;
	int64_t time_ms;    /* when the last byte came, as far as known */
	struct buffer held; /* a line whose end has not come */
	int64_t held_ms;    /* when its first byte came */
};
void log_output_init(struct log_output *output, const struct line_style *style,
		     const char *name);

/* A piece that begins at this offset; times: when its lines came, ascending. */
int log_output_put(struct log_output *output, const char *data, size_t size,
		   uint64_t offset, const struct log_time *times,
		   size_t times_count, struct error *err);

/* The last line has no end. */
void log_output_end(struct log_output *output);
void log_output_clear(struct log_output *output);

#endif
