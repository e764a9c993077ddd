/* file_reader.h - reads a text file of any size in pieces.
 *
 * A file that gzip, xz, zstd or bzip2 has compressed is unpacked, within
 * unpack_text_bounds. Text in
 * UTF-16 or UTF-32 with a mark, as PowerShell writes it, becomes UTF-8.
 */
#pragma once

#include "protocol/base/error.h"

#include <stddef.h>

typedef int file_reader_fn(const void *piece, size_t size, void *arg,
			   struct error *err);

/* Call fn for each piece of the file; "-" is standard input. If fn returns -1,
 * reading ends. EINVAL: the file cannot be read, or is no text; the error says
 * what it is.
 */
int file_reader_read(const char *name, file_reader_fn *fn, void *arg,
		     struct error *err);

/* A file_reader_fn: appends to a struct buffer as much as its limit allows. */
file_reader_fn file_reader_keep;
