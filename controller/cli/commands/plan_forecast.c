/* plan_forecast.c - asks the controller what would become of a sweep, and adds
 * it to a plan.
 */
#include "controller/cli/commands/plan_forecast.h"
#include "controller/cli/commands/plan_policies.h"
#include "controller/cli/workspace.h"
#include "controller/results/json_object.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void plan_forecast_clear(struct plan_forecast *forecast)
{
	codec_clear(message_kinds[MESSAGE_PLAN].schema, &forecast->message);
	answer_clear(&forecast->answer);
	least_policy_clear(&forecast->least);
}

/* Has the controller read the same sweep? */
static int forecast_check(const struct reply_plan *reply,
			  const struct sweep *sweep, struct error *err)
{
	const struct sweep_totals *totals = sweep_totals(sweep);

	if (reply->cells_total == totals->kept && reply->jobs == totals->jobs)
		return 0;
	return error_set(err, EPROTO,
			 "the controller finds %llu cells with %llu jobs; "
			 "expected %zu with %zu: its version differs",
			 (unsigned long long)reply->cells_total,
			 (unsigned long long)reply->jobs, totals->kept,
			 totals->jobs);
}

static int forecast_ask(struct plan_forecast *forecast, struct cli *cli,
			struct input *input, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	struct answer *answer = &forecast->answer;

	if (!client || input_add_descriptions(input, cli, client, err) < 0 ||
	    client_call_with(client, MESSAGE_PLAN, &forecast->message,
			     input->text.data, input->text.size, 0, answer,
			     err) < 0)
		return -1;
	return forecast_check(answer->reply, input->sweep, err);
}

int plan_forecast_init(struct plan_forecast *forecast, struct cli *cli,
		       struct input *input, size_t rows, struct error *err)
{
	struct message_plan *message = &forecast->message;
	struct error why = { 0 };

	message->rows = (uint32_t)rows;
	/* Workspaces are part of the key of a cell, by which its earlier times
	 * are found.
	 */
	if (string_set(&message->file, input->name, err) < 0 ||
	    workspaces_bind(input->sweep, input->name, cli, message, err) < 0)
		return -1;
	if (forecast_ask(forecast, cli, input, &why) < 0) {
		if (why.code == ENOMEM)
			return error_nomem(err, "plan");
		snprintf(forecast->text, sizeof(forecast->text), "%s",
			 why.text);
		return 0;
	}
	forecast->reply = forecast->answer.reply;
	return 0;
}

/* The additions to the plan. */

static void forecast_add_totals(const struct plan_forecast *forecast,
				cJSON *plan, bool *failed)
{
	const struct reply_plan *reply = forecast->reply;
	cJSON *cluster = cJSON_AddObjectToObject(plan, "cluster"), *to;

	json_add(cluster, "checked", cJSON_CreateBool(reply != NULL), failed);
	if (!reply) {
		json_add_text(cluster, "text", forecast->text, failed);
		return;
	}
	to = cJSON_AddObjectToObject(plan, "forecast");
	json_add_number(cluster, "nodes", reply->nodes, failed);
	json_add_number(cluster, "usable", reply->usable, failed);
	json_add_number(cluster, "others", reply->others, failed);
	json_add_number(to, "waves", reply->waves, failed);
	json_add_number(to, "time_ms", reply->time_ms, failed);
	json_add_number(to, "known", (double)reply->known, failed);
	json_add_number(to, "unknown", (double)reply->unknown, failed);
	json_add_number(to, "timed", (double)reply->timed, failed);
	json_add_number(to, "lacking", (double)reply->lacking, failed);
	json_add(to, "cut", cJSON_CreateBool(reply->cut), failed);
}

/* Add the fields of plan_cell to the row. */
static int forecast_add_cell(const struct plan_cell *cell, cJSON *row,
			     struct error *err)
{
	cJSON *fields = codec_object(&plan_cell_schema, cell, err);

	if (!fields)
		return -1;
	while (fields->child) {
		cJSON *field =
			cJSON_DetachItemViaPointer(fields, fields->child);

		cJSON_AddItemToObject(row, field->string, field);
	}
	cJSON_Delete(fields);
	return 0;
}

/* Add which cells the policies refuse. Without regatta-agent this is not known.
 */
static int forecast_add_refusals(struct plan_forecast *forecast,
				 const struct cli *cli, struct sweep *sweep,
				 cJSON *plan, struct error *err)
{
	struct error why = { 0 };
	bool failed = false, refused = false;
	const cJSON *row;

	if (plan_policies_add(cli, forecast->reply, sweep, plan,
			      &forecast->least, &why) < 0) {
		if (why.code == ENOMEM)
			return error_nomem(err, "plan");
		snprintf(forecast->unchecked, sizeof(forecast->unchecked), "%s",
			 why.text);
		json_add_text(json_get(plan, "cluster"), "policies_unchecked",
			      why.text, &failed);
		return failed ? error_nomem(err, "plan") : 0;
	}
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		refused |= cJSON_HasObjectItem(row, "refused");
	}
	if (refused)
		cJSON_AddItemToObject(plan, "policy",
				      least_policy_json(&forecast->least));
	return 0;
}

int plan_forecast_add(struct plan_forecast *forecast, const struct cli *cli,
		      struct sweep *sweep, cJSON *plan, struct error *err)
{
	const struct reply_plan *reply = forecast->reply;
	bool failed = false;
	size_t cell = 0;
	cJSON *row;

	if (least_policy_init(&forecast->least, err) < 0)
		return -1;
	forecast_add_totals(forecast, plan, &failed);
	if (failed)
		return error_nomem(err, "plan");
	if (!reply)
		return 0;
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		if (cell >= reply->cells_count)
			break;
		if (forecast_add_cell(&reply->cells[cell++], row, err) < 0)
			return -1;
	}
	return forecast_add_refusals(forecast, cli, sweep, plan, err);
}
