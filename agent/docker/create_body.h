/* create_body.h - makes the body of the engine's container create call from the
 * spec of a task.
 *
 * Pure functions. The body does not hold the command of the task: the
 * container's entry point is regatta-init, which reads argv and env from
 * /regatta/in/start. Containers are never privileged, and their output never
 * goes through the engine. A container has only the capabilities that its spec
 * names, always no-new-privileges, and the engine's seccomp profile unless the
 * spec names seccomp=unconfined.
 */
#pragma once

#include "protocol/base/digest.h"
#include "protocol/base/error.h"
#include "protocol/message/codec.h"
#include "protocol/message/spec.h"

#include <cjson/cJSON.h>

#define CONTAINER_NAMES "regatta-" /* how the names of all begin */

/* Labels by which an agent finds its containers after a restart. CLUSTER and
 * NODE are names, SPEC is a hash, the others are decimal numbers.
 */
#define LABEL_CLUSTER "regatta.cluster"
#define LABEL_NODE "regatta.node"
#define LABEL_JOB "regatta.job"
#define LABEL_ATTEMPT "regatta.attempt"
#define LABEL_RANK "regatta.rank"
#define LABEL_SPEC "regatta.spec" /* SHA-256 of the task_spec as JSON */

/* Paths inside the container: folders of regatta-init (agent/init/init.h), and
 * regatta-init under other names, if the spec asks for ssh.
 */
#define CONTAINER_SSH "/regatta/bin/ssh"
#define CONTAINER_SCP "/regatta/bin/scp"
#define CONTAINER_IN "/regatta/in"
#define CONTAINER_OUT "/regatta/out"
#define CONTAINER_SECRETS "/run/secrets" /* a tmpfs */

/* The path of regatta-init in a container, "/regatta-<32 hex digits>". Each
 * container has another one, so that no link, volume or mount of a spec or an
 * image can put another program in its place.
 */
#define CONTAINER_INIT_PREFIX "/regatta-"
#define CONTAINER_INIT_RUN "--run" /* INIT_RUN (agent/init/init.h) */
#define CONTAINER_INIT_SIZE (sizeof(CONTAINER_INIT_PREFIX) + 32)

/* What the node adds to the spec. All texts are borrowed. */
struct container_place {
	const char *cluster;
	const char *node;
	const char *init_program; /* regatta-init on the host */
	const char *init_path;    /* in the container, read-only */
	const char *in_folder;    /* host folder, read-only inside */
	const char *out_folder;   /* host folder, writable inside */
	const char *work_folder;  /* of the code tree, if the spec has one */
	const char *image;        /* id of the image, sha256:<64 hex> */
	bool secrets;             /* mount a tmpfs at CONTAINER_SECRETS */
	uint32_t pids;            /* processes and threads; 0: no limit */
	const char *image_user;  /* the image's user, "" if it names none; NULL:
				    not known yet. For the policy check. */
	const char *device_root; /* a folder of device nodes beside /dev; NULL:
				    none */
	const struct task_spec
		*ordered; /* the spec that the controller sent, for LABEL_SPEC;
			     NULL: it is `spec` */
};

#define CONTAINER_NAME_MAX 128 /* with the 0 */
#define CONTAINER_HASH_SIZE DIGEST_HEX_SIZE

/* The body of the create call, which the caller deletes. NULL with EINVAL if a
 * field of the spec is not valid; the text says the field, what was found and
 * what is allowed. The spec's argv and env are not used; engine_env becomes the
 * body's Env.
 *
 * Allowed: network host (default), none, bridge; ipc private (default), host,
 * shareable, none; ulimits as in getrlimit(2) without RLIMIT_ in lower case;
 * capabilities as in capabilities(7), with or without CAP_, never ALL, and
 * SETUID only with KILL (regatta-init must be able to end processes that
 * changed their user); groups as number or name; security seccomp=unconfined,
 * apparmor=PROFILE, label=TEXT, no-new-privileges; at most 512 device nodes,
 * below /dev; a runtime's name; requests with a driver's name, ids and
 * capabilities; memory 6 MiB to 512 TiB or 0; cpus 0.01 to 65536 or 0; at most
 * 128 mounts, absolute without "..", none below /regatta and no two at the same
 * place; the same for the code tree, which is not in a mount either.
 */
cJSON *container_body(const struct task_spec *spec,
		      const struct container_place *place, struct error *err);

/* Parts of any body. False: out of memory. */
bool container_add_texts(cJSON *array, const struct strings *texts);
bool container_add_mount(cJSON *array, const char *host, const char *inside,
			 bool read_only);
/* A device node: "/dev/x", "/dev/x:/dev/y" or "/dev/x:/dev/y:rw". */
int container_add_device(cJSON *array, const char *text,
			 const char *device_root, struct error *err);

/* "regatta-<cluster>-<job>-<attempt>-<rank>": the same for the same input.
 * Characters that a container name cannot have become '-', and a long cluster
 * name is cut. In both cases a hash of the cluster's name is added.
 */
void container_name(const struct task_spec *spec, const char *cluster,
		    char name[CONTAINER_NAME_MAX]);

/* Is a container, an item of the engine's list, named so? Labels alone do not
 * say that it is ours: it has those of its image, too.
 */
bool container_is_named(const cJSON *container, const char *begin,
			const char *end);

/* The value of LABEL_SPEC. ENOMEM. */
int container_spec_hash(const struct task_spec *spec,
			char hash[CONTAINER_HASH_SIZE], struct error *err);

/* {"regatta.cluster=<cluster>", "regatta.node=<node>"}: the filter that lists
 * the containers of one agent.
 */
int container_filter(const char *cluster, const char *node,
		     struct strings *labels, struct error *err);
