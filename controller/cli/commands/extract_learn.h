/* extract_learn.h - regatta extract --learn: rules for a log, from values that
 * a person sees in it.
 */
#ifndef CONTROLLER_CLI_COMMANDS_EXTRACT_LEARN_H
#define CONTROLLER_CLI_COMMANDS_EXTRACT_LEARN_H

#include "controller/cli/cli.h"

/* Print a framework description with rules that read the values ("name=text")
 * in the log (a file or "-"), and in comments what they read. Exit code, or -1.
 */
int extract_learn(struct cli *cli, const char *log, const char *const *values,
		  size_t count, struct error *err);

#endif
