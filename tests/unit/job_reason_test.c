/* job_reason_test.c - why a job failed, and its sentence with the reason.
 */
#include "controller/causes/failure_patterns.h"
#include "controller/jobs/job_reason.h"
#include "tests/tap.h"

#include <errno.h>
#include <math.h>

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
		.exited = true,
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

/* torchrun on the second of two nodes, which starts two ranks; the other node's
 * output is empty, and a file that the program wrote has the exception.
 */
static const char *const launched =
	"E1 torch/distributed/elastic/multiprocessing/api.py:869] failed "
	"(exitcode: -11) local_rank: 1 (pid: 9) of binary: p\n"
	"Failures:\n  <NO_OTHER_FAILURES>\n"
	"Root Cause (first observed failure):\n[0]:\n  host      : n2\n"
	"  rank      : 3 (local_rank: 1)\n  exitcode  : -11 (pid: 9)\n"
	"  traceback : Signal 11 (SIGSEGV) received by PID 9\n";

static const char *const memory =
	"Traceback (most recent call last):\n"
	"  File \"/fit.py\", line 1, in <module>\n"
	"RuntimeError: CUDA out of memory. Tried to allocate 9.00 MiB (GPU 1; "
	"29.50 GiB total capacity)\n";

/* Of two ranks each, rank 3 is gone, and the others noticed. */
#define GONE                                                                   \
	"Traceback (most recent call last):\n"                                 \
	"  File \"/fit.py\", line 1, in <module>\n"                            \
	"RuntimeError: [pair.cc:598] Connection closed by peer "               \
	"[10.77.0.12]:29608\n"
#define FAILED_RANK(n, local)                                                  \
	"[0]:\n  time      : 2026-11-29_07:26:28\n  rank      : " n            \
	" (local_rank: " local ")\n  exitcode  : 1 (pid: 9)\n"
#define STOPPED "Sending process 10 closing signal SIGTERM\n"

static const char *const both = GONE
	"Failures:\n" FAILED_RANK("0", "0") "Root Cause (first observed "
					    "failure):\n" FAILED_RANK("1", "1");
static const char *const one =
	GONE "Failures:\n  <NO_OTHER_FAILURES>\nRoot Cause (first observed "
	     "failure):\n" FAILED_RANK("2", "0");
static const char *const stopped = STOPPED GONE
	"Failures:\n  <NO_OTHER_FAILURES>\nRoot Cause (first observed "
	"failure):\n" FAILED_RANK("2", "0");

static const char *text_of(const char *stream)
{
	return !strcmp(stream, "rank-0")       ? ""
	       : !strcmp(stream, "both")       ? both
	       : !strcmp(stream, "one")        ? one
	       : !strcmp(stream, "stopped")    ? stopped
	       : !strcmp(stream, "rank-1")     ? launched
	       : !strcmp(stream, "node-1.log") ? memory
					       : printed;
}

static int launched_length(void *world, uint64_t job, uint32_t attempt,
			   const char *stream, uint64_t *length,
			   struct error *err)
{
	(void)world, (void)job, (void)attempt, (void)err;
	*length = strlen(text_of(stream));
	return 0;
}

static int launched_read(void *world, uint64_t job, uint32_t attempt,
			 const char *stream, uint64_t offset, void *data,
			 size_t size, size_t *got, struct error *err)
{
	const char *text = text_of(stream);

	(void)world, (void)job, (void)attempt, (void)err;
	*got = strlen(text) - offset;
	*got = *got < size ? *got : size;
	memcpy(data, text + offset, *got);
	return 0;
}

static const struct job_effects launched_effects = {
	.log_length = launched_length, .log_read = launched_read
};

