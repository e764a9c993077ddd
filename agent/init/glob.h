/* glob.h - finds the files that match a pattern, in steps that are bounded.
 */
#ifndef AGENT_INIT_GLOB_H
#define AGENT_INIT_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#define GLOB_ENTRIES_MAX 100000 /* names looked at in one walk */

/* A path that matches; it may be anything but a folder's "." or "..". */
typedef void glob_fn(void *arg, const char *path);

/* Call fn for each path that matches the absolute pattern: *, ?, [] and \ as in
 * fnmatch(3), within a name; a leading dot is matched only by a dot. What
 * cannot be read does not match. false: there are more names than *entries,
 * which is counted down; the rest was not looked at.
 */
bool glob_walk(const char *pattern, size_t *entries, glob_fn *fn, void *arg);

#endif
