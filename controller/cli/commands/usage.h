/* usage.h - prints tables of the device and host samples of a job.
 */
#ifndef CONTROLLER_CLI_COMMANDS_USAGE_H
#define CONTROLLER_CLI_COMMANDS_USAGE_H

#include "controller/cli/cli.h"

#include <cjson/cJSON.h>

/* Print the devices and the hosts in the usage of a result
 * (controller/results/result.h); nothing if it has no usage. all: also what is
 * wider than the terminal.
 */
int usage_print(struct cli *cli, const cJSON *result, bool all,
		struct error *err);

#endif
