/* file_reader.h - reads a file of any size in pieces.
 */
#ifndef CONTROLLER_CLI_FILE_READER_H
#define CONTROLLER_CLI_FILE_READER_H

#include "protocol/base/error.h"

#include <stddef.h>

typedef int file_reader_fn(const void *piece, size_t size, void *arg,
			   struct error *err);

/* Call fn for each piece of the file; "-" is standard input. If fn returns -1,
 * reading ends. EINVAL: the file cannot be read.
 */
int file_reader_read(const char *name, file_reader_fn *fn, void *arg,
		     struct error *err);

/* A file_reader_fn: appends to a struct buffer as much as its limit allows. */
file_reader_fn file_reader_keep;

#endif
