/* import_training.h - what the Python files of a FlagPerf tree configure.
 */
#ifndef CONTROLLER_CLI_COMMANDS_IMPORT_TRAINING_H
#define CONTROLLER_CLI_COMMANDS_IMPORT_TRAINING_H

#include "controller/cli/cli.h"
#include "controller/cli/commands/import_sweep.h"
#include "controller/sweep/flagperf/conf.h"

/* Add what test_conf.py and cluster_conf.py, which need not be there, say, and
 * the hints of each case's own configuration below root, the tree. Errors as
 * import_path(), conf_read_python() and python_read() say; hints that cannot be
 * read are none.
 */
int import_training(struct cli *cli, const char *root,
		    const struct suite *suite, struct conf *conf,
		    struct error *err);

#endif
