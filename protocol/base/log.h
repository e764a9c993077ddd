/* log.h - the log on stderr: one fact per line, with its level for the
 * journal.
 *
 * Library code never logs; whoever decides what to do logs, once, with ids as
 * key=value: log_info("task started job=17 rank=3").
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum log_level { LOG_ERROR = 3, LOG_WARNING = 4, LOG_INFO = 6, LOG_DEBUG = 7 };

/* Lines above this level are dropped; LOG_INFO at first. */
void log_set_level(enum log_level level);

/* Each line begins with the local time and a letter, for people, or with "<3>",
 * for readers that know sd-daemon(3). LOG_STYLE_FIELDS sends entries to the
 * journal, with the words key=value of a line as fields: `journalctl
 * REGATTA_JOB=17`. A line that the journal does not take is written with "<3>".
 */
enum log_style { LOG_STYLE_TIME, LOG_STYLE_LEVEL, LOG_STYLE_FIELDS };
void log_set_style(enum log_style style);

/* Is stderr the journal's? As JOURNAL_STREAM says, sd_journal_print(3). */
bool log_to_journal(const char *journal_stream);

/* The words key=value of a line, of which the key is lower-case letters and the
 * value anything without a space: fields[i] becomes "REGATTA_KEY=value", cut to
 * LOG_FIELD_BYTES. Returns how many, at most LOG_FIELDS_MAX.
 */
#define LOG_FIELDS_MAX 8
#define LOG_FIELD_BYTES 120
size_t log_fields(const char *line,
		  char fields[LOG_FIELDS_MAX][LOG_FIELD_BYTES]);

/* One write(2) per line, cut at 2,000 bytes; control characters and bytes that
 * are not UTF-8 become '?' (printable.h).
 */
void log_line(enum log_level level, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warning(...) log_line(LOG_WARNING, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)
