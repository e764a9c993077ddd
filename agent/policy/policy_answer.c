/* policy_answer.c - says for a plan which policies refuse which jobs.
 */
#include "agent/policy/policy_answer.h"
#include "agent/docker/create_body.h"
#include "agent/policy/policy_check.h"
#include "agent/policy/policy_image.h"
#include "protocol/base/file.h"
#include "protocol/base/list.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int policy_answer_check(const struct policy *policy,
			       const struct container_spec *job,
			       struct error *err)
{
	/* Borrowed: neither is cleared. */
	struct task_spec task = { .nodes = 1, .container = *job };
	const struct task_spec bare = { .nodes = 1,
					.container = {
						.image = job->image,
						.ssh = job->ssh,
						.workspace = job->workspace,
						.workspace_folder =
							job->workspace_folder,
					} };
	const struct container_place place = {
		.cluster = "plan",
		.node = "plan",
		.init_program = "/",
		.init_path = "/",
		.in_folder = "/",
		.out_folder = "/",
		.work_folder = "/",
		.image = job->image,
		.pids = (uint32_t)policy->limits.pids,
	};
	owned(cJSON_Delete) cJSON *request = NULL;
	owned(cJSON_Delete) cJSON *own = NULL;

	policy_check_limit(policy, &task.container);
	if ((job->build ? policy_image_check_build(policy, job->image,
						   job->build, err)
			: policy_image_check(policy, job->image, err)) < 0 ||
	    policy_check_needs(policy, &job->needs, NULL, err) < 0 ||
	    policy_check_folder(policy, job->build, NULL, err) < 0)
		return -1;
	request = container_body(&task, &place, err);
	own = container_body(&bare, &place, err);
	return request && own
		       ? policy_check_request(policy, request, own, NULL, err)
		       : -1;
}

static int policy_answer_add(struct policy_answer *answer, size_t job,
			     size_t policy, const char *text, struct error *err)
{
	struct policy_refusal *refusal =
		LIST_ADD(answer->refusals, answer->refusals_count, err);

	if (!refusal)
		return -1;
	refusal->job = (uint32_t)job;
	refusal->policy = (uint32_t)policy;
	return string_set(&refusal->text, text, err);
}

int policy_answer_make(const struct policy_question *question,
		       struct policy_answer *answer, struct error *err)
{
	for (size_t i = 0; i < question->policies.count; i++) {
		const char *text = question->policies.items[i];
		struct error why = { 0 };
		owned(policy_free) struct policy *policy =
			policy_parse(text, strlen(text), "the node's policy",
				     &why);

		if (!policy && why.code == ENOMEM)
			return error_nomem(err, "policies");
		for (size_t k = 0; policy && k < question->jobs_count; k++) {
			if (policy_answer_check(policy, &question->jobs[k],
						&why) == 0)
				continue;
			if (why.code == ENOMEM)
				return error_nomem(err, "policies");
			/* Other errors are no matter of the policy. */
			if (why.code == EPERM &&
			    policy_answer_add(answer, k, i, why.text, err) < 0)
				return -1;
		}
	}
	return 0;
}

int policy_answer_main(struct error *err)
{
	owned(policy_question_clear) struct policy_question question = { 0 };
	owned(policy_answer_clear) struct policy_answer answer = { 0 };
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(POLICY_QUESTION_BYTES);

	if (file_read_any("/dev/stdin", &text, err) < 0 ||
	    codec_decode(&policy_question_schema, text.size ? text.data : "",
			 text.size, &question, err) < 0 ||
	    policy_answer_make(&question, &answer, err) < 0)
		return -1;
	buffer_clear(&text);
	if (codec_encode(&policy_answer_schema, &answer, &text, err) < 0)
		return -1;
	fwrite(text.data, 1, text.size, stdout);
	return fflush(stdout) == 0 ? EXIT_GOOD
				   : error_errno(err, "standard output");
}
