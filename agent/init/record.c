/* record.c - the exit record: what became of the command, as one JSON file. */
#include "agent/init/record.h"
#include "agent/init/json_line.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NEW_NAME "exit.json.new"

/* A process is at most 8 numbers of 20 digits and 110 bytes of names; the head
 * is as much again, an error and a note of 240 bytes, each at most 6 in JSON.
 */
#define RECORD_MAX (4096 + INIT_PROCESSES_MAX * 320)

static void text_process(struct json_line *text, const struct process *process)
{
	json_line_add(text,
		      "{\"rank\": %u, \"exit_code\": %d, \"signal\": %d, "
		      "\"ended_ms\": %lld, \"max_rss_kib\": %lld, "
		      "\"user_ms\": %lld, \"system_ms\": %lld, "
		      "\"log_bytes\": %lld}",
		      process->rank, process->exit_code, process->signal,
		      (long long)process->ended_ms,
		      (long long)process->max_rss_kib,
		      (long long)process->user_ms,
		      (long long)process->system_ms,
		      (long long)process_log_bytes(process));
}

static void text_record(struct json_line *text, const struct record *record)
{
	json_line_add(text,
		      "{\"version\": 1, \"exit_code\": %d, \"signal\": %d, ",
		      record->exit_code, record->signal);
	if (record->why.text[0]) {
		json_line_add(text, "\"error\": ");
		json_line_string(text, record->why.text);
		json_line_add(text, ", ");
	}
	if (record->note.text[0]) {
		json_line_add(text, "\"note\": ");
		json_line_string(text, record->note.text);
		json_line_add(text, ", ");
	}
	json_line_add(text,
		      "\"started_ms\": %lld, \"ended_ms\": %lld, "
		      "\"oom_kills\": %lld, \"memory_peak_bytes\": %lld, "
		      "\"processes\": [",
		      (long long)record->started_ms,
		      (long long)record->ended_ms, (long long)record->oom_kills,
		      (long long)record->memory_peak_bytes);
	for (uint32_t i = 0; i < record->count; i++) {
		json_line_add(text, "%s", i ? ", " : "");
		text_process(text, &record->processes[i]);
	}
	json_line_add(text, "]}\n");
}

static int record_open(int out, struct start_error *why)
{
	int fd = openat(out, NEW_NAME,
			O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
			0644);

	if (fd < 0)
		return start_error_errno(why, "%s", NEW_NAME);
	fchmod(fd, 0644);
	return fd;
}

int record_reserve(int out, struct start_error *why)
{
	int fd = record_open(out, why);
	int code = fd < 0 ? 0 : posix_fallocate(fd, 0, RECORD_MAX);

	if (code == 0)
		return fd;
	/* The file stays: the agent knows the record by it. */
	if (ftruncate(fd, 0) < 0)
		code = errno;
	close(fd);
	errno = code;
	return start_error_errno(why, "%s", NEW_NAME);
}

/* pwrite() over the reserved bytes first, then cut: the other way round would
 * give the room back before it is needed.
 */
static int record_fill(int fd, const struct json_line *text,
		       struct start_error *why)
{
	size_t done = 0;

	while (done < text->size) {
		ssize_t wrote = pwrite(fd, text->bytes + done,
				       text->size - done, (off_t)done);

		if (wrote < 0 && errno == EINTR)
			continue;
		if (wrote <= 0)
			return start_error_errno(why, "%s", NEW_NAME);
		done += (size_t)wrote;
	}
	if (ftruncate(fd, (off_t)text->size) < 0)
		return start_error_errno(why, "%s", NEW_NAME);
	return 0;
}

int record_write(const struct record *record, int out, int reserved,
		 struct start_error *why)
{
	char *bytes = malloc(RECORD_MAX);
	struct json_line filled, *text = &filled;
	int fd, rc;

	if (!bytes)
		return start_error_set(why, "out of memory");
	json_line_init(text, bytes, RECORD_MAX);
	text_record(text, record);
	if (reserved >= 0 && record_fill(reserved, text, why) == 0 &&
	    renameat(out, NEW_NAME, out, "exit.json") == 0) {
		free(bytes);
		return 0;
	}
	/* The command may have removed the reserved file: make it anew. */
	fd = record_open(out, why);
	rc = fd < 0 ? -1 : record_fill(fd, text, why);
	if (rc == 0 && renameat(out, NEW_NAME, out, "exit.json") < 0)
		rc = start_error_errno(why, "exit.json");
	if (fd >= 0)
		close(fd);
	free(bytes);
	return rc;
}
