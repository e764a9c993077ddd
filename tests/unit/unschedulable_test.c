/* unschedulable_test.c - what is said of a queued job that no known nodes suit.
 */
#include "controller/jobs/unschedulable.h"

#include "tests/tap.h"

static void says(const char *labels, const char *want)
{
	const struct slot slot = { .vendor = "cpu",
				   .usable = true,
				   .labels = ",accepted=1893455999,rack=b," };
	const struct shape shape = { .vendor = "cpu",
				     .nodes = 1,
				     .labels = labels };
	char text[400] = "";

	is_int(unschedulable_of(&slot, 1, &shape, text, sizeof(text)),
	       UNSCHEDULABLE_EVER, "%s does not suit", labels);
	is(text, want, "which is told");
}

int main(void)
{
	tap_begin(6);
	says("rack=a", "needs 1 node of cpu and labels rack=a; 0 are known");
	says("accepted=1893456000",
	     "needs 1 node of cpu accepted since 2030-01-01T00:00:00Z; 0 are "
	     "known");
	says("accepted=1893456000,rack=a", "needs 1 node of cpu accepted since "
					   "2030-01-01T00:00:00Z and labels "
					   "rack=a; 0 are known");
	return tap_done();
}
