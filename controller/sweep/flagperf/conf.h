/* conf.h - reads the configuration files of a FlagPerf tree.
 *
 *	training/run_benchmarks/config/test_conf.py and cluster_conf.py
 *	base/configs/host.yaml, operation/configs/host.yaml
 *
 * All assign the same names. python_files.h reads the Python files.
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_CONF_H
#define CONTROLLER_SWEEP_FLAGPERF_CONF_H

#include "controller/sweep/flagperf/python_files.h"

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

#endif
