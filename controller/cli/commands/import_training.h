/* import_training.h - reads the Python configuration of a FlagPerf tree.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMPORT_TRAINING_H
#define CONTROLLER_CLI_COMMANDS_IMPORT_TRAINING_H

#include "controller/cli/cli.h"
#include "controller/cli/commands/import_sweep.h"
#include "controller/sweep/flagperf/conf.h"

/* Add the values of test_conf.py and cluster_conf.py (both optional), and the
 * hints of each case's own configuration, to conf. root: the tree. Errors:
 * those of import_path(), conf_read_python() and python_read(). Hints that
 * cannot be read are skipped.
 */
int import_training(struct cli *cli, const char *root,
		    const struct suite *suite, struct conf *conf,
		    struct error *err);

#endif
