/* python_literals.h - the literals that a Python file assigns, read, never run.
 *
 * FlagPerf is configured by Python files: test_conf.py, cluster_conf.py and one
 * file for each case. Of such a file this reads the statements NAME = VALUE
 * and NAME += VALUE at its top, where VALUE is made of strings (also r and u
 * ones, triple quoted, side by side), integers, floats, None, True, False,
 * lists, tuples, dicts, names that were assigned before, brackets, and `+`
 * between two of a kind. Comments, continuation lines and `;` are understood.
 *
 * Whatever else stands there is more than literals. It is no error of the file:
 * it is remembered with its line, and so is each name that it might change;
 * asking for such a name is the error. One value of a dict that is more than
 * literals leaves the others as they are. Nothing is imported, called or looked
 * up anywhere.
 *
 * A file is at most PYTHON_BYTES_MAX long; brackets and blocks nest at most
 * PYTHON_DEPTH_MAX deep; all values together, results of `+` too, take at most
 * PYTHON_MEMORY_MAX bytes.
 *
 * Source: The Python Language Reference 3.11, 2 (Lexical analysis) and 6.2.
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_PYTHON_LITERALS_H
#define CONTROLLER_SWEEP_FLAGPERF_PYTHON_LITERALS_H

#include "protocol/error.h"
#include "protocol/owned.h"

#include <stdbool.h>
#include <stddef.h>

#define PYTHON_BYTES_MAX (1 << 20)
#define PYTHON_DEPTH_MAX 64
#define PYTHON_MEMORY_MAX ((size_t)32 << 20)
#define PYTHON_NAMES_MAX 4096 /* names, and statements that were not read */

enum python_kind {
	PYTHON_NONE,
	PYTHON_BOOL,
	PYTHON_NUMBER,
	PYTHON_TEXT,
	PYTHON_LIST,
	PYTHON_TUPLE,
	PYTHON_DICT,
	PYTHON_OPAQUE, /* only as a dict's value: more than literals */
};

struct python_value {
	enum python_kind kind;
	unsigned line; /* where it begins, from 1 */
	bool truth;    /* PYTHON_BOOL */
	bool integer;  /* PYTHON_NUMBER */
	double number;
	const char *text; /* of a text; of a number as str() shows it; of an
			     opaque value, what was found */
	const struct python_value **items; /* of a dict, its values */
	const struct python_value **keys;  /* of a dict, no key twice */
	size_t count;
};

struct python;

/* file names the text in errors. EINVAL: no Python (a string or a bracket that
 * nothing closes, a NUL); E2BIG: past a limit; ENOMEM.
 */
struct python *python_read(const char *text, size_t size, const char *file,
			   struct error *err);
void python_free(struct python *python);
OWNED_POINTER(struct python, python_free)

/* The value of a name, which lives as long as the file; or NULL with *err:
 * ENOENT: nothing assigns it; EINVAL: "file:line: NAME: found ..., which is
 * more than a literal".
 */
const struct python_value *python_get(const struct python *python,
				      const char *name, struct error *err);

/* The names that the file assigns, in order of their first lines, and the line
 * of each; NULL past the last.
 */
const char *python_name(const struct python *python, size_t index,
			unsigned *line);

/* A statement that was not read: its line and its first words (cut); NULL past
 * the last.
 */
const char *python_skipped(const struct python *python, size_t index,
			   unsigned *line);

/* The text, or NULL with EINVAL that says what was found; PYTHON_NONE gives
 * NULL without an error when `none` is allowed (err->code stays as it was).
 */
int python_text(const struct python *python, const char *name, bool none,
		const char **text, struct error *err);

/* EINVAL: "file:line: " and the text; returns -1. */
int python_error(const struct python *python, const struct python_value *value,
		 struct error *err, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
