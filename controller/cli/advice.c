/* advice.c - what who runs a job does about its failure.
 */
#include "controller/cli/advice.h"

#include <stddef.h>

static const char *const advice[FAILURES] = {
	[FAILURE_PREFLIGHT] = "mend what the node lacks, or leave it out "
			      "(regatta node drain), then regatta retry",
	[FAILURE_IMAGE] = "see that the name is right and that the node gets "
			  "it (regatta image pull), then regatta retry",
	[FAILURE_CREATE] = "the engine's log on the node says more (journalctl "
			   "-u docker); then regatta retry",
	[FAILURE_EXIT] =
		"regatta logs shows what came before, regatta diagnose "
		"what else was found",
	[FAILURE_OOM] = "a smaller batch, or more `memory` in the sweep",
	[FAILURE_NODE_LOST] = "see that the node and its agent run (regatta "
			      "nodes, journalctl -u regatta-agent), then "
			      "regatta retry",
	[FAILURE_TIMEOUT] = "a longer `timeout` in the sweep, or fewer steps",
	[FAILURE_HANG] =
		"regatta stacks shows where its ranks stood; `hang` in "
		"the sweep is how long they may",
	[FAILURE_NO_METRIC] = "regatta extract says how its log is read, and "
			      "--learn proposes rules",
	[FAILURE_POLICY] = "the node's policy has to allow it: regatta policy "
			   "suggest prints the lines",
	[FAILURE_INCOMPLETE] = "see the end of regatta logs; `steps` in the "
			       "sweep are those of the training",
	[FAILURE_SKIPPED] = "regatta retry what it goes after",
};

const char *failure_advice(enum failure failure)
{
	return failure < FAILURES ? advice[failure] : NULL;
}
