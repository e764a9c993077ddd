/* container.h - makes the body of the engine's create call from a task's
 * spec.
 *
 * Pure functions. The command does not travel here: the container's entry
 * point is regatta-init, which reads argv and env from /regatta/in/start.
 * Containers are never privileged and their output never passes the engine.
 * Each has all capabilities dropped but those that its spec names,
 * no-new-privileges, and the engine's own seccomp profile unless it names
 * seccomp=unconfined.
 */
#ifndef PROTOCOL_HARDWARE_CONTAINER_H
#define PROTOCOL_HARDWARE_CONTAINER_H

#include "protocol/base/error.h"
#include "protocol/message/codec.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>

/* By these labels an agent knows its containers again. Values are decimal
 * numbers but for the names and the hash.
 */
#define LABEL_CLUSTER "regatta.cluster"
#define LABEL_NODE "regatta.node"
#define LABEL_JOB "regatta.job"
#define LABEL_ATTEMPT "regatta.attempt"
#define LABEL_RANK "regatta.rank"
#define LABEL_SPEC "regatta.spec" /* SHA-256 of the task_spec as JSON */

/* Where regatta-init is inside, and its two folders: agent/init/init.h. */
#define CONTAINER_INIT "/regatta/init"
/* Where it is once more, under these names, where the spec asks for it. */
#define CONTAINER_SSH "/regatta/bin/ssh"
#define CONTAINER_SCP "/regatta/bin/scp"
#define CONTAINER_IN "/regatta/in"
#define CONTAINER_OUT "/regatta/out"
#define CONTAINER_SECRETS "/run/secrets" /* a tmpfs */

/* Where the task runs and what it gets there; all borrowed. */
struct container_place {
	const char *cluster;
	const char *node;
	const char *init_program; /* regatta-init on the host */
	const char *in_folder;    /* host folder, read-only inside */
	const char *out_folder;   /* host folder, writable inside */
	const char *image;        /* id of the image, sha256:<64 hex> */
	bool secrets;             /* CONTAINER_SECRETS is there */
	uint32_t pids;            /* processes and threads; 0: no limit */
	const char *image_user;   /* whom the image names, "" is nobody; NULL:
				     not known yet. Only for the policy. */
	const char *device_root;  /* below it device nodes may lie, beside
				     /dev; NULL: nowhere else */
	const struct task_spec *ordered; /* the spec as the controller gave it,
					    for LABEL_SPEC; NULL: the same */
};

/* The words that these fields may have; each ends in NULL. Capabilities are
 * without CAP_.
 */
extern const char *const container_networks[];
extern const char *const container_ipcs[];
extern const char *const container_ulimits[];
extern const char *const container_capabilities[];

#define CONTAINER_NAME_MAX 128 /* with the 0 */
#define CONTAINER_HASH_SIZE 65 /* with the 0 */

/* The create body, which the caller deletes. NULL with EINVAL when the spec
 * asks for what cannot be: the field, what was found and what is allowed. The
 * spec's argv and env are not looked at; engine_env is passed on.
 *
 * Allowed: network host (default), none, bridge; ipc private (default), host,
 * shareable, none; ulimits as in getrlimit(2) without RLIMIT_ in lower case;
 * capabilities as in capabilities(7), with or without CAP_, never ALL, and
 * SETUID only with KILL: regatta-init ends what has changed its user; groups
 * as number or name; security seccomp=unconfined, apparmor=PROFILE,
 * label=TEXT, no-new-privileges; at most 512 device nodes, below /dev; a
 * runtime's name; requests with a driver's name, ids and capabilities; memory 6
 * MiB to 512 TiB or 0; cpus 0.01 to 65536 or 0; at most 128 mounts, absolute
 * without "..", none below /regatta and no two at the same place.
 */
cJSON *container_body(const struct task_spec *spec,
		      const struct container_place *place, struct error *err);

/* "regatta-<cluster>-<job>-<attempt>-<rank>": the same for the same input.
 * What a name cannot hold becomes '-', and a long cluster is cut; then a hash
 * of the cluster's name keeps two clusters apart.
 */
void container_name(const struct task_spec *spec, const char *cluster,
		    char name[CONTAINER_NAME_MAX]);

/* The value of LABEL_SPEC. ENOMEM. */
int container_spec_hash(const struct task_spec *spec,
			char hash[CONTAINER_HASH_SIZE], struct error *err);

/* {"regatta.cluster=<cluster>", "regatta.node=<node>"}: the filter that lists
 * the containers of one agent.
 */
int container_filter(const char *cluster, const char *node,
		     struct strings *labels, struct error *err);

#endif
