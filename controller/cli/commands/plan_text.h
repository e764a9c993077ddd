/* plan_text.h - a plan as text for people.
 */
#ifndef CONTROLLER_CLI_COMMANDS_PLAN_TEXT_H
#define CONTROLLER_CLI_COMMANDS_PLAN_TEXT_H

#include "controller/cli/commands/plan_forecast.h"
#include "controller/sweep/sweep.h"

#define PLAN_TEXT_ROWS 1000 /* kept and dropped cells that are shown */

/* Print a plan of at most PLAN_TEXT_ROWS rows to which the forecast was added.
 */
int plan_text_print(struct cli *cli, const cJSON *plan,
		    const struct sweep *sweep,
		    const struct plan_forecast *forecast, struct error *err);

#endif
