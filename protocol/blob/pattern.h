/* pattern.h - matches paths against patterns, name by name.
 *
 * *, ?, [] and \ as in fnmatch(3) stay within a name; a name of ** stands for
 * any number of folders, also none, and at the end for all that lies below.
 * Pure.
 */
#ifndef PROTOCOL_BLOB_PATTERN_H
#define PROTOCOL_BLOB_PATTERN_H

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_MAX 1000    /* bytes */
#define PATTERN_STARS_MAX 4 /* "**" in it: each multiplies the work */

/* Within these limits, and not empty? EINVAL says what is wrong. */
int pattern_check(const char *pattern, struct error *err);

/* Both relative; the pattern is a good one. flags: of fnmatch(3). */
bool pattern_match(const char *pattern, const char *path, int flags);

/* An absolute path that is a pattern: the folder that it begins with, up to the
 * first name that stands for others ("" is the root), into root[size], and in
 * *rest what follows. false: it stands for itself alone, or the folder's name
 * does not fit.
 */
bool pattern_split(const char *path, char *root, size_t size,
		   const char **rest);

#endif