static void read_launched(struct failure_patterns *patterns)
{
	struct reason_job job = {
		.exited = true,
		.effects = &launched_effects,
		.streams = { { .name = "rank-0",
			       .node = "n1",
			       .launches = 2,
			       .rank = REASON_UNKNOWN },
			     { .name = "rank-1",
			       .node = "n2",
			       .task = 1,
			       .launches = 2,
			       .rank = REASON_UNKNOWN } },
		.count = 2,
	};
	struct reason reason = { .line = "" };
	struct end_info *ends = calloc(2, sizeof(*ends));
	size_t count = 2;

	for (size_t i = 0; i < 2; i++) {
		ends[i].task = (double)i;
		ends[i].rank = (double)NAN;
		ends[i].exit_code = 1;
	}
	ok(job_reason_read(patterns, &job, &ends, &count, &reason) &&
		   reason.rank == 3 && reason.task == 1 &&
		   !strcmp(reason.node, "n2") &&
		   !strcmp(reason.signal, "SIGSEGV"),
	   "a rank of a launcher: rank %d of task %d", (int)reason.rank,
	   (int)reason.task);
	ok(count == 3 && isnan(ends[1].rank) && ends[2].rank == 3 &&
		   ends[2].task == 1 && !strcmp(ends[2].node, "n2") &&
		   ends[2].signal == 11,
	   "its end stands beside those of the tasks");
	for (size_t i = 0; i < count; i++)
		codec_clear(&end_info_schema, &ends[i]);
	free(ends);
	ends = NULL;
	count = 0;
	job.streams[1].name = "node-1.log";
	ok(job_reason_read(patterns, &job, &ends, &count, &reason) &&
		   reason.class == CAUSE_DEVICE_OOM && reason.rank == 3 &&
		   !strcmp(reason.stream, "node-1.log"),
	   "a file that was followed has it, a rank on its node: rank %d",
	   (int)reason.rank);
	job.streams[1].name = "node-1.txt";
	ok(job_reason_read(patterns, &job, &ends, &count, &reason) &&
		   reason.rank == REASON_UNKNOWN && reason.task == 1,
	   "whose traceback it is, the file does not tell");
}

/* Who is gone, where both launchers tell of their ranks; REASON_UNKNOWN: no
 * one.
 */
static void read_left(struct failure_patterns *patterns, const char *second,
		      uint32_t launches, bool left, int64_t rank)
{
	struct reason_job job = {
		.exited = true,
		.effects = &launched_effects,
		.streams = { { .name = "both",
			       .node = "n1",
			       .launches = launches,
			       .rank = REASON_UNKNOWN },
			     { .name = second,
			       .node = "n2",
			       .task = 1,
			       .launches = launches,
			       .rank = REASON_UNKNOWN } },
		.count = 2,
	};
	struct reason reason = { .line = "" };
	struct end_info *ends = calloc(1, sizeof(*ends));
	size_t count = 1;

	ends[0].rank = (double)NAN;
	ends[0].exit_code = 1;
	ok(job_reason_read(patterns, &job, &ends, &count, &reason) &&
		   reason.class == CAUSE_COMMUNICATION && reason.left == left &&
		   reason.rank == rank && (!left || reason.task == 1),
	   "%s, %u ranks: rank %d of task %d is gone", second, launches,
	   (int)reason.rank, (int)reason.task);
	for (size_t i = 0; i < count; i++)
		codec_clear(&end_info_schema, &ends[i]);
	free(ends);
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
	read_launched(patterns);
	read_left(patterns, "one", 2, true, 3);
	read_left(patterns, "one", 0, true, 3);
	read_left(patterns, "stopped", 2, false, REASON_UNKNOWN);
	read_left(patterns, "both", 2, false, REASON_UNKNOWN);
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
	expect(how,
	       &(struct reason){ "n1", .rank = 0, .launched = true,
				 .line = "no oars" },
	       "n1: task 0 exited with code 1: rank 0: no oars");
	expect("no step for 20 s",
	       &(struct reason){ "n2", .rank = 3, .line = "rank 3 is asleep" },
	       "no step for 20 s: rank 3 is asleep");
	expect(how, &(struct reason){ "n1", .rank = 1 }, NULL);
	expect(how,
	       &(struct reason){ "n2", .task = 1, .rank = 3, .launched = true,
				 .left = true, .line = "no peer" },
	       "n1: task 0 exited with code 1: no peer; n2: rank 3 of task 1 "
	       "ended before, without an error");
	return tap_done();
}
