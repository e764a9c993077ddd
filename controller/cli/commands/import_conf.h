/* import_conf.h - reads the configuration of a suite in a FlagPerf tree.
 *
 * The tree is not trusted: a name in it may be a link to any file of this
 * machine, or a FIFO. Only regular files inside the tree are read.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/cli/cli.h"
#include "controller/sweep/flagperf/conf.h"
#include "protocol/base/buffer.h"

/* Writes a suite of a FlagPerf tree as a sweep file. */

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

/* Add the suite's configuration to conf: of training, the values of
 * test_conf.py and cluster_conf.py (the latter is optional) and the hints of
 * each case's own configuration; else, those of host.yaml. root: the tree,
 * without links. Hints that cannot be read are skipped, with a message. ENOENT:
 * no such suite; EINVAL: its file is outside of the tree, or wrong; errors of
 * python_read().
 */
int import_conf_read(struct cli *cli, const char *root,
		     const struct suite *suite, struct conf *conf,
		     struct error *err);

/* Read the assignments of at most PYTHON_FILES_MAX files with the python3 of
 * this machine. NULL with *err: EPROTO: python3 is not installed (the text
 * names the package), failed, or gave an invalid answer; ETIMEDOUT, E2BIG: it
 * took too long or printed too much. An unreadable file is no error: see
 * python_file_check().
 */
struct python_files *python_read(const struct strings *paths,
				 struct error *err);
