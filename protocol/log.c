/* log.c - one fact a line on stderr, with the level as the journal reads it.
 */
#include "protocol/log.h"
#include "protocol/printable.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static enum log_level log_limit = LOG_INFO;
static enum log_style log_form = LOG_STYLE_TIME;

void log_set_level(enum log_level level)
{
	log_limit = level;
}

void log_set_style(enum log_style style)
{
	log_form = style;
}

static int log_head(char *line, size_t size, enum log_level level)
{
	static const char letters[] = "???EW?ID";
	struct timespec now;
	struct tm tm;

	if (log_form == LOG_STYLE_JOURNAL)
		return snprintf(line, size, "<%d>", (int)level);
	clock_gettime(CLOCK_REALTIME, &now);
	if (!localtime_r(&now.tv_sec, &tm))
		return 0;
	return snprintf(line, size, "%02d:%02d:%02d.%03ld %c ", tm.tm_hour,
			tm.tm_min, tm.tm_sec, now.tv_nsec / 1000000,
			letters[level]);
}

void log_line(enum log_level level, const char *fmt, ...)
{
	char line[2001];
	int head, body;
	size_t length;
	va_list args;
	ssize_t ignored;

	if (level > log_limit)
		return;
	head = log_head(line, sizeof(line), level);
	va_start(args, fmt);
	body = vsnprintf(line + head, sizeof(line) - (size_t)head, fmt, args);
	va_end(args);
	length = (size_t)head + (body > 0 ? (size_t)body : 0);
	if (length > sizeof(line) - 1)
		length = sizeof(line) - 1;
	printable(line, length);
	line[length++] = '\n';
	/* A lost log line must not become an error of the caller's. */
	ignored = write(STDERR_FILENO, line, length);
	(void)ignored;
}
