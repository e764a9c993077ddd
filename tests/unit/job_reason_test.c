/* job_reason_test.c - why a job failed, and its sentence with the reason.
 */
#include "controller/causes/failure_patterns.h"
#include "controller/jobs/job_reason.h"
#include "tests/tap.h"

#include <errno.h>

static const char *const printed = "Traceback (most recent call last):\n"
				   "  File \"/fit.py\", line 1, in <module>\n"
				   "KeyError: 'pear'\n";

/* Rank 0 printed nothing, rank 1 a traceback. */
static int length_of(void *world, uint64_t job, uint32_t attempt,
		     const char *stream, uint64_t *length, struct error *err)
{
	(void)world, (void)job, (void)attempt, (void)err;
	*length = strcmp(stream, "rank-1") ? 0 : strlen(printed);
	return 0;
}

static int read_of(void *world, uint64_t job, uint32_t attempt,
		   const char *stream, uint64_t offset, void *data, size_t size,
		   size_t *got, struct error *err)
{
	(void)world, (void)job, (void)attempt;
	if (strcmp(stream, "rank-1"))
		return error_set(err, ENOENT, "%s", stream);
	*got = strlen(printed) - offset;
	*got = *got < size ? *got : size;
	memcpy(data, printed + offset, *got);
	return 0;
}

static void read_reason(struct failure_patterns *patterns)
{
	static const struct job_effects effects = { .log_length = length_of,
						    .log_read = read_of };
	const struct reason_job job = {
		.effects = &effects,
		.how = "n1: rank 1 exited with code 1",
		.streams = { { .name = "rank-0", .node = "n1" },
			     { .name = "rank-1", .node = "n1", .rank = 1 } },
		.count = 2,
	};
	cJSON *reason = job_reason_read(patterns, &job, NULL);
	const cJSON *line = cJSON_GetObjectItemCaseSensitive(reason, "line");

	is(cJSON_GetStringValue(line), "KeyError: 'pear'",
	   "a rank that is silent hides nothing");
	cJSON_Delete(reason);
}

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

	owned(failure_patterns_free) struct failure_patterns *patterns =
		failure_patterns_read("images/failures.yaml", NULL);

	tap_begin(60);
	read_reason(patterns);
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
