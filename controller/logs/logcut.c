/* logcut.c - the middle of a log that was cut out, and what stands in its
 * place.
 */
#include "controller/logs/logcut.h"

#include "protocol/base/file.h"
#include "protocol/message/codec.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINE_MAX_BYTES 65536 /* that the end of a line is looked for in */
#define NOTICE_MAX 80
#define TEXT_MAX 200
#define CUT_MIN 4096 /* bytes; fewer are not worth a hole */

/* clang-format off */
static const struct field logcut_fields[] = {
	FIELD(logcut, from),
	FIELD(logcut, to),
	FIELD(logcut, time_ms),
};
/* clang-format on */
static const struct schema logcut_schema = SCHEMA(logcut, logcut_fields);

static int read_at(int log, uint64_t offset, char *to, size_t size)
{
	ssize_t got;

	do {
		got = pread(log, to, size, (off_t)offset);
	} while (got < 0 && errno == EINTR);
	return (int)got;
}

/* What stands in place of the bytes; begins a line. */
static int notice(int log, const struct logcut *cut, char text[NOTICE_MAX])
{
	char before = '\n';

	if (cut->from && read_at(log, cut->from - 1, &before, 1) != 1)
		before = 0;
	return snprintf(text, NOTICE_MAX,
			"%s[regatta: %" PRIu64 " bytes were removed here]\n",
			before == '\n' ? "" : "\n", cut->to - cut->from);
}

static int punch(int log, uint64_t from, uint64_t to, struct error *err)
{
	int rc = 0;

	if (from < to)
		rc = fallocate(log, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			       (off_t)from, (off_t)(to - from));
	if (rc == 0)
		return 0;
	if (errno == EOPNOTSUPP)
		return error_set(err, EOPNOTSUPP,
				 "the file system cannot give back the middle "
				 "of a file");
	return error_errno(err, "no hole");
}

/* The notice comes last: where it stands all is done. */
static int finish(int log, struct logcut *cut, uint64_t done, struct error *err)
{
	char text[NOTICE_MAX];
	int size = notice(log, cut, text);
	uint64_t resume = cut->from + (uint64_t)size;

	if (punch(log, resume > done ? resume : done, cut->to, err) < 0)
		return -1;
	if (pwrite(log, text, (size_t)size, (off_t)cut->from) != size)
		return error_errno(err, "notice");
	cut->resume = resume;
	return 0;
}

static bool finished(int log, struct logcut *cut)
{
	char want[NOTICE_MAX], text[NOTICE_MAX];
	int size = notice(log, cut, want);

	if (read_at(log, cut->from, text, (size_t)size) != size ||
	    memcmp(text, want, (size_t)size) != 0)
		return false;
	cut->resume = cut->from + (uint64_t)size;
	return true;
}

int logcut_peek(int folder, const char *path, struct logcut *cut,
		struct error *err)
{
	owned(buffer_clear) struct buffer text;
	struct logcut found = { 0 };
	struct error why;

	*cut = found;
	buffer_init(&text, TEXT_MAX);
	if (file_read(folder, path, &text, &why) < 0)
		return why.code == ENOENT
			       ? 0
			       : error_set(err, why.code, "%s", why.text);
	if (codec_decode(&logcut_schema, text.data ? text.data : "", text.size,
			 &found, &why) < 0)
		return error_set(err, EIO, "%s: %s", path, why.text);
	if (found.to > INT64_MAX || found.from + CUT_MIN > found.to)
		return error_set(err, EIO,
				 "%s: from %" PRIu64 " to %" PRIu64
				 " cannot be",
				 path, found.from, found.to);
	*cut = found;
	return 0;
}

static int write_cut(int folder, const char *path, const struct logcut *cut,
		     struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, TEXT_MAX);
	if (codec_encode(&logcut_schema, cut, &text, err) < 0)
		return -1;
	return file_write(folder, path, text.data, text.size, 0600, 1, err);
}

/* A machine that lost its power, or a backup that was made meanwhile, may have
 * less of the log than was cut: what comes next is none of that.
 */
static int fit(int folder, const char *path, uint64_t length,
	       struct logcut *cut, struct error *err)
{
	if (cut->to <= length)
		return 0;
	cut->to = length;
	if (cut->from + CUT_MIN <= length)
		return write_cut(folder, path, cut, err);
	cut->to = 0;
	if (unlinkat(folder, path, 0) < 0)
		return error_errno(err, "%s", path);
	return 0;
}

int logcut_open(int folder, const char *path, int log, uint64_t length,
		struct logcut *cut, struct error *err)
{
	struct logcut found;

	*cut = (struct logcut){ 0 };
	if (logcut_peek(folder, path, &found, err) < 0)
		return -1;
	if (!found.to)
		return 0;
	if (fit(folder, path, length, &found, err) < 0)
		return -1;
	/* What cannot be finished now is left out; the next one tries again. */
	if (found.to && !finished(log, &found) &&
	    finish(log, &found, 0, NULL) < 0)
		found.resume = found.from;
	*cut = found;
	return 0;
}

/* Behind the last line's end before offset, when there is one near. */
static uint64_t line_before(int log, uint64_t offset)
{
	char text[LINE_MAX_BYTES];
	size_t size = offset < sizeof(text) ? (size_t)offset : sizeof(text);
	int got = read_at(log, offset - size, text, size);
	const char *end = got > 0 ? memrchr(text, '\n', (size_t)got) : NULL;

	return end ? offset - size + (size_t)(end - text) + 1 : offset;
}

int logcut_extend(int folder, const char *path, int log, uint64_t head,
		  uint64_t to, struct logcut *cut, uint64_t *freed,
		  struct error *err)
{
	struct logcut next = *cut;
	uint64_t done = cut->to;
	struct error why;

	*freed = 0;
	if (!next.to)
		next.from = done = line_before(log, head);
	if (to > done + LOGCUT_STEP)
		to = done + LOGCUT_STEP;
	if (to < done + CUT_MIN)
		return 0;
	next.to = line_before(log, to);
	if (next.to < done + CUT_MIN)
		next.to = to;
	next.time_ms = clock_wall_ms();
	if (write_cut(folder, path, &next, err) < 0)
		return -1;
	if (finish(log, &next, done, &why) < 0) {
		if (why.code == EOPNOTSUPP && !cut->to)
			unlinkat(folder, path, 0);
		return error_set(err, why.code, "%s: %s", path, why.text);
	}
	*freed = next.to - done;
	*cut = next;
	return 0;
}

uint64_t logcut_skip(const struct logcut *cut, uint64_t *offset, uint64_t size)
{
	if (!cut->to || *offset >= cut->to)
		return size;
	if (*offset >= cut->resume) {
		*offset = cut->to;
		return size;
	}
	return size < cut->resume - *offset ? size : cut->resume - *offset;
}

void logcut_describe(const struct logcut *cut, cJSON *to)
{
	cJSON *about;

	if (!cut->to)
		return;
	about = cJSON_AddObjectToObject(to, "cut");
	cJSON_AddNumberToObject(about, "bytes", (double)(cut->to - cut->from));
	cJSON_AddNumberToObject(about, "time_ms", (double)cut->time_ms);
}

int logcut_empty(int log, struct error *err)
{
	off_t from = lseek(log, 0, SEEK_DATA);

	if (from < 0)
		return errno == ENXIO ? 0 : error_errno(err, "no hole");
	return punch(log, (uint64_t)from, (uint64_t)from + LOGCUT_STEP, err) < 0
		       ? -1
		       : 1;
}
