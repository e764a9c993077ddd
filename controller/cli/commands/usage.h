/* usage.h - prints tables of the device and host samples of a job.
 */
#ifndef CONTROLLER_CLI_COMMANDS_USAGE_H
#define CONTROLLER_CLI_COMMANDS_USAGE_H

#include "controller/cli/cli.h"
#include "protocol/message/result.h"

/* Print the devices and the hosts in the usage of a result; NULL: nothing. all:
 * also what is wider than the terminal.
 */
int usage_print(struct cli *cli, const struct usage_summary *usage, bool all,
		struct error *err);

#endif
