/* allocation.c - reads the present Slurm allocation, and starts agents on its
 * nodes.
 */
#include "controller/cli/run/allocation.h"
#include "protocol/slurm/scontrol.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The script of each task of the step. The shell ignores the SIGTERM of Slurm,
 * because it must outlive its agent. A killed agent is started again, and
 * continues its tasks.
 */
static const char agent_script[] =
	"exec 3<&0 </dev/null\n"
	"umask 077\n"
	"trap : TERM\n"
	"while :; do\n"
	"	\"$0\" --for-allocation --config /dev/null --policy any \\\n"
	"		--controller \"$1\" --controller-key \"$2\" --key "
	"\"$3\" \\\n"
	"		--images \"$4\" --init \"$5\" --vendor \"$6\" \\\n"
	"		--devices \"$7\" --cluster \"$8\" \\\n"
	"		--engine \"${9:-${DOCKER_HOST:-own}}\" --parent-fd 3\n"
	"	rc=$?\n"
	"	[ $rc -gt 128 ] || exit $rc\n"
	"	sleep 1\n"
	"done\n";

/* --overlap: the step takes no resources from other steps. --cpu-bind=none: it
 * may use all processors of the job.
 */
const char *const allocation_srun[] = {
	"srun",
	"--ntasks-per-node=1",
	"--overlap",
	"--wait=0",
	"--kill-on-bad-exit=0",
	"--cpu-bind=none",
	"--label",
	"/bin/sh",
	"-c",
	agent_script,
	NULL,
};

/* The numeric address of a name of this machine. */
static int host_name_resolve(const char *name, char address[64],
			     struct error *err)
{
	struct addrinfo hints = { .ai_family = AF_INET,
				  .ai_socktype = SOCK_STREAM };
	struct addrinfo *found = NULL;
	int rc = getaddrinfo(name, NULL, &hints, &found);

	if (rc != 0)
		return error_set(err, ENOENT, "%.100s: %s", name,
				 gai_strerror(rc));
	rc = getnameinfo(found->ai_addr, found->ai_addrlen, address, 64, NULL,
			 0, NI_NUMERICHOST);
	freeaddrinfo(found);
	return rc == 0 ? 0
		       : error_set(err, ENOENT, "%.100s: %s", name,
				   gai_strerror(rc));
}

/* By the name that Slurm has for this node; on a login node by the host name.
 */
static int find_address(char address[64], struct error *err)
{
	const char *node = getenv("SLURMD_NODENAME");
	char name[SCONTROL_VALUE_SIZE] = "";

	if (node && scontrol_field("node", node, "NodeAddr", name, err) < 0)
		return -1;
	if (!node && gethostname(name, sizeof(name) - 1) < 0)
		return error_errno(err, "host name");
	return host_name_resolve(name, address, err);
}

/* The least number of "8(x3),4". */
static uint32_t least_cpus(const char *text)
{
	unsigned long least = 0;

	while (text && isdigit((unsigned char)*text)) {
		unsigned long cpus = strtoul(text, NULL, 10);

		least = !least || cpus < least ? cpus : least;
		text = strchr(text, ',');
		text += text != NULL;
	}
	return (uint32_t)least;
}

int allocation_read(struct allocation *allocation, struct error *err)
{
	const char *list = getenv("SLURM_JOB_NODELIST");

	if (!list || !*list)
		return error_set(err, EINVAL,
				 "--slurm: SLURM_JOB_NODELIST is not set; "
				 "expected a shell of salloc or a script of "
				 "sbatch, or regatta slurm to submit one");
	if (scontrol_hostnames(list, ALLOCATION_NODES_MAX, &allocation->nodes,
			       err) < 0)
		return -1;
	if (!allocation->nodes.count)
		return error_set(err, EINVAL, "the allocation has no nodes");
	allocation->cpus = least_cpus(getenv("SLURM_JOB_CPUS_PER_NODE"));
	return find_address(allocation->address, err);
}

void allocation_clear(struct allocation *allocation)
{
	strings_clear(&allocation->nodes);
}
