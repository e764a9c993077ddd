/* plan_forecast.h - asks the controller what would become of a sweep, and adds
 * it to a plan.
 */
#pragma once

#include "controller/cli/input.h"
#include "controller/cli/commands/least_policy.h"

struct plan_forecast {
	struct message_plan message; /* its workspaces are owned */
	struct answer answer;
	const struct reply_plan *reply; /* in answer; NULL: not checked */
	struct least_policy least;      /* what the refused cells need */
	char text[300];                 /* why it was not checked */
	char unchecked[300]; /* why policies were not; "": they were */
};

/* Ask the controller about the first `rows` cells. Adds to the input's text
 * what the controller lacks. If the controller does not answer, this is no
 * error: reply is NULL, and text says why.
 */
int plan_forecast_init(struct plan_forecast *forecast, struct cli *cli,
		       struct input *input, size_t rows, struct error *err);
void plan_forecast_clear(struct plan_forecast *forecast);
OWNED_VALUE(struct plan_forecast, plan_forecast_clear)

/* Add the forecast to a plan (controller/sweep/plan.h). */
int plan_forecast_add(struct plan_forecast *forecast, const struct cli *cli,
		      struct sweep *sweep, cJSON *plan, struct error *err);
