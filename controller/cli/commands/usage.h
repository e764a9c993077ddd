/* usage.h - what was sampled beside a job, as tables.
 */
#ifndef CONTROLLER_CLI_COMMANDS_USAGE_H
#define CONTROLLER_CLI_COMMANDS_USAGE_H

#include "controller/cli/cli.h"

#include <cjson/cJSON.h>

/* Print the devices and the hosts of the result's usage
 * (controller/results/result.h); nothing where there is none.
 */
int usage_print(struct cli *cli, const cJSON *result, struct error *err);

#endif
