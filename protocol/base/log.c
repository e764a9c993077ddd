/* log.c - the log on stderr: one fact per line, with its level for the
 * journal.
 */
#include "protocol/base/log.h"
#include "protocol/base/printable.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
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

	if (log_form != LOG_STYLE_TIME)
		return snprintf(line, size, "<%d>", (int)level);
	clock_gettime(CLOCK_REALTIME, &now);
	if (!localtime_r(&now.tv_sec, &tm))
		return 0;
	return snprintf(line, size, "%02d:%02d:%02d.%03ld %c ", tm.tm_hour,
			tm.tm_min, tm.tm_sec, now.tv_nsec / 1000000,
			letters[level]);
}

bool log_to_journal(const char *journal_stream)
{
	unsigned long long device, inode;
	struct stat st;

	return journal_stream &&
	       sscanf(journal_stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device &&
	       st.st_ino == inode;
}

size_t log_fields(const char *line,
		  char fields[LOG_FIELDS_MAX][LOG_FIELD_BYTES])
{
	size_t count = 0;

	while (*line && count < LOG_FIELDS_MAX) {
		size_t size = strcspn(line, " ");
		size_t key = strspn(line, "abcdefghijklmnopqrstuvwxyz_");

		if (key && key < size && line[key] == '=' && key + 1 < size) {
			char *field = fields[count++];

			snprintf(field, LOG_FIELD_BYTES, "REGATTA_%.*s",
				 (int)size, line);
			for (char *c = field; *c != '='; c++)
				*c = (char)toupper((unsigned char)*c);
		}
		line += size;
		line += strspn(line, " ");
	}
	return count;
}

/* false: the journal did not take it. */
static bool log_send_entry(enum log_level level, char *line)
{
	char fields[LOG_FIELDS_MAX][LOG_FIELD_BYTES], message[2100];
	char priority[16], identifier[64];
	struct iovec parts[LOG_FIELDS_MAX + 3];
	size_t count = log_fields(line, fields);

	snprintf(message, sizeof(message), "MESSAGE=%s", line);
	snprintf(priority, sizeof(priority), "PRIORITY=%d", (int)level);
	snprintf(identifier, sizeof(identifier), "SYSLOG_IDENTIFIER=%s",
		 program_invocation_short_name);
	for (size_t i = 0; i < count; i++)
		parts[i] = (struct iovec){ fields[i], strlen(fields[i]) };
	parts[count++] = (struct iovec){ message, strlen(message) };
	parts[count++] = (struct iovec){ priority, strlen(priority) };
	parts[count++] = (struct iovec){ identifier, strlen(identifier) };
	return sd_journal_sendv(parts, (int)count) >= 0;
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
	if (log_form == LOG_STYLE_FIELDS && log_send_entry(level, line + head))
		return;
	line[length++] = '\n';
	/* A line that cannot be written is not an error of the caller. */
	ignored = write(STDERR_FILENO, line, length);
	(void)ignored;
}
