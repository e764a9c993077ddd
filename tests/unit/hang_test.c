/* hang_test.c - how long a job may show no life.
 */
#include "controller/jobs/hang.h"
#include "protocol/message/spec.h"
#include "tests/tap.h"

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)

static void expect(const char *about, struct hang_pace pace, int64_t limit,
		   int64_t suspect)
{
	int64_t got = 0, suspected = 0;

	ok(hang_limits(&pace, &got, &suspected) == (limit > 0) &&
		   got == limit && suspected == suspect,
	   "%s", about);
}

int main(void)
{
	tap_begin(60);
	expect("quick steps: 15 minutes, suspected after 2",
	       (struct hang_pace){ .steps = 9, .step_ms = 50 }, 15 * MINUTE,
	       2 * MINUTE);
	expect("30 median steps where that is more",
	       (struct hang_pace){ .steps = 9, .step_ms = 40 * SECOND },
	       20 * MINUTE, 400 * SECOND);
	expect("suspected after 10 median steps, if that is more than 2 "
	       "minutes",
	       (struct hang_pace){ .steps = 9, .step_ms = 20 * SECOND },
	       15 * MINUTE, 200 * SECOND);
	expect("45 minutes before the first step",
	       (struct hang_pace){ .expected = true }, 45 * MINUTE, 2 * MINUTE);
	expect("never, where no steps are to be seen", (struct hang_pace){ 0 },
	       0, 0);
	expect("steps that were found count, though nobody named them",
	       (struct hang_pace){ .steps = 1 }, 15 * MINUTE, 2 * MINUTE);
	expect("`hang` says when, with or without steps",
	       (struct hang_pace){ .given_ms = 10 * MINUTE }, 10 * MINUTE,
	       2 * MINUTE);
	expect("and is suspected after half of it",
	       (struct hang_pace){ .given_ms = MINUTE, .steps = 9 }, MINUTE,
	       MINUTE / 2);
	expect("`hang: off` says never",
	       (struct hang_pace){
		       .given_ms = HANG_OFF, .steps = 9, .step_ms = 50 },
	       0, 0);
	return tap_done();
}
