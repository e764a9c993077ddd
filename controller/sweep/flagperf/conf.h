/* conf.h - reads the configuration files of a FlagPerf tree.
 *
 *	training/run_benchmarks/config/test_conf.py and cluster_conf.py
 *	base/configs/host.yaml, operation/configs/host.yaml
 *
 * All assign the same names. Those in Python are read as said below.
 */
#pragma once

#include "protocol/message/codec.h"

/* Reads the literals that Python files assign, with python3.
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

#define CONF_HINTS 5

/* A value of the cell from the case's own configuration: an integer literal,
 * else 0.
 */
struct conf_hint {
	const char *key; /* of a sweep: "batch.sequence" */
	uint64_t number;
};

struct conf_case {
	char *name; /* "model:framework:hardware:nnodes:nproc:repeat" */
	char *text; /* the data's path, or the environment */
	char *file; /* that contains it */
	unsigned line;
	struct conf_hint hints[CONF_HINTS];
};

struct conf {
	cJSON *values; /* the other names: texts, numbers, bools, lists */
	struct conf_case *cases;
	size_t count;
	struct strings
		notes; /* names that could not be read, with file and line */
	struct strings wrong; /* the same for cases */
};

void conf_init(struct conf *conf);
void conf_clear(struct conf *conf);
OWNED_VALUE(struct conf, conf_clear)

/* Add the values of a file; they replace earlier values. ENOENT: no such file.
 * EINVAL, with file and line: not Python, or CASES is not a dict. A case that
 * is not a literal goes to `wrong`; the others are added.
 */
int conf_read_python(struct conf *conf, const struct python_files *files,
		     size_t file, struct error *err);
int conf_read_yaml(struct conf *conf, const char *path, struct error *err);

/* The value of a name: a text, or a number as written; "": not set. */
const char *conf_text(const struct conf *conf, const char *name);

/* Read the hints in a case's own configuration. An unreadable file gives none.
 */
void conf_hints(const struct python_files *files, size_t file,
		struct conf_hint hints[CONF_HINTS]);
