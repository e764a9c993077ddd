/* dict.h - parses a JSON object or the repr() of a Python dict.
 *
 * Logs contain both, and forms beyond the standards: NaN, Infinity, nan, inf,
 * None, True, single quotes, and objects such as tensor(1., device='x'), whose
 * text is the value. Texts are not copied.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define DICT_PATH_MAX 128 /* bytes; values at longer paths are skipped */
#define DICT_DEPTH_MAX 16

/* Gets each value that is neither map nor list, with its path: "value.loss",
 * "lr.0". A quoted string comes without its quotes; escapes are not decoded.
 */
typedef void dict_value_fn(const char *path, const char *text, size_t size,
			   bool quoted, void *arg);

/* Parse the dict that begins at text[0], a brace. Returns its size with both
 * braces; 0: it is not complete, or no dict. fn has then run for the values
 * before the error.
 */
size_t dict_read(const char *text, size_t size, dict_value_fn *fn, void *arg);

/* Does a dict begin at the brace text[0], and not a set? */
bool dict_begins(const char *text, size_t size);

/* Does the text, a line from its first mark on, begin a dict whose members have
 * lines of their own?
 */
bool dict_begins_members(const char *text, size_t size);

/* A list begins here, not "[2031-05-17" or "[Step 4/90]". */
bool dict_opens_list(const char *text, size_t size);
