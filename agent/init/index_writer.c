/* index_writer.c - the lines that say which streams there are beside the ranks'
 * logs.
 */
#include "agent/init/index_writer.h"
#include "agent/init/init.h"
#include "agent/init/json_line.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES (6 * PATH_MAX + 512)

void index_writer_init(struct index_writer *index, int out, uint64_t node)
{
	*index = (struct index_writer){ .out = out, .node = node, .fd = -1 };
}

void index_writer_clear(struct index_writer *index)
{
	if (index->fd >= 0)
		close(index->fd);
	index->fd = -1;
}

/* The mode is set apart from the image's umask: the agent may be another user.
 */
static int index_writer_make(int out, const char *stream, struct error *why)
{
	char name[INIT_NAME_MAX + 8];
	int fd;

	snprintf(name, sizeof(name), "%s.log", stream);
	fd = openat(out, name,
		    O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return error_errno(why, "%s", name);
	fchmod(fd, 0644);
	return fd;
}

static int index_writer_put_line(struct index_writer *index,
				 const struct buffer *line, struct error *why)
{
	struct stat before = { 0 };
	ssize_t wrote;
	char name[32];

	if (index->fd < 0) {
		snprintf(name, sizeof(name), "node-%llu",
			 (unsigned long long)index->node);
		index->fd = index_writer_make(index->out, name, why);
		if (index->fd < 0)
			return -1;
	}
	fstat(index->fd, &before);
	wrote = write(index->fd, line->data, line->size);
	if (wrote == (ssize_t)line->size)
		return 0;
	errno = wrote < 0 ? errno : ENOSPC;
	error_errno(why, "index of the followed files");
	if (ftruncate(index->fd, before.st_size) < 0)
		return -1; /* the reader refuses the broken line */
	return -1;
}

static int put_follow(struct index_writer *index, const char *stream,
		      const char *path, unsigned part, struct error *why)
{
	owned(buffer_clear) struct buffer line = BUFFER_INIT(LINE_BYTES);

	if (buffer_text(&line, "{\"stream\": ", why) < 0 ||
	    json_line_string(&line, stream, why) < 0 ||
	    buffer_text(&line, ", \"path\": ", why) < 0 ||
	    json_line_string(&line, path, why) < 0 ||
	    buffer_printf(&line, why, ", \"part\": %u}\n", part) < 0)
		return -1;
	return index_writer_put_line(index, &line, why);
}

int index_writer_follow(struct index_writer *index, const char *stream,
			const char *path, unsigned part, struct error *why)
{
	char name[INIT_NAME_MAX + 8];
	int fd = index_writer_make(index->out, stream, why);

	if (fd < 0 || put_follow(index, stream, path, part, why) == 0)
		return fd;
	close(fd);
	snprintf(name, sizeof(name), "%s.log", stream);
	unlinkat(index->out, name, 0);
	return -1;
}

int index_writer_kept(struct index_writer *index, const char *stream,
		      uint64_t kept, struct error *why)
{
	owned(buffer_clear) struct buffer line = BUFFER_INIT(LINE_BYTES);

	if (buffer_printf(&line, why, "{\"stream\": \"%s\", \"kept\": %llu}\n",
			  stream, (unsigned long long)kept) < 0)
		return -1;
	return index_writer_put_line(index, &line, why);
}
