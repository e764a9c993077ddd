/* policy_answer_test.c - a plan is told which policies refuse which jobs.
 */
#include "agent/policy/policy_answer.h"

#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

/* Three policies, the second one unreadable, and three jobs: what any node
 * runs, one that needs a right, and one that no engine would take.
 */
static const char asked[] =
	"{\"policies\":[\"\",\"mounts: {\",\"capabilities: [SYS_NICE]\\n"
	"images: [\\\"reg.lab/*\\\"]\"],\"jobs\":["
	"{\"image\":\"reg.lab/a:1\"},"
	"{\"image\":\"b:1\",\"capabilities\":[\"SYS_NICE\"]},"
	"{\"image\":\"reg.lab/c:1\",\"network\":\"none of them\"}]}";

static void test_answer(void)
{
	owned(policy_question_clear) struct policy_question question = { 0 };
	owned(policy_answer_clear) struct policy_answer answer = { 0 };
	struct error err = { 0 };

	if (!ok(codec_decode(&policy_question_schema, asked, sizeof(asked) - 1,
			     &question, &err) == 0 &&
			policy_answer_make(&question, &answer, &err) == 0,
		"a question is answered (%s)", err.text) ||
	    !is_int((long long)answer.refusals_count, 2,
		    "only policies refuse: what no engine takes is refused by "
		    "the node") ||
	    !answer.refusals)
		return;
	is(answer.refusals[0].text,
	   "capabilities: SYS_NICE is not allowed; the node's policy allows "
	   "nothing",
	   "by default no rights");
	ok(answer.refusals[0].policy == 0 && answer.refusals[0].job == 1,
	   "of the second job");
	ok(strstr(answer.refusals[1].text, "images: "),
	   "the other policy allows the right, but not the image: %s",
	   answer.refusals[1].text);
	ok(answer.refusals[1].policy == 2 && answer.refusals[1].job == 1,
	   "of the same job; one that cannot be read refuses nothing");
}

static void test_faults(void)
{
	owned(policy_question_clear) struct policy_question question = { 0 };
	struct error err = { 0 };
	bool good = true;
	long n;

	codec_decode(&policy_question_schema, asked, sizeof(asked) - 1,
		     &question, NULL);
	for (n = 1;; n++) {
		owned(policy_answer_clear) struct policy_answer answer = { 0 };
		bool failed;
		int rc;

		fault_arm(n);
		rc = policy_answer_make(&question, &answer, &err);
		failed = fault_disarm();
		if (failed == (rc == 0) || (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %s", n, err.text);
		if (!failed)
			break;
	}
	ok(good && n > 20, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	tap_begin(60);
	fault_hook_cjson();
	test_answer();
	test_faults();
	return tap_done();
}
