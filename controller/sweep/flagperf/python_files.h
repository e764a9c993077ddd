/* python_files.h - the literals that Python files assign, read by python3.
 *
 * FlagPerf is configured by Python files: test_conf.py, cluster_conf.py and one
 * file for each case. The python3 of the machine parses them (python_files.py)
 * and executes nothing. Of each file it reads the statements NAME = VALUE and
 * NAME += VALUE at its top, where VALUE is made of strings, integers, floats,
 * None, True, False, lists, tuples, dicts, names that were assigned before, and
 * `+` between two of a kind.
 *
 * Whatever else stands there is more than literals. It is no error of the file:
 * each name that it may change is remembered with what was found. One value of
 * a dict that is more than literals leaves the others as they are.
 *
 * A file is at most 1 MiB long; its values nest at most 64 deep and number at
 * most 2^20, a byte of text counting as one; it assigns at most 4096 names.
 * Python may use 1 GiB of memory, PYTHON_TIMEOUT_MS and PYTHON_OUTPUT_MAX.
 *
 * A value is a cJSON item:
 *	null, bool, string	None, True and False, a text
 *	number			an integer
 *	{"float": NUMBER}	a float, or an integer of 2^53 and more
 *	[VALUE, ...]		a list or a tuple
 *	{"dict": [[KEY, LINE, VALUE], ...]}
 *				KEY is none of the two above, no dict and not
 *				twice there; LINE is where it stands, from 1
 *	{"found": TEXT, "line": LINE}
 *				more than a literal, and what was found there:
 *				of a name, or of a dict
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_PYTHON_FILES_H
#define CONTROLLER_SWEEP_FLAGPERF_PYTHON_FILES_H

#include "protocol/message/codec.h"

#define PYTHON_TIMEOUT_MS 60000
#define PYTHON_OUTPUT_MAX ((size_t)16 << 20)
#define PYTHON_FILES_MAX 256 /* of one command */

/* Append the command that reads the files, at most PYTHON_FILES_MAX: the words
 * of argv, the first of which is python3.
 */
int python_files_command(const struct strings *paths, struct strings *argv,
			 struct error *err);

struct python_files;

/* What the command printed of these files. EPROTO: it is not as described
 * above; ENOMEM.
 */
struct python_files *python_files_decode(const char *text, size_t size,
					 const struct strings *paths,
					 struct error *err);
void python_files_free(struct python_files *files);
OWNED_POINTER(struct python_files, python_files_free)

/* Its path. */
const char *python_file_path(const struct python_files *files, size_t file);

/* Can the file be read? ENOENT and other codes of open(); EINVAL: it is no
 * Python; E2BIG: it is past a limit. The text names file and line.
 */
int python_file_check(const struct python_files *files, size_t file,
		      struct error *err);

/* A name that the file assigns, in the order of first lines, that line, and its
 * last value; NULL past the last, or when the file could not be read.
 */
const char *python_file_name(const struct python_files *files, size_t file,
			     size_t index, unsigned *line, const cJSON **value);

/* The value of a name; NULL: the file does not assign it. */
const cJSON *python_file_get(const struct python_files *files, size_t file,
			     const char *name);

/* What was found instead of a literal, and its line; NULL: it is a literal. */
const char *python_found(const cJSON *value, unsigned *line);

/* The entries of a dict, a list of [KEY, LINE, VALUE]; NULL: it is none. */
const cJSON *python_dict(const cJSON *value);

#endif
