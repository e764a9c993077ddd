/* policy_answer.h - says for a plan which policies refuse which jobs.
 *
 * Pure. Only a job's own values are checked. The node's profile, the user's
 * name and links on the node are not known here; the node checks them when the
 * job comes (node_policy.h).
 */
#pragma once

#include "protocol/config/policy.h"

/* Fill *answer, which was zero; the caller clears it, also on failure. A policy
 * that cannot be read refuses nothing. ENOMEM.
 */
int policy_answer_make(const struct policy_question *question,
		       struct policy_answer *answer, struct error *err);

/* The program: reads a question from standard input, and prints the answer. An
 * exit code, or -1 with *err set.
 */
int policy_answer_main(struct error *err);
