/* policy_question.h - what a plan asks regatta-agent, which knows what policies
 * refuse: `regatta-agent check-policy` reads a question as JSON from its
 * standard input, and prints the answer.
 */
#ifndef PROTOCOL_CONFIG_POLICY_QUESTION_H
#define PROTOCOL_CONFIG_POLICY_QUESTION_H

#include "protocol/base/owned.h"
#include "protocol/message/spec.h"

#define POLICY_QUESTION_WORD "check-policy" /* the agent's first argument */
#define POLICY_QUESTION_BYTES (64 << 20)
#define POLICY_QUESTION_JOBS 500

struct policy_question {
	struct strings policies; /* texts of policy files */
	struct container_spec *jobs;
	size_t jobs_count;
};

struct policy_refusal {
	uint32_t job;    /* its place in the question */
	uint32_t policy; /* likewise */
	char *text;      /* why it refuses the job */
};

struct policy_answer {
	struct policy_refusal *refusals;
	size_t refusals_count;
};

extern const struct schema policy_question_schema, policy_answer_schema;

void policy_question_clear(struct policy_question *question);
OWNED_VALUE(struct policy_question, policy_question_clear)
void policy_answer_clear(struct policy_answer *answer);
OWNED_VALUE(struct policy_answer, policy_answer_clear)

#endif
