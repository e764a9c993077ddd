/* plan_forecast.c - asks the controller what would become of a sweep, and adds
 * it to a plan.
 */
#include "controller/cli/commands/plan_forecast.h"

#include "controller/cli/cli.h"
#include "controller/cli/commands/least_policy.h"
#include "controller/cli/workspace.h"
#include "controller/results/json_object.h"
#include "controller/sweep/sweep.h"
#include "protocol/base/file.h"
#include "protocol/config/policy.h"
#include "protocol/message/json_get.h"
#include "protocol/message/reply_sweeps.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* Asks regatta-agent which cells the policies of the nodes
 * refuse.
 *
 * Only a cell's own values are checked; see agent/policy/policy_answer.h.
 */

/* Cells that are asked about at once. */
struct policy_batch {
	const char *program; /* regatta-agent */
	const struct reply_plan *reply;
	struct least_policy *least;
	struct policy_question question;   /* its policies are borrowed */
	cJSON *rows[POLICY_QUESTION_JOBS]; /* borrowed */
};

static void batch_clear_jobs(struct policy_batch *batch)
{
	struct policy_question *question = &batch->question;

	for (size_t i = 0; i < question->jobs_count; i++)
		codec_clear(&container_spec_schema, &question->jobs[i]);
	question->jobs_count = 0;
}

static void policy_batch_clear(struct policy_batch *batch)
{
	batch_clear_jobs(batch);
	free(batch->question.jobs);
	free(batch->question.policies.items);
}
OWNED_VALUE(struct policy_batch, policy_batch_clear)

/* Run the program from one file to another. */
static int agent_run(const char *program, int in, int out, struct error *err)
{
	const char *const argv[] = { program, POLICY_QUESTION_WORD, NULL };
	posix_spawn_file_actions_t files;
	int status = 0, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
	rc = posix_spawn(&pid, program, &files, NULL, (char **)argv, environ);
	posix_spawn_file_actions_destroy(&files);
	if (rc)
		return error_set(err, rc, "%s: %s", program, strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return error_errno(err, "%s", program);
	return status ? error_set(err, EIO,
				  "%s " POLICY_QUESTION_WORD ": it failed",
				  program)
		      : 0;
}

/* Replaces the question's text by the answer's. */
static int agent_answer(const char *program, struct buffer *text,
			struct error *err)
{
	owned_fd int in = memfd_create("question", MFD_CLOEXEC);
	owned_fd int out = memfd_create("answer", MFD_CLOEXEC);

	if (in < 0 || out < 0)
		return error_errno(err, "policies");
	if (file_write_all(in, "question", text->data, text->size, err) < 0 ||
	    lseek(in, 0, SEEK_SET) < 0 ||
	    agent_run(program, in, out, err) < 0 || lseek(out, 0, SEEK_SET) < 0)
		return -1;
	buffer_clear(text);
	return file_read_fd(out, program, text, err);
}

static cJSON *refused_of(cJSON *row)
{
	cJSON *list = cJSON_GetObjectItem(row, "refused");

	return list ? list : cJSON_AddArrayToObject(row, "refused");
}

static int batch_note(struct policy_batch *batch,
		      const struct policy_refusal *refusal, struct error *err)
{
	const struct plan_policy *policy =
		&batch->reply->policies[refusal->policy];
	cJSON *row = batch->rows[refusal->job];
	cJSON *item;

	if (strcmp(policy->vendor, row_text(row, "vendor")) != 0)
		return 0;
	item = cJSON_CreateObject();
	cJSON_AddItemToArray(refused_of(row), item);
	cJSON_AddItemToObject(item, "nodes",
			      cJSON_CreateStringArray((const char *const *)
							      policy->nodes
								      .items,
						      (int)policy->nodes
							      .count));
	if (!cJSON_AddStringToObject(item, "text", refusal->text))
		return error_nomem(err, "plan");
	return least_policy_add(batch->least,
				&batch->question.jobs[refusal->job], err);
}

static int batch_ask(struct policy_batch *batch, struct error *err)
{
	owned(policy_answer_clear) struct policy_answer answer = { 0 };
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(POLICY_QUESTION_BYTES);

	if (codec_encode(&policy_question_schema, &batch->question, &text,
			 err) < 0 ||
	    agent_answer(batch->program, &text, err) < 0 ||
	    codec_decode(&policy_answer_schema, text.size ? text.data : "",
			 text.size, &answer, err) < 0)
		return -1;
	for (size_t i = 0; i < answer.refusals_count; i++) {
		const struct policy_refusal *refusal = &answer.refusals[i];

		if (refusal->job >= batch->question.jobs_count ||
		    refusal->policy >= batch->reply->policies_count)
			return error_set(err, EPROTO,
					 "%s: its answer names what it was not "
					 "asked about",
					 batch->program);
		if (batch_note(batch, refusal, err) < 0)
			return -1;
	}
	batch_clear_jobs(batch);
	return 0;
}

/* Ask about the row's cell when enough have come together. */
static int batch_add(struct policy_batch *batch, struct sweep *sweep,
		     size_t cell, cJSON *row, struct error *err)
{
	struct policy_question *question = &batch->question;
	owned(job_spec_clear) struct job_spec spec = { 0 };

	if (sweep_cell_spec(sweep, cell, &spec, err) < 0)
		return -1;
	batch->rows[question->jobs_count] = row;
	question->jobs[question->jobs_count++] = spec.container;
	spec.container = (struct container_spec){ 0 };
	return question->jobs_count < POLICY_QUESTION_JOBS
		       ? 0
		       : batch_ask(batch, err);
}

static int batch_init(struct policy_batch *batch, struct error *err)
{
	struct policy_question *question = &batch->question;
	struct strings *policies = &question->policies;
	size_t count = batch->reply->policies_count;

	question->jobs = calloc(POLICY_QUESTION_JOBS, sizeof(*question->jobs));
	policies->items = calloc(count, sizeof(*policies->items));
	if (!question->jobs || !policies->items)
		return error_nomem(err, "policies");
	for (; policies->count < count; policies->count++)
		policies->items[policies->count] =
			batch->reply->policies[policies->count].text;
	return 0;
}

/* Add to each row of the plan's kept cells that policies refuse:
 *	"refused": [{"nodes": [name, ...], "text": why}]
 * with an object for each policy of nodes of its vendor; and what they need to
 * *least. ENOENT: regatta-agent is not installed on this machine.
 */
static int plan_policies_add(const struct cli *cli,
			     const struct reply_plan *reply,
			     struct sweep *sweep, cJSON *plan,
			     struct least_policy *least, struct error *err)
{
	char program[PATH_MAX];
	owned(policy_batch_clear) struct policy_batch batch = {
		.program = program, .reply = reply, .least = least
	};
	size_t cell = 0;
	cJSON *row;

	if (!reply->policies_count)
		return 0;
	if (settings_program(cli->environment, "regatta-agent", program, err) <
		    0 ||
	    batch_init(&batch, err) < 0)
		return -1;
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
		if (batch_add(&batch, sweep, cell++, row, err) < 0)
			return -1;
	return batch.question.jobs_count ? batch_ask(&batch, err) : 0;
}

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
		refused |= cJSON_HasObjectItem(row, "refused");
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
	cJSON_ArrayForEach(row, row_at(plan, "kept")) {
		if (cell >= reply->cells_count)
			break;
		if (forecast_add_cell(&reply->cells[cell++], row, err) < 0)
			return -1;
	}
	return forecast_add_refusals(forecast, cli, sweep, plan, err);
}
