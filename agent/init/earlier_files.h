/* earlier_files.h - what stood in files before the command began.
 *
 * A log that an earlier run left behind is no output of this one. Each such
 * file is remembered with its size and a hash of its last bytes, so that one
 * that is written anew is told from one that is written on.
 */
#ifndef AGENT_INIT_EARLIER_FILES_H
#define AGENT_INIT_EARLIER_FILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct earlier_files;

struct earlier_files *earlier_files_new(void);        /* NULL: out of memory */
void earlier_files_free(struct earlier_files *files); /* NULL is fine */

/* Remember the regular file of this path; one that is empty, or that cannot be
 * read, has nothing to remember.
 */
void earlier_files_add(struct earlier_files *files, const char *path);

/* All are added, and can be found now. false: out of memory. */
bool earlier_files_sort(struct earlier_files *files);

/* Is the file still as it was? */
bool earlier_files_unchanged(const struct earlier_files *files,
			     const struct stat *stat);

/* How many of the first bytes of the open file were there before: 0 for a new
 * file, and for one that was written anew.
 */
uint64_t earlier_files_size(const struct earlier_files *files, int fd,
			    const struct stat *stat);

#endif
