/* spec.h - the specification of a job: container, shape, how its result is
 * read.
 *
 * A sweep's cells become job_specs (controller/sweep); the controller stores
 * them as JSON and derives from each one task_spec per node, which travels to
 * the agent and lies beside the task's spool.
 */
#ifndef PROTOCOL_MESSAGE_SPEC_H
#define PROTOCOL_MESSAGE_SPEC_H

#include "protocol/message/codec.h"

#include <stdbool.h>

#define LOG_LIMIT_DEFAULT (16ULL << 30)    /* bytes of output per task */
#define COLLECT_LIMIT_DEFAULT (1ULL << 30) /* bytes of collected files */
#define HANG_OFF UINT64_MAX                /* hang_ms: never */
#define WORKSPACE_FOLDER                                                       \
	"/workspace" /* in the container, unless it is said                    \
		      */

struct mount_spec {
	char *host;      /* absolute path on the node */
	char *container; /* absolute path inside */
	bool read_only;
};

/* A small file that the container finds as /regatta/in/name. */
#define FILES_NAME_MAX 64
struct file_spec {
	char *name;
	char *text; /* with placeholders, as in argv */
};

/* 1 to FILES_NAME_MAX letters, digits, '.', '_' and '-', the first one no '.';
 * not ending in .new, as files do that are being written; and not what else
 * lies there: start, hostfile.
 */
bool file_name_valid(const char *name);

/* A request to the engine for devices that a driver of it hands out. Source:
 * Docker Engine API 1.41, HostConfig.DeviceRequests.
 */
struct device_request {
	char *driver; /* "" lets the engine choose, "cdi" takes CDI names */
	struct strings ids; /* empty: all */
	struct strings capabilities;
};

/* What the container is made of. Strings may hold ${PLACEHOLDER}s that only
 * the start of the task can fill: MASTER_ADDR, MASTER_PORT, NODE_RANK, NNODES,
 * NPROC_PER_NODE, WORLD_SIZE, and of all nodes in order of their ranks
 * NODE_ADDRESSES ("a,b"), NODE_ENDPOINTS_JSON (["a:port", "b:port"]) and
 * HOSTFILE (a file with a line "a slots=8" for each); of this node
 * NODE_ADDRESS and INTERFACE, its network's; of the start ROUND (which repeat
 * it is, from 1) and START_TIME (of the gang, YYYYmmddHHMMSS in UTC, the same
 * on all nodes). Only argv, prepare, env, follow, collect and the texts of
 * files are searched for them.
 */
struct container_spec {
	char *image; /* reference; with build: the name to give it */
	char *build; /* folder whose Dockerfile makes the image, below the
			agent's images folder, or an absolute path of the node,
			whose NAME_install.sh adds to it; NULL: pull */
	struct strings
		argv; /* empty: the image's own entry point and command */
	struct strings prepare; /* a command that runs once on each node before
				   argv; empty: none */
	struct strings needs;   /* paths of the node that must be there; they
				   are looked at, not mounted */
	struct strings env;     /* NAME=VALUE */
	struct strings engine_env; /* those that the engine must see, for a
				      runtime of it reads them */
	struct mount_spec *mounts;
	size_t mounts_count;
	struct file_spec *files;
	size_t files_count;
	char *workdir;               /* NULL: the image's */
	char *user;                  /* uid[:gid] or name; NULL: the image's */
	char *network;               /* host (default), none, bridge */
	char *ipc;                   /* NULL: private; host, shareable, none */
	uint64_t shm_bytes;          /* 0: the engine's default */
	uint64_t memory_bytes;       /* 0: no limit */
	double cpus;                 /* 0: no limit */
	struct strings ulimits;      /* name=soft[:hard], -1 is unlimited */
	struct strings capabilities; /* added, such as SYS_PTRACE */
	struct strings groups;       /* supplementary groups */
	struct strings device_nodes; /* /dev/x[:/dev/y[:rwm]], passed in */
	struct strings security;     /* security options, seccomp=unconfined */
	char *runtime; /* a runtime of the engine; NULL: its own */
	struct device_request *requests;
	size_t requests_count;
	uint32_t processes; /* processes per node that regatta-init starts with
			       RANK and LOCAL_RANK; 0: one, without */
	uint32_t grace_ms;  /* SIGTERM to SIGKILL */
	bool ssh; /* its ssh and scp reach the tasks of its job, which live
		     until the command of node rank 0 ends */
	struct strings follow; /* patterns of files in the container whose
				  bytes are streams too (agent/init/init.h) */
	bool recorder_off; /* PyTorch's flight recorder stays as the image has
			    * it
			    */
	uint64_t log_limit_bytes; /* of output kept per task; 0: the default */
	char *workspace; /* a content (SHA-256): a tar file that is unpacked
			    into the container before it starts; NULL: none */
	char *workspace_folder;       /* where, an absolute path */
	struct strings collect;       /* absolute paths whose files are kept */
	uint64_t collect_limit_bytes; /* of them, per task; 0: the default */
};
extern const struct schema mount_spec_schema;
extern const struct schema file_spec_schema;
extern const struct schema device_request_schema;
extern const struct schema container_spec_schema;

/* A host's name or IP address, which commands of other nodes get: up to 253
 * letters, digits, '.', ':', '-', '_' and '%', the first one no '-'.
 */
bool address_valid(const char *address);

