/* file_reader.c - reads a file of any size in pieces.
 */
#include "controller/cli/file_reader.h"

#include "protocol/base/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>

#define PIECE 65536 /* bytes read at once */

int file_reader_read(const char *name, file_reader_fn *fn, void *arg,
		     struct error *err)
{
	bool is_stdin = !strcmp(name, "-");
	owned_fd int file =
		is_stdin ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	owned_free char *piece = malloc(PIECE);
	ssize_t got;

	if (!piece)
		return error_nomem(err, name);
	if (!is_stdin && file < 0)
		return error_set(err, EINVAL, "%.120s: %s", name,
				 strerror(errno));
	while ((got = read(is_stdin ? STDIN_FILENO : file, piece, PIECE)) > 0)
		if (fn(piece, (size_t)got, arg, err) < 0)
			return -1;
	if (got < 0)
		return error_set(err, EINVAL, "%.120s: %s", name,
				 strerror(errno));
	return 0;
}

int file_reader_keep(const void *piece, size_t size, void *arg,
		     struct error *err)
{
	struct buffer *kept = arg;
	size_t left = kept->limit - kept->size;

	return buffer_append(kept, piece, size < left ? size : left, err);
}
