/* log_output.c - prints one stream of a job's output.
 */
#include "controller/cli/commands/log_output.h"

#include "controller/report/terminal.h"

#include <string.h>
#include <time.h>

#define HELD_MAX 1048576 /* bytes of a line that waits for its end */
#define NAME_SHOWN 260

void log_output_init(struct log_output *output, const struct line_style *style,
		     const char *name)
{
	*output = (struct log_output){ .style = style, .name = name };
	buffer_init(&output->held, HELD_MAX);
}

static void put_prefix(const struct log_output *output, int64_t time_ms)
{
	const struct line_style *style = output->style;
	time_t seconds = (time_t)(time_ms / 1000);
	char name[NAME_SHOWN], text[40];
	struct tm tm;

	if (style->timestamps) {
		if (time_ms > 0 && gmtime_r(&seconds, &tm) &&
		    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
			fprintf(style->out, "%s.%03dZ ", text,
				(int)(time_ms % 1000));
		else
			fputs("- ", style->out);
	}
	if (style->names)
		fprintf(style->out, "[%s] ",
			escape(output->name, name, sizeof(name)));
}

static void log_output_write(struct log_output *output, const void *data,
			     size_t size)
{
	FILE *out = output->style->out;

	if (output->style->escape)
		terminal_text_write(&output->shown, out, data, size);
	else
		fwrite(data, 1, size, out);
}

static void log_output_put_line(struct log_output *output, int64_t time_ms,
				const void *data, size_t size)
{
	put_prefix(output, time_ms);
	log_output_write(output, data, size);
	/* The next line may be of another stream. */
	terminal_text_end(&output->shown, output->style->out);
	fputc('\n', output->style->out);
}

void log_output_end(struct log_output *output)
{
	if (output->held.size)
		log_output_put_line(output, output->held_ms, output->held.data,
				    output->held.size);
	buffer_clear(&output->held);
}

void log_output_clear(struct log_output *output)
{
	terminal_text_end(&output->shown, output->style->out);
	buffer_clear(&output->held);
}

/* Keep the beginning of a line; one beyond the limit is broken in two. */
static int log_output_hold(struct log_output *output, const char *data,
			   size_t size, struct error *err)
{
	if (output->held.size + size > HELD_MAX)
		log_output_end(output);
	if (!output->held.size)
		output->held_ms = output->time_ms;
	return buffer_append(&output->held, data, size, err);
}

int log_output_put(struct log_output *output, const char *data, size_t size,
		   uint64_t offset, const struct log_time *times,
		   size_t times_count, struct error *err)
{
	if (!output->style->timestamps && !output->style->names) {
		log_output_write(output, data, size);
		return 0;
	}
	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;

		for (; times_count && times->offset <= offset; times_count--)
			output->time_ms = times++->time_ms;
		if (end && !output->held.size)
			log_output_put_line(output, output->time_ms, data,
					    length);
		else if (log_output_hold(output, data, length, err) < 0)
			return -1;
		else if (end)
			log_output_end(output);
		length += end != NULL;
		data += length;
		size -= length;
		offset += length;
	}
	return 0;
}
