/* tar_writer.h - writes a tar stream to a file, up to a limit.
 *
 * Numbers that do not fit into octal digits, and names of more than 100 bytes,
 * are written as GNU tar does; names are bytes. Sources: POSIX.1, pax, "ustar
 * Interchange Format"; GNU tar's manual, "Basic Tar Format".
 */
#pragma once

#include "protocol/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct tar_writer {
	int fd;         /* borrowed */
	uint64_t limit; /* bytes of the whole file */
	uint64_t bytes; /* of them, with what is in the buffer */
	size_t used;    /* bytes in the buffer */
	char buffer[256 << 10];
};

/* E2BIG: past the limit; ENOSPC ...: it could not be written. After an error
 * the file is of no use.
 */

/* An entry's header; for a regular file, st->st_size bytes of data follow, in
 * any pieces. target: of a symbolic link.
 */
int tar_writer_entry(struct tar_writer *tar, const char *name,
		     const struct stat *st, const char *target,
		     struct error *err);
int tar_writer_data(struct tar_writer *tar, const void *data, size_t size,
		    struct error *err);
/* Behind an entry's data. size: st_size of the entry. */
int tar_writer_pad(struct tar_writer *tar, uint64_t size, struct error *err);

/* The end of the stream; all of it is then in the file. */
int tar_writer_end(struct tar_writer *tar, struct error *err);
