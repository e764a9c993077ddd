/* extract_learn.h - regatta extract --learn: makes rules for a log from values
 * that the user names.
 */
#ifndef CONTROLLER_CLI_COMMANDS_EXTRACT_LEARN_H
#define CONTROLLER_CLI_COMMANDS_EXTRACT_LEARN_H

#include "controller/cli/cli.h"

/* Print a framework description whose rules read the values ("name=text") in
 * the log (a file or "-"). Comments show what they read. Returns an exit code,
 * or -1.
 */
int extract_learn(struct cli *cli, const char *log, const char *const *values,
		  size_t count, struct error *err);

#endif
