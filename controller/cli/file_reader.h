/* file_reader.h - a file of any size that a person names, piece by piece.
 */
#ifndef CONTROLLER_CLI_FILE_READER_H
#define CONTROLLER_CLI_FILE_READER_H

#include "protocol/base/error.h"

#include <stddef.h>

typedef int file_reader_fn(const void *piece, size_t size, void *arg,
			   struct error *err);

/* Call fn for each piece of the file, "-" is standard input; -1 from it ends
 * the reading. EINVAL: the file cannot be read.
 */
int file_reader_read(const char *name, file_reader_fn *fn, void *arg,
		     struct error *err);

#endif
