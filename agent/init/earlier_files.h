/* earlier_files.h - the content of files before the command began.
 *
 * A log that an earlier run left behind is not output of this one. Each such
 * file is remembered with its size and a hash of its last bytes, so that a file
 * that is written again can be told from one that is continued.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct earlier_files;

struct earlier_files *earlier_files_new(void);        /* NULL: out of memory */
void earlier_files_free(struct earlier_files *files); /* NULL is fine */

/* Remember the regular file with this path, unless it is empty or cannot be
 * read.
 */
void earlier_files_add(struct earlier_files *files, const char *path);

/* Call it after the last add and before any search. False: out of memory. */
bool earlier_files_sort(struct earlier_files *files);

/* Is the file still as it was? */
bool earlier_files_unchanged(const struct earlier_files *files,
			     const struct stat *stat);

/* How many of the first bytes of the open file were there before; 0 for a new
 * file, and for one that was written again.
 */
uint64_t earlier_files_size(const struct earlier_files *files, int fd,
			    const struct stat *stat);
