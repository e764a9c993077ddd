/* import_sweep.h - writes a suite of a FlagPerf tree as a sweep file.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMPORT_SWEEP_H
#define CONTROLLER_CLI_COMMANDS_IMPORT_SWEEP_H

#include "controller/catalog/catalog.h"
#include "controller/sweep/flagperf/conf.h"
#include "protocol/base/buffer.h"

/* One of FlagPerf's suites. */
struct suite {
	const char *name;
	bool python;
	const char *file;    /* lists its cases */
	const char *cluster; /* lists its nodes; NULL: the same file */
};

/* Append a sweep file with the suite's cases. root: the tree, an absolute path.
 * catalog: to recognize chips, or NULL.
 */
int import_sweep_write(const char *root, const struct catalog *catalog,
		       const struct suite *suite, const struct conf *conf,
		       struct buffer *out, struct error *err);

#endif
