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
		.streams = { { .name = "rank-0", .node = "n1" },
			     { .name = "rank-1", .node = "n1", .rank = 1 } },
		.count = 2,
	};
	struct reason reason = { .line = "" };
	struct end_info *ends = NULL;
	size_t count = 0;

	ok(job_reason_read(patterns, &job, &ends, &count, &reason) &&
		   !strcmp(reason.line, "KeyError: 'pear'") &&
		   !strcmp(reason.node, "n1") &&
		   !strcmp(reason.stream, "rank-1") && reason.rank == 1,
	   "a rank that is silent hides nothing: %s", reason.line);
}

static void expect(const char *how, const struct reason *reason,
		   const char *sentence)
{
	char *text = job_reason_sentence(how, reason);

	is(text, sentence, "%s rank %d: %s", reason->node, (int)reason->rank,
	   reason->line);
	free(text);
}

int main(void)
{
	const char *how = "n1: rank 0 exited with code 1";

	owned(failure_patterns_free) struct failure_patterns *patterns =
		failure_patterns_read("images/failures.yaml", NULL);

	tap_begin(60);
	read_reason(patterns);
	expect(how,
	       &(struct reason){ "n1", .rank = 0, .line = "KeyError: 'pear'" },
	       "n1: rank 0 exited with code 1: KeyError: 'pear'");
	expect(how,
	       &(struct reason){ "n1", .rank = 1, .line = "KeyError: 'pear'" },
	       "n1: rank 0 exited with code 1: rank 1: KeyError: 'pear'");
	expect(how,
	       &(struct reason){ "n2", .rank = 0, .line = "KeyError: 'pear'" },
	       "n1: rank 0 exited with code 1: n2 rank 0: KeyError: 'pear'");
	expect(how,
	       &(struct reason){ "n11", .rank = REASON_UNKNOWN,
				 .line = "no oars" },
	       "n1: rank 0 exited with code 1: n11: no oars");
	expect("no step for 20 s",
	       &(struct reason){ "n2", .rank = 3, .line = "rank 3 is asleep" },
	       "no step for 20 s: rank 3 is asleep");
	expect(how, &(struct reason){ "n1", .rank = 1 }, NULL);
	return tap_done();
}
