/* import_training.h - what the Python files of a FlagPerf tree configure.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMPORT_TRAINING_H
#define CONTROLLER_CLI_COMMANDS_IMPORT_TRAINING_H

#include "controller/cli/cli.h"
#include "controller/sweep/flagperf/conf.h"

/* Add what test_conf.py and cluster_conf.py, which need not be there, say, and
 * the hints of each case's own configuration below root, the tree. Errors as
 * conf_read_python() and python_read() say; hints that cannot be read are none.
 */
int import_training(struct cli *cli, const char *root,
		    const char *const path[2], struct conf *conf,
		    struct error *err);

#endif
