/* job_reason_test.c - a job's sentence, with its reason.
 */
#include "controller/jobs/job_reason.h"
#include "tests/tap.h"

static void expect(const char *how, const char *reason, const char *sentence)
{
	cJSON *object = cJSON_Parse(reason);
	char *text = job_reason_sentence(how, object);

	is(text, sentence, "%s", reason);
	free(text);
	cJSON_Delete(object);
}

int main(void)
{
	const char *how = "n1: rank 0 exited with code 1";

	tap_begin(60);
	expect(how,
	       "{\"node\":\"n1\",\"rank\":0,\"line\":\"KeyError: 'pear'\"}",
	       "n1: rank 0 exited with code 1: KeyError: 'pear'");
	expect(how,
	       "{\"node\":\"n1\",\"rank\":1,\"line\":\"KeyError: 'pear'\"}",
	       "n1: rank 0 exited with code 1: rank 1: KeyError: 'pear'");
	expect(how,
	       "{\"node\":\"n2\",\"rank\":0,\"line\":\"KeyError: 'pear'\"}",
	       "n1: rank 0 exited with code 1: n2 rank 0: KeyError: 'pear'");
	expect(how, "{\"node\":\"n11\",\"rank\":null,\"line\":\"no oars\"}",
	       "n1: rank 0 exited with code 1: n11: no oars");
	expect("no step for 20 s",
	       "{\"node\":\"n2\",\"rank\":3,\"line\":\"rank 3 is asleep\"}",
	       "no step for 20 s: rank 3 is asleep");
	expect(how, "{\"node\":\"n1\",\"rank\":1,\"line\":null}", NULL);
	return tap_done();
}
