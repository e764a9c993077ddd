/* python_files.h - reads the literals that Python files assign, with python3.
 *
 * FlagPerf is configured by Python files: test_conf.py, cluster_conf.py and one
 * file for each case. The python3 of the machine parses them (python_files.py)
 * and executes nothing. Of each file it reads the statements NAME = VALUE and
 * NAME += VALUE at its top, where VALUE is made of strings, integers, floats,
 * None, True, False, lists, tuples, dicts, names that were assigned before, and
 * `+` between two of a kind.
 *
 * Any other statement is not an error: each name that it may change is recorded
 * with what was found instead of a literal. In a dict a value that is not a
 * literal does not affect the others.
 *
 * Limits of a file: 1 MiB; values nested 64 deep; 2^20 values, where each byte
 * of text counts as one; 4096 names. Limits of python3: 1 GiB of memory,
 * PYTHON_TIMEOUT_MS and PYTHON_OUTPUT_MAX.
 *
 * A value is a cJSON item:
 *	null, bool, string	None, True and False, a text
 *	number			an integer
 *	{"float": NUMBER}	a float, or an integer of 2^53 and more
 *	[VALUE, ...]		a list or a tuple
 *	{"dict": [[KEY, LINE, VALUE], ...]}
 *				KEY is no list and no dict, and is unique; LINE
 *				is its line, from 1
 *	{"found": TEXT, "line": LINE}
 *				not a literal, and what was found instead: in
 *				place of a name's or dict's value
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_PYTHON_FILES_H
#define CONTROLLER_SWEEP_FLAGPERF_PYTHON_FILES_H

#include "protocol/message/codec.h"

#define PYTHON_TIMEOUT_MS 60000
#define PYTHON_OUTPUT_MAX ((size_t)16 << 20)
#define PYTHON_FILES_MAX 256 /* of one command */

/* Append the words of the command (python3 ...) that reads the files, at most
 * PYTHON_FILES_MAX.
 */
int python_files_command(const struct strings *paths, struct strings *argv,
			 struct error *err);

struct python_files;

/* Decode the output of the command for these files. EPROTO: it does not have
 * the format above; ENOMEM.
 */
struct python_files *python_files_decode(const char *text, size_t size,
					 const struct strings *paths,
					 struct error *err);
void python_files_free(struct python_files *files);
OWNED_POINTER(struct python_files, python_files_free)

/* The path of a file. */
const char *python_file_path(const struct python_files *files, size_t file);

/* Was the file read? ENOENT and other codes of open(2); EINVAL: not valid
 * Python; E2BIG: past a limit. The text names file and line.
 */
int python_file_check(const struct python_files *files, size_t file,
		      struct error *err);

/* A name that the file assigns, by index in the order of first assignments,
 * with the line of that and its last value. NULL: past the last, or the file
 * was not read.
 */
const char *python_file_name(const struct python_files *files, size_t file,
			     size_t index, unsigned *line, const cJSON **value);

/* The value of a name; NULL: the file does not assign it. */
const cJSON *python_file_get(const struct python_files *files, size_t file,
			     const char *name);

/* What was found instead of a literal, and its line; NULL: it is a literal. */
const char *python_found(const cJSON *value, unsigned *line);

/* The entries of a dict, a list of [KEY, LINE, VALUE]; NULL: not a dict. */
const cJSON *python_dict(const cJSON *value);

#endif
