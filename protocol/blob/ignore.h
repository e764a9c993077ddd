/* ignore.h - decides by patterns which paths of a folder are left out.
 *
 * As in gitignore(5): a pattern without a '/' means every file or folder of
 * that name; one with a '/' (other than at its end) a path from the top. A '/'
 * at the end: folders only. *, ? and [] stay within a name, ** is any number of
 * folders. "!pattern" includes paths that an earlier pattern excluded. The last
 * pattern that matches decides, but nothing in an excluded folder is included
 * again. Empty lines and lines that begin with # are ignored. The rules of a
 * .dockerignore are different, see below.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>

#define IGNORE_MAX 1000 /* patterns, each as pattern.h allows it */

struct ignore;
struct ignore *ignore_new(struct error *err);
void ignore_free(struct ignore *ignore);
OWNED_POINTER(struct ignore, ignore_free)

/* Add a pattern, or each line of a text. EINVAL: it is not valid; E2BIG: too
 * many.
 */
int ignore_add(struct ignore *ignore, const char *pattern, struct error *err);
int ignore_lines(struct ignore *ignore, const char *text, struct error *err);

/* Add each line of a .dockerignore, as Docker reads it: all patterns are paths
 * from the top, also those without a '/', and match everything below, too. Do
 * not mix them with patterns of the functions above.
 *
 * Source: docs.docker.com, "Build context", .dockerignore files.
 */
int ignore_docker_lines(struct ignore *ignore, const char *text,
			struct error *err);

/* Is the path (relative, without a '/' at its end) excluded? */
bool ignore_match(const struct ignore *ignore, const char *path, bool folder);

/* May a path in an excluded folder be included again? */
bool ignore_inside(const struct ignore *ignore);
