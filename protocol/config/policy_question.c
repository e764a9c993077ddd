/* policy_question.c - what a plan asks regatta-agent about policies.
 */
#include "protocol/config/policy_question.h"

/* clang-format off */
const struct schema policy_question_schema = SCHEMA(policy_question,
	FIELD(policy_question, policies),
	FIELD_ROWS(policy_question, jobs, container_spec_schema));

static const struct schema policy_refusal_schema = SCHEMA(policy_refusal,
	FIELD(policy_refusal, job),
	FIELD(policy_refusal, policy),
	FIELD(policy_refusal, text));

const struct schema policy_answer_schema = SCHEMA(policy_answer,
	FIELD_ROWS(policy_answer, refusals, policy_refusal_schema));
/* clang-format on */

void policy_question_clear(struct policy_question *question)
{
	codec_clear(&policy_question_schema, question);
}

void policy_answer_clear(struct policy_answer *answer)
{
	codec_clear(&policy_answer_schema, answer);
}