/* Does anything in it stand for the addresses of all nodes? */
bool container_wants_addresses(const struct container_spec *spec);

/* How a training is spread over its devices: parallel degrees, each 0 where
 * nothing was said.
 */
struct layout_spec {
	uint32_t tp; /* tensor */
	uint32_t pp; /* pipeline */
	uint32_t dp; /* data, without sharding */
	uint32_t cp; /* context */
	uint32_t ep; /* expert */
	uint32_t sp; /* sequence */
	uint32_t sharding;
	char *stage;    /* of sharding, "0" to "3"; NULL: none was said */
	uint64_t world; /* processes over all nodes */
	uint64_t data;  /* replicas that see different samples */
};
extern const struct schema layout_spec_schema;

/* How the numbers of a job are read and scaled (controller/results). */
struct measure_spec {
	char *framework;       /* framework description */
	char *log;             /* the one with the log rules, if it is another,
				  or "auto": that which fits; or NULL */
	cJSON *described;      /* what of all that is named here came along with
				  the sweep, by kind and name; or NULL */
	uint32_t warmup_steps; /* steps left out; 0: found by itself */
	uint32_t steps;        /* that the training is to make; 0: unknown */
	uint32_t sequence;     /* tokens per sample; 0: unknown */
	uint32_t micro_batch;  /* samples per device and micro step */
	uint32_t accumulate;   /* micro steps per step */
	uint64_t global_batch; /* samples per step; 0: unknown */
	char *model;           /* name in models.yaml, or NULL */
	char *chip;            /* name in a vendor's chips, or NULL */
	char *precision;       /* bf16, fp16, fp32 ..., or NULL */
	char *stage;     /* of the model, or of formula_stages[], or NULL */
	char *recompute; /* none, selective, full, or NULL */
	double spread_percent; /* of repeats; more is flagged; 0: 5 */
};
extern const struct schema measure_spec_schema;

/* A job that another one goes after: in a sweep by its number there, from 0;
 * in the store by its id.
 */
struct after_spec {
	uint64_t job;
};
extern const struct schema after_spec_schema;

/* Repeat a cell until its rate is known well enough. */
struct until_spec {
	double width;      /* of the confidence interval, a share of the mean;
			      0: only the repeats that are asked for */
	double confidence; /* such as 0.95 */
	uint32_t max;      /* repeats */
};
extern const struct schema until_spec_schema;

struct job_spec {
	char *sweep;     /* the sweep's name */
	char *owner;     /* name of the key that submitted it, or NULL */
	char *cell;      /* the cell in words: "model=gpt-s nodes=2" */
	char *key;       /* content address of the cell: 64 hex digits */
	uint32_t repeat; /* 0 .. repeats - 1 */
	cJSON *values;   /* the matrix values of the cell, by field */
	cJSON *about;   /* for reports alone (controller/sweep/about.h), or NULL
			 */
	char *vendor;   /* nodes of this vendor only */
	char *labels;   /* and that have these: "disk=nvme,rack=a"; NULL: any */
	uint32_t nodes; /* tasks of the gang, 1 .. 4096 */
	uint32_t devices;    /* per node; 0: all that the node has */
	bool shared;         /* single devices instead of whole nodes */
	int64_t priority;    /* larger runs first */
	uint64_t timeout_ms; /* from the gang's start; 0: none */
	uint64_t hang_ms;    /* without a sign of life; 0: by default */
	uint32_t retries; /* further attempts after infrastructure failures */
	char *follows;    /* what it goes after, in words, or NULL */
	struct after_spec *after;
	size_t after_count;
	bool same_nodes;  /* as the first one that it goes after */
	bool same_driver; /* nodes of one driver and chip only; else a warning
			   */
	bool strangers;   /* as in task_spec */
	struct until_spec until;
	struct container_spec container;
	struct layout_spec layout;
	struct measure_spec measure;
};
extern const struct schema job_spec_schema;

/* Who somebody is to a registry, sealed for one reader (registry/login.h). */
struct registry_login {
	char *registry; /* HOST[:PORT]; "docker.io" for the Hub */
	char *sealed;   /* base64; NULL: it was there, and is gone */
};
extern const struct schema registry_login_schema;

/* "build-3": the stream of what building the image printed on that node rank.
 */
#define BUILD_STREAM_SIZE 24
void build_stream(uint32_t rank, char name[BUILD_STREAM_SIZE]);

/* One container of the gang on one node. */
struct task_spec {
	uint64_t job;
	char *owner; /* of the job */
	char *pin;   /* what container.image means in the sweep: name@sha256:...
			or an image's id; NULL: this node is to tell */
	struct registry_login *logins; /* of who submitted it, for its image's
					  registries; sealed for this node */
	size_t logins_count;
	uint32_t attempt; /* 1 .. */
	uint32_t rank;    /* node rank, 0 .. nodes - 1 */
	uint32_t nodes;
	struct strings devices; /* device indices on the node: "0", "1" */
	bool shared;         /* the node's other devices may be another job's */
	bool strangers;      /* who else uses the devices is a warning only */
	uint32_t repeat;     /* of the cell, from 0 */
	uint32_t first_rank; /* of the first process's output stream */
	uint32_t world_size; /* over all nodes */
	uint32_t processes_per_node; /* NPROC_PER_NODE: the node's devices, or
					container.processes */
	struct container_spec container;
};
extern const struct schema task_spec_schema;

#endif
