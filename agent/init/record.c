/* record.c - the exit record: what became of the command, as one JSON file. */
#include "agent/init/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_NAME "exit.json.new"

/* A process is at most 8 numbers of 20 digits and 110 bytes of names; the head
 * is as much again and an error of 240 bytes, each at most 6 in JSON.
 */
#define RECORD_MAX (2048 + INIT_PROCESSES_MAX * 320)

struct text {
	char bytes[RECORD_MAX];
	size_t size;
};

__attribute__((format(printf, 2, 3))) static void text_add(struct text *text,
							   const char *fmt, ...)
{
	size_t room = sizeof(text->bytes) - text->size;
	va_list args;
	int used;

	va_start(args, fmt);
	used = vsnprintf(text->bytes + text->size, room, fmt, args);
	va_end(args);
	if (used > 0)
		text->size += (size_t)used < room ? (size_t)used : room - 1;
}

/* Length of the UTF-8 sequence at p, or 0: not one. Overlong forms,
 * surrogates and what lies above U+10FFFF are none (RFC 3629, section 4).
 */
static size_t utf8_length(const unsigned char *p)
{
	size_t length = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
	unsigned char low = *p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80;
	unsigned char high = *p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf;

	if (*p < 0x80)
		return 1;
	if (!length || *p > 0xf4 || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	return length;
}

/* A JSON string; what is not UTF-8 shows as '?'. */
static void text_string(struct text *text, const char *string)
{
	const unsigned char *p = (const unsigned char *)string;

	text_add(text, "\"");
	while (*p) {
		size_t length = utf8_length(p);

		if (!length)
			text_add(text, "?");
		else if (*p == '"' || *p == '\\')
			text_add(text, "\\%c", *p);
		else if (*p < 0x20 || *p == 0x7f)
			text_add(text, "\\u%04x", *p);
		else
			text_add(text, "%.*s", (int)length, (const char *)p);
		p += length ? length : 1;
	}
	text_add(text, "\"");
}

static void text_process(struct text *text, const struct process *process)
{
	text_add(text,
		 "{\"rank\": %u, \"exit_code\": %d, \"signal\": %d, "
		 "\"ended_ms\": %lld, \"max_rss_kib\": %lld, "
		 "\"user_ms\": %lld, \"system_ms\": %lld, "
		 "\"log_bytes\": %lld}",
		 process->rank, process->exit_code, process->signal,
		 (long long)process->ended_ms, (long long)process->max_rss_kib,
		 (long long)process->user_ms, (long long)process->system_ms,
		 (long long)process_log_bytes(process));
}

static void text_record(struct text *text, const struct record *record)
{
	text_add(text, "{\"version\": 1, \"exit_code\": %d, \"signal\": %d, ",
		 record->exit_code, record->signal);
	if (record->why.text[0]) {
		text_add(text, "\"error\": ");
		text_string(text, record->why.text);
		text_add(text, ", ");
	}
	text_add(text,
		 "\"started_ms\": %lld, \"ended_ms\": %lld, "
		 "\"oom_kills\": %lld, \"memory_peak_bytes\": %lld, "
		 "\"processes\": [",
		 (long long)record->started_ms, (long long)record->ended_ms,
		 (long long)record->oom_kills,
		 (long long)record->memory_peak_bytes);
	for (uint32_t i = 0; i < record->count; i++) {
		text_add(text, "%s", i ? ", " : "");
		text_process(text, &record->processes[i]);
	}
	text_add(text, "]}\n");
}

static int record_open(int out, struct why *why)
{
	int fd = openat(out, NEW_NAME,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0644);

	if (fd < 0)
		return why_errno(why, "%s", NEW_NAME);
	fchmod(fd, 0644);
	return fd;
}

int record_reserve(int out, struct why *why)
{
	int fd = record_open(out, why);
	int code = fd < 0 ? 0 : posix_fallocate(fd, 0, RECORD_MAX);

	if (code == 0)
		return fd;
	close(fd);
	unlinkat(out, NEW_NAME, 0);
	errno = code;
	return why_errno(why, "%s", NEW_NAME);
}

/* pwrite() over the reserved bytes first, then cut: the other way round would
 * give the room back before it is needed.
 */
static int record_fill(int fd, const struct text *text, struct why *why)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t wrote = pwrite(fd, text->bytes + done,
				       text->size - done, (off_t)done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return why_errno(why, "%s", NEW_NAME);
		done += (size_t)wrote;
	}
	if (ftruncate(fd, (off_t)text->size) < 0)
		return why_errno(why, "%s", NEW_NAME);
	return 0;
}

int record_write(const struct record *record, int out, int reserved,
		 struct why *why)
{
	struct text *text = calloc(1, sizeof(*text));
	int fd, rc;

	if (!text)
		return why_set(why, "out of memory");
	text_record(text, record);
	if (reserved >= 0 && record_fill(reserved, text, why) == 0 &&
	    renameat(out, NEW_NAME, out, "exit.json") == 0) {
		free(text);
		return 0;
	}
	/* The command may have removed the reserved file: make it anew. */
	fd = record_open(out, why);
	rc = fd < 0 ? -1 : record_fill(fd, text, why);
	if (rc == 0 && renameat(out, NEW_NAME, out, "exit.json") < 0)
		rc = why_errno(why, "exit.json");
	if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}
