/* allocation.h - reads the present Slurm allocation, and starts agents on its
 * nodes.
 *
 * Inside an allocation (salloc, or the script of sbatch) the controller runs on
 * the present node, and one srun starts an agent on each node. An agent offers
 * only the resources of its Slurm step (agent/slurm_share.h). Its key is in the
 * folder of the run, readable only by the owner; arguments and environment
 * contain no secrets. On the node it only uses a folder below TMPDIR, which it
 * removes at its end.
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
	char address[64];     /* numeric, of the present node */
	uint32_t cpus;        /* of the node with the fewest; 0: unknown */
};

/* Read the environment and ask scontrol. EINVAL: not inside an allocation;
 * ENOENT: scontrol is not installed, or does not know the present node.
 */
int allocation_read(struct allocation *allocation, struct error *err);
void allocation_clear(struct allocation *allocation);

/* The first words of the srun command, with the shell script that starts an
 * agent. The caller appends the script's arguments: agent, file with the
 * endpoint, controller's public key, folder with NODE.key, images, init,
 * vendor, devices, cluster, engine ("": the user's own). Ends in NULL.
 */
extern const char *const allocation_srun[];

#endif
