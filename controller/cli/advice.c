/* advice.c - what who runs a job does about its failure.
 */
#include "controller/cli/advice.h"

#include <stddef.h>

static const char *const advice[FAILURES] = {
	[FAILURE_PREFLIGHT] = "fix the node, or exclude it (regatta node "
			      "drain), then regatta retry",
	[FAILURE_IMAGE] = "check the name, and that the node can pull it "
			  "(regatta image pull), then regatta retry",
	[FAILURE_CREATE] = "see the engine's log on the node (journalctl -u "
			   "docker), then regatta retry",
	[FAILURE_EXIT] = "regatta logs shows the preceding output, regatta "
			 "diagnose other candidates",
	[FAILURE_OOM] = "a smaller batch, or more `memory` in the sweep",
	[FAILURE_NODE_LOST] =
		"check the node and its agent (regatta nodes, journalctl -u "
		"regatta-agent), then regatta retry",
	[FAILURE_TIMEOUT] = "a longer `timeout` in the sweep, or fewer steps",
	[FAILURE_HANG] = "regatta stacks shows what its ranks did; `hang` in "
			 "the sweep sets the limit",
	[FAILURE_NO_METRIC] = "regatta extract shows how its log is read, and "
			      "--learn proposes rules",
	[FAILURE_POLICY] = "the node's policy must allow it; regatta policy "
			   "suggest prints the lines",
	[FAILURE_INCOMPLETE] = "see the end of regatta logs; `steps` in the "
			       "sweep must be the steps of the training",
	[FAILURE_SKIPPED] = "regatta retry the job on which it depends",
};

const char *failure_advice(enum failure failure)
{
	return failure < FAILURES ? advice[failure] : NULL;
}
