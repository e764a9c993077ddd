/* plan_forecast.h - adds to a plan what the controller knows: nodes, policies,
 * run times.
 */
#ifndef CONTROLLER_CLI_COMMANDS_PLAN_FORECAST_H
#define CONTROLLER_CLI_COMMANDS_PLAN_FORECAST_H

#include "controller/cli/cli.h"
#include "controller/cli/plan/least_policy.h"
#include "controller/cli/plan/node_snapshot.h"
#include "controller/cli/plan/schedule_simulation.h"

struct plan_forecast {
	struct node_snapshot snapshot;
	uint64_t *times; /* by kept cell: duration of a job in ms, 0: unknown */
	uint32_t *runs;  /* by kept cell: number of past jobs */
	struct schedule_simulation *simulation; /* NULL: not checked */
	struct least_policy least; /* what the refused cells need */
	char text[300];            /* why it was not checked */
};

/* Ask the controller, and simulate the schedule. If the controller cannot be
 * reached, this is no error: simulation is NULL, and text says why.
 */
int plan_forecast_init(struct plan_forecast *forecast, struct cli *cli,
		       struct sweep *sweep, struct error *err);
void plan_forecast_clear(struct plan_forecast *forecast);
OWNED_VALUE(struct plan_forecast, plan_forecast_clear)

/* Add the forecast to a plan (controller/sweep/plan.h). */
int plan_forecast_add(struct plan_forecast *forecast, struct sweep *sweep,
		      cJSON *plan, struct error *err);

#endif
