/* allocation.c - the nodes that Slurm gave us, and how agents come to them.
 */
#include "controller/cli/run/allocation.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINE_SIZE 300

/* A task of the step: its folder, its devices, then the agent. The
 * folder's name is the same for an agent that is started again, which goes on
 * with what the one before left. Slurm sends SIGTERM to all at once, at a
 * cancel and at the time limit: the agent must outlive the controller, which
 * cancels and collects, so its lifeline alone ends it.
 */
static const char agent_script[] =
	"exec 3<&0 </dev/null\n"
	"umask 077\n"
	"node=$SLURMD_NODENAME\n"
	"state=${TMPDIR:-/tmp}/$8-$node\n"
	"mkdir -p -- \"$state\" && [ -O \"$state\" ] && [ ! -L \"$state\" ] "
	"||\n"
	"	{ echo \"regatta: $state is not ours\" >&2; exit 2; }\n"
	"address=$(scontrol show node \"$node\" --oneliner |\n"
	"	sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p')\n"
	"gpus=${SLURM_STEP_GPUS:-$SLURM_JOB_GPUS}\n"
	"trap '' TERM\n"
	"\"$0\" --config /dev/null --policy any --controller \"$1\" \\\n"
	"	--controller-key \"$2\" --key \"$3/$node.key\" \\\n"
	"	--state \"$state\" --images \"$4\" --init \"$5\" \\\n"
	"	--vendor \"$6\" --devices \"$7\" --cluster \"$8\" \\\n"
	"	--engine \"${9:-${DOCKER_HOST:-own}}\" \\\n"
	"	--address \"${address:-$node}\" \\\n"
	"	${gpus:+--only-devices \"$gpus\"} --lifeline 3\n"
	"rc=$?\n"
	"[ $rc -ne 0 ] || rm -rf -- \"$state\"\n"
	"exit $rc\n";

/* --overlap: the step takes nothing that other steps of a user's want. */
const char *const allocation_srun[] = {
	"srun",       "--ntasks-per-node=1",
	"--overlap",  "--kill-on-bad-exit=0",
	"--wait=0",   "--label",
	"/bin/sh",    "-c",
	agent_script, NULL,
};

/* Read the lines that a command prints. Its text is ours, and what it names of
 * the environment is quoted by it.
 */
static int ask(const char *command, struct strings *lines, struct error *err)
{
	FILE *pipe = popen(command, "re");
	char line[LINE_SIZE];
	int rc = 0;

	if (!pipe)
		return error_errno(err, "scontrol");
	while (rc == 0 && fgets(line, sizeof(line), pipe)) {
		line[strcspn(line, "\n")] = 0;
		if (lines->count == ALLOCATION_NODES_MAX)
			rc = error_set(err, E2BIG,
				       "the allocation has more than %d nodes",
				       ALLOCATION_NODES_MAX);
		else if (*line)
			rc = strings_add(lines, line, err);
	}
	if (pclose(pipe) != 0 && rc == 0)
		rc = error_set(err, ENOENT,
			       "%s failed; is Slurm's command line in PATH?",
			       command);
	return rc;
}

/* A name of this machine as a number, which a socket can be bound to. */
static int resolve(const char *name, char address[64], struct error *err)
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

/* By the name that Slurm has for our node; on a login node by our own. */
static int find_address(char address[64], struct error *err)
{
	static const char words[] =
		"scontrol show node \"$SLURMD_NODENAME\" --oneliner |"
		" sed -n 's/.* NodeAddr=\\([^ ]*\\).*/\\1/p'";
	owned(strings_clear) struct strings lines = { 0 };
	char name[256] = "";

	if (getenv("SLURMD_NODENAME") && ask(words, &lines, err) < 0)
		return -1;
	if (!lines.count && gethostname(name, sizeof(name) - 1) < 0)
		return error_errno(err, "host name");
	return resolve(lines.count ? lines.items[0] : name, address, err);
}

int allocation_read(struct allocation *allocation, struct error *err)
{
	const char *list = getenv("SLURM_JOB_NODELIST");

	if (!list || !*list)
		return error_set(err, EINVAL,
				 "--slurm: SLURM_JOB_NODELIST is not set; "
				 "expected a shell of salloc or a script of "
				 "sbatch, or regatta slurm to submit one");
	if (ask("scontrol show hostnames", &allocation->nodes, err) < 0)
		return -1;
	if (!allocation->nodes.count)
		return error_set(err, EINVAL, "the allocation has no nodes");
	return find_address(allocation->address, err);
}

void allocation_clear(struct allocation *allocation)
{
	strings_clear(&allocation->nodes);
}
