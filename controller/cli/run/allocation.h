/* allocation.h - the nodes that Slurm gave us, and how agents come to them.
 *
 * Inside an allocation (salloc, or the script of sbatch) the controller runs
 * where we are, and one srun starts an agent on each node. The allocation is
 * the world: an agent offers what its step has and nothing beside
 * (agent/slurm_share.h). Its key lies in the folder of the run, readable by its
 * owner alone; nothing secret is in arguments or environment. What it keeps on
 * the node is a folder below TMPDIR that it removes at its end.
 *
 * Source: sbatch(1) and srun(1) of Slurm 22.05, sections on environment
 * variables; srun sends its standard input to all tasks.
 */
#ifndef CONTROLLER_CLI_RUN_ALLOCATION_H
#define CONTROLLER_CLI_RUN_ALLOCATION_H

#include "protocol/base/strings.h"

#include <stdbool.h>
#include <stdint.h>

#define ALLOCATION_NODES_MAX 4096

struct allocation {
	struct strings nodes; /* their names in Slurm, in its order */
	char address[64];     /* of the node that we are on, numeric */
	uint32_t cpus;        /* of the node with the fewest; 0: not known */
};

/* Read the environment and ask scontrol. EINVAL: we are in no allocation;
 * ENOENT: scontrol is not there, or says nothing of our node.
 */
int allocation_read(struct allocation *allocation, struct error *err);
void allocation_clear(struct allocation *allocation);

/* srun and the shell that starts an agent; behind it go: agent, file with
 * the endpoint, controller's public key, folder with NODE.key, images, init,
 * vendor, devices, cluster, engine ("": the user's own). NULL ends them.
 */
extern const char *const allocation_srun[];

#endif
