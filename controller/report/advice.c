/* advice.c - advises what to do about a class of failure.
 */
#include "controller/report/advice.h"

#include <stddef.h>

static const char *const advice[FAILURES] = {
	[FAILURE_PREFLIGHT] = "fix the node, or exclude it (regatta node "
			      "drain), then regatta retry",
	[FAILURE_IMAGE] = "check the name, and that the node can pull it "
			  "(regatta image pull), then regatta retry",
	[FAILURE_CREATE] = "see the engine's log on the node (journalctl -u "
			   "docker), then regatta retry",
	[FAILURE_EXIT] = "see the preceding output (regatta logs) and other "
			 "candidates (regatta diagnose)",
	[FAILURE_OOM] = "use a smaller batch, or more `memory` in the sweep",
	[FAILURE_NODE_LOST] =
		"check the node and its agent (regatta nodes, journalctl -u "
		"regatta-agent), then regatta retry",
	[FAILURE_TIMEOUT] =
		"set a longer `timeout` in the sweep, or fewer steps",
	[FAILURE_HANG] = "see what its ranks did (regatta stacks); `hang` in "
			 "the sweep sets the limit",
	[FAILURE_NO_METRIC] = "see how its log is read (regatta extract); "
			      "--learn proposes rules",
	[FAILURE_POLICY] = "the node's policy must allow it; regatta policy "
			   "suggest prints the lines",
	[FAILURE_INCOMPLETE] = "see the end of regatta logs; `steps` in the "
			       "sweep must be the steps of the training",
	[FAILURE_SKIPPED] = "run regatta retry for the job on which it depends",
};

const char *failure_advice(enum failure failure)
{
	return failure < FAILURES ? advice[failure] : NULL;
}
