/* plan_forecast.h - what a controller adds to a plan: nodes, policies, times.
 */
#ifndef CONTROLLER_CLI_COMMANDS_PLAN_FORECAST_H
#define CONTROLLER_CLI_COMMANDS_PLAN_FORECAST_H

#include "controller/cli/cli.h"
#include "controller/cli/plan/least_policy.h"
#include "controller/cli/plan/node_snapshot.h"
#include "controller/cli/plan/schedule_simulation.h"

struct plan_forecast {
	struct node_snapshot snapshot;
	uint64_t *times; /* by kept cell: how long a job took, 0: unknown */
	uint32_t *runs;  /* and how many have run */
	struct schedule_simulation *simulation; /* NULL: not checked */
	struct least_policy least; /* of the cells that nodes refuse */
	char text[300];            /* why not */
};

/* Ask the controller, and simulate the schedule. A controller that cannot be
 * reached is no error: then simulation is NULL, and text says why.
 */
int plan_forecast_init(struct plan_forecast *forecast, struct cli *cli,
		       struct sweep *sweep, struct error *err);
void plan_forecast_clear(struct plan_forecast *forecast);
OWNED_VALUE(struct plan_forecast, plan_forecast_clear)

/* Add it to a plan (controller/sweep/plan.h). */
int plan_forecast_add(struct plan_forecast *forecast, struct sweep *sweep,
		      cJSON *plan, struct error *err);

#endif
