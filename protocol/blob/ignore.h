/* ignore.h - decides by patterns which paths of a folder are left out.
 *
 * As in gitignore(5): a pattern without a '/' means every file or folder of
 * that name; one with a '/' (other than at its end) a path from the top. A '/'
 * at the end: folders only. *, ? and [] stay within a name, ** is any number of
 * folders. "!pattern" takes back in what an earlier one left out. The last one
 * that matches decides, but what lies in a folder that is left out is not
 * looked at. Empty lines and those that begin with # say nothing. Of a
 * .dockerignore the rules are others, see below.
 */
#ifndef PROTOCOL_BLOB_IGNORE_H
#define PROTOCOL_BLOB_IGNORE_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <stdbool.h>
#include <stddef.h>

#define IGNORE_MAX 1000 /* patterns, each as pattern.h allows it */

struct ignore;
struct ignore *ignore_new(struct error *err);
void ignore_free(struct ignore *ignore);
OWNED_POINTER(struct ignore, ignore_free)

/* Add a pattern, or each line of a text. EINVAL says what is wrong with it,
 * E2BIG: too many.
 */
int ignore_add(struct ignore *ignore, const char *pattern, struct error *err);
int ignore_lines(struct ignore *ignore, const char *text, struct error *err);

/* Add each line of a .dockerignore, as Docker reads it: all patterns are paths
 * from the top, also those without a '/', and mean all that lies below, too.
 * Not to be mixed with those above.
 *
 * Source: docs.docker.com, "Build context", .dockerignore files.
 */
int ignore_docker_lines(struct ignore *ignore, const char *text,
			struct error *err);

/* Is the path (relative, without a '/' at its end) left out? */
bool ignore_match(const struct ignore *ignore, const char *path, bool folder);

/* May something be taken back in that lies in a folder that is left out? */
bool ignore_inside(const struct ignore *ignore);

#endif
