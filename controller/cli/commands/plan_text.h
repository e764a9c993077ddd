/* plan_text.h - prints a plan as text.
 */
#ifndef CONTROLLER_CLI_COMMANDS_PLAN_TEXT_H
#define CONTROLLER_CLI_COMMANDS_PLAN_TEXT_H

#include "controller/cli/commands/plan_forecast.h"
#include "controller/sweep/sweep.h"

#define PLAN_TEXT_ROWS 1000 /* kept, and dropped, cells shown at most */

/* Print a plan of at most PLAN_TEXT_ROWS rows, after plan_forecast_add(). */
int plan_text_print(struct cli *cli, const cJSON *plan,
		    const struct sweep *sweep,
		    const struct plan_forecast *forecast, struct error *err);

#endif
