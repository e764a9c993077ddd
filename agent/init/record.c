/* record.c - the exit record: how the command ended, as one JSON file.
 */
#include "agent/init/record.h"
#include "agent/init/json_line.h"
#include "agent/init/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_NAME "exit.json.new"

/* A process is at most 8 numbers of 20 digits and 110 bytes of names; the head
 * is as much again, an error and a note of 240 bytes, each at most 6 in JSON.
 */
#define RECORD_MAX (4096 + INIT_PROCESSES_MAX * 320)

static int text_process(struct buffer *text, const struct process *process,
			struct error *err)
{
	return buffer_printf(
		text, err,
		"{\"rank\": %u, \"exit_code\": %d, \"signal\": %d, "
		"\"ended_ms\": %lld, \"max_rss_kib\": %lld, "
		"\"user_ms\": %lld, \"system_ms\": %lld, "
		"\"log_bytes\": %lld}",
		process->rank, process->exit_code, process->signal,
		(long long)process->ended_ms, (long long)process->max_rss_kib,
		(long long)process->user_ms, (long long)process->system_ms,
		(long long)process_log_bytes(process));
}

/* "name": "value", unless the value is empty. */
static int text_string(struct buffer *text, const char *name, const char *value,
		       struct error *err)
{
	if (!*value)
		return 0;
	if (buffer_printf(text, err, "\"%s\": ", name) < 0 ||
	    json_line_string(text, value, err) < 0)
		return -1;
	return buffer_text(text, ", ", err);
}

static int text_record(struct buffer *text, const struct record *record,
		       struct error *err)
{
	if (buffer_printf(text, err,
			  "{\"version\": 1, \"exit_code\": %d, "
			  "\"signal\": %d, ",
			  record->exit_code, record->signal) < 0 ||
	    text_string(text, "error", record->why.text, err) < 0 ||
	    text_string(text, "note", record->note, err) < 0 ||
	    buffer_printf(text, err,
			  "\"started_ms\": %lld, \"ended_ms\": %lld, "
			  "\"packed_ms\": %lld, "
			  "\"oom_kills\": %lld, \"memory_peak_bytes\": %lld, "
			  "\"ulimits\": ",
			  (long long)record->started_ms,
			  (long long)record->ended_ms,
			  (long long)record->packed_ms,
			  (long long)record->oom_kills,
			  (long long)record->memory_peak_bytes) < 0)
		return -1;
	if (limits_text(text, err) < 0 ||
	    buffer_text(text, ", \"processes\": [", err) < 0)
		return -1;
	for (uint32_t i = 0; i < record->count; i++)
		if (buffer_text(text, i ? ", " : "", err) < 0 ||
		    text_process(text, &record->processes[i], err) < 0)
			return -1;
	return buffer_text(text, "]}\n", err);
}

static int record_open(int out, struct error *why)
{
	int fd = openat(out, NEW_NAME,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0644);

	if (fd < 0)
		return error_errno(why, "%s", NEW_NAME);
	fchmod(fd, 0644);
	return fd;
}

int record_reserve(int out, struct error *why)
{
	int fd = record_open(out, why);
	int code = fd < 0 ? 0 : posix_fallocate(fd, 0, RECORD_MAX);

	if (code == 0)
		return fd;
	/* The file stays: the agent recognises the record by its identity. */
	if (ftruncate(fd, 0) < 0)
		code = errno;
	close(fd);
	errno = code;
	return error_errno(why, "%s", NEW_NAME);
}

/* Write over the reserved bytes, then cut. Cutting first would give the space
 * away.
 */
static int record_fill(int fd, const struct buffer *text, struct error *why)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t wrote = pwrite(fd, text->data + done, text->size - done,
				       (off_t)done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return error_errno(why, "%s", NEW_NAME);
		done += (size_t)wrote;
	}
	if (ftruncate(fd, (off_t)text->size) < 0)
		return error_errno(why, "%s", NEW_NAME);
	return 0;
}

int record_write(const struct record *record, int out, int reserved,
		 struct error *why)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(RECORD_MAX);
	owned_fd int fd = -1;

	if (text_record(&text, record, why) < 0)
		return -1;
	if (reserved >= 0 && record_fill(reserved, &text, why) == 0 &&
	    renameat(out, NEW_NAME, out, "exit.json") == 0)
		return 0;
	/* The command may have removed the reserved file: make it anew. */
	fd = record_open(out, why);
	if (fd < 0 || record_fill(fd, &text, why) < 0)
		return -1;
	if (renameat(out, NEW_NAME, out, "exit.json") < 0)
		return error_errno(why, "exit.json");
	return 0;
}
