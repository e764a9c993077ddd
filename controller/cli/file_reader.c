/* file_reader.c - a file of any size that a person names, piece by piece.
 */
#include "controller/cli/file_reader.h"

#include "protocol/base/owned.h"

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
