/* conf.h - what the configuration files of a FlagPerf tree say.
 *
 *	training/run_benchmarks/config/test_conf.py and cluster_conf.py
 *	base/configs/host.yaml, operation/configs/host.yaml
 *
 * All of them assign the same names; Python is read by python_files.h.
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_CONF_H
#define CONTROLLER_SWEEP_FLAGPERF_CONF_H

#include "controller/sweep/flagperf/python_files.h"

#define CONF_HINTS 5

/* What a case's own configuration says of the cell in a literal: a whole
 * number, or 0.
 */
struct conf_hint {
	const char *key; /* of a sweep: "batch.sequence" */
	uint64_t number;
};

struct conf_case {
	char *name; /* "model:framework:hardware:nnodes:nproc:repeat" */
	char *text; /* the data's path, or the environment */
	char *file; /* where it stands */
	unsigned line;
	struct conf_hint hints[CONF_HINTS];
};

struct conf {
	cJSON *values; /* the other names: texts, numbers, bools, lists */
	struct conf_case *cases;
	size_t count;
	struct strings notes; /* what could not be read, with file and line */
	struct strings wrong; /* the same of cases */
};

void conf_init(struct conf *conf);
void conf_clear(struct conf *conf);
OWNED_VALUE(struct conf, conf_clear)

/* Add what a file says; its names win over those that are there. ENOENT: there
 * is no such file. EINVAL names file and line: no Python, or CASES that is not
 * a dict. A case in it that is no literal is wrong; the others are there.
 */
int conf_read_python(struct conf *conf, const struct python_files *files,
		     size_t file, struct error *err);
int conf_read_yaml(struct conf *conf, const char *path, struct error *err);

/* A text, or a number as it is written; "" where the name is not set. */
const char *conf_text(const struct conf *conf, const char *name);

/* What a case's own configuration says; a file that cannot be read says
 * nothing.
 */
void conf_hints(const struct python_files *files, size_t file,
		struct conf_hint hints[CONF_HINTS]);

#endif
