/* pattern.h - matches paths against patterns, name by name.
 *
 * *, ?, [] and \ match within a name, as in fnmatch(3). The name ** matches any
 * number of folders, also none, and at the end everything below. Pure.
 */
#pragma once

#include "protocol/base/error.h"

#include <stdbool.h>
#include <stddef.h>

#define PATTERN_MAX 1000    /* bytes */
#define PATTERN_STARS_MAX 4 /* "**" in it: each multiplies the work */

/* Is the pattern within these limits, and not empty? EINVAL. */
int pattern_check(const char *pattern, struct error *err);

/* Both are relative; the pattern was checked. flags: of fnmatch(3). */
bool pattern_match(const char *pattern, const char *path, int flags);

/* Split an absolute pattern: root[size] gets the folder before the first name
 * with a special character ("": the root), *rest the remaining pattern. False:
 * it has no special characters, or the folder's name does not fit.
 */
bool pattern_split(const char *path, char *root, size_t size,
		   const char **rest);
