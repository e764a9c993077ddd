/* dict.h - a JSON object or the repr() of a Python dict to its values.
 *
 * Logs hold both, and what neither standard knows: NaN, Infinity, nan, inf,
 * None, True, single quotes, and objects such as tensor(1., device='x'),
 * whose text is the value. Nothing is copied.
 */
#ifndef CONTROLLER_RESULTS_RULES_DICT_H
#define CONTROLLER_RESULTS_RULES_DICT_H

#include <stdbool.h>
#include <stddef.h>

#define DICT_PATH_MAX 128 /* bytes; a value at a longer one is left out */
#define DICT_DEPTH_MAX 16

/* One value that is neither map nor list, at its path: "value.loss", "lr.0".
 * A string (quoted) comes without its quotes, escapes as they are.
 */
typedef void dict_value_fn(const char *path, const char *text, size_t size,
			   bool quoted, void *arg);

/* Read the dict at text[0], a brace. Returns its size with both braces; 0: it
 * does not end in text, or it is no dict. fn has then run for what was read
 * before that showed.
 */
size_t dict_read(const char *text, size_t size, dict_value_fn *fn, void *arg);

#endif
