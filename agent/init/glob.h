/* glob.h - finds the files that match a pattern, in steps that are bounded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define GLOB_ENTRIES_MAX 100000 /* names checked in one walk */

/* A matching path of any kind of file; never "." or "..". */
typedef void glob_fn(void *arg, const char *path);

/* Call fn for each path that matches the absolute pattern: *, ?, [] and \ as in
 * fnmatch(3), within a name; a leading dot is matched only by a dot. Folders
 * that cannot be read are skipped. False: there are more names than *entries,
 * which is reduced by each; the rest was not checked.
 */
bool glob_walk(const char *pattern, size_t *entries, glob_fn *fn, void *arg);
