/* state_test.c - words of states and failures, there and back.
 */
#include "protocol/message/state.h"

#include "tests/tap.h"

/* The three families through one shape. */
#define FAMILY(noun)                                                           \
	static const char *noun##_word(int value)                              \
	{                                                                      \
		return noun##_name((enum noun)value);                          \
	}                                                                      \
	static int noun##_value(const char *name)                              \
	{                                                                      \
		return (int)noun##_from(name);                                 \
	}
FAMILY(job_state)
FAMILY(task_state)
FAMILY(failure)

static const struct {
	const char *family;
	const char *(*name)(int value);
	int (*value)(const char *name);
	int count;
	const char *words[20]; /* from value 1 on: the order on the wire */
} families[] = {
	/* clang-format off */
	{ "job state", job_state_word, job_state_value, JOB_STATES,
	  { "queued", "allocated", "preparing", "ready", "running",
	    "collecting", "completed", "failed", "cancelled" } },
	{ "task state", task_state_word, task_state_value, TASK_STATES,
	  { "preparing", "ready", "starting", "running", "stopping",
	    "ended" } },
	{ "failure", failure_word, failure_value, FAILURES,
	  { "preflight", "image", "create", "exit", "oom", "node-lost",
	    "timeout", "hang", "no-metric", "policy", "cancelled",
	    "incomplete", "skipped", "preempted", "pruned", "enough" } },
	/* clang-format on */
};

static void words(size_t f)
{
	const char *family = families[f].family;

	for (int i = 1; i < families[f].count; i++) {
		is(families[f].name(i), families[f].words[i - 1],
		   "%s %d has its word", family, i);
		is_int(families[f].value(families[f].words[i - 1]), i,
		       "%s %s has its value", family, families[f].words[i - 1]);
	}
	is(families[f].words[families[f].count - 1], NULL,
	   "%s: every word of the table is a value", family);
	is(families[f].name(0), NULL, "%s: none has no word", family);
	is(families[f].name(families[f].count), NULL,
	   "%s: a value past the last has no word", family);
	is(families[f].name(-1), NULL, "%s: a negative one has none", family);
	is_int(families[f].value("Running "), 0, "%s: unknown word", family);
	is_int(families[f].value(""), 0, "%s: empty word", family);
	is_int(families[f].value(NULL), 0, "%s: no word", family);
}

static void which_states_end(void)
{
	for (int s = 0; s < JOB_STATES; s++)
		is_int(job_state_final((enum job_state)s),
		       s == JOB_COMPLETED || s == JOB_FAILED ||
			       s == JOB_CANCELLED,
		       "job state %d is final or not", s);
	for (int f = 0; f < FAILURES; f++)
		is_int(failure_infrastructure((enum failure)f),
		       f == FAILURE_PREFLIGHT || f == FAILURE_IMAGE ||
			       f == FAILURE_CREATE || f == FAILURE_NODE_LOST ||
			       f == FAILURE_PREEMPTED,
		       "failure %d may pass on other nodes or not", f);
}

int main(void)
{
	tap_begin(30);
	for (size_t f = 0; f < sizeof(families) / sizeof(*families); f++)
		words(f);
	which_states_end();
	return tap_done();
}
