/* spec.h - the specification of a job: container, shape, how its result is
 * read.
 *
 * A sweep's cells become job_specs (controller/sweep); the controller stores
 * them as JSON and derives from each one task_spec per node, which travels to
 * the agent and lies beside the task's spool.
 */
#pragma once

#include "protocol/message/codec.h"

#include <stdbool.h>

#define LOG_LIMIT_DEFAULT (16ULL << 30)    /* bytes of output per task */
#define COLLECT_LIMIT_DEFAULT (1ULL << 30) /* bytes of collected files */
#define HANG_OFF UINT64_MAX                /* hang_ms: never */
#define WORKSPACE_FOLDER "/workspace"      /* in the container, by default */

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

/* 1 to FILES_NAME_MAX letters, digits, '.', '_' and '-', the first one no '.'.
 * Reserved are names that end in .new (files being written), start and
 * hostfile.
 */
bool file_name_valid(const char *name);

/* Devices that a device driver of the engine provides. Source: Docker Engine
 * API 1.41, HostConfig.DeviceRequests.
 */
struct device_request {
	char *driver; /* "" lets the engine choose, "cdi" takes CDI names */
	struct strings ids; /* empty: all */
	struct strings capabilities;
};

/* The container of a task. argv, prepare, env, follow, collect and the texts of
 * files may hold ${PLACEHOLDER}s that are filled when the task starts:
 *
 *	MASTER_ADDR, MASTER_PORT, NODE_RANK, NNODES, NPROC_PER_NODE, WORLD_SIZE
 *	NODE_ADDRESSES		of all nodes by rank: "a,b"
 *	NODE_ENDPOINTS_JSON	the same: ["a:port", "b:port"]
 *	HOSTFILE		path of a file with a line "a slots=8" per node
 *	NODE_ADDRESS, INTERFACE	address of this node, and its network interface
 *	ROUND			number of the repeat, from 1
 *	START_TIME		of the gang: YYYYmmddHHMMSS in UTC
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
	struct strings needs;   /* paths that must exist on the node; they are
				   not mounted */
	struct strings env;     /* NAME=VALUE */
	struct strings engine_env; /* variables that a runtime of the engine
				      reads */
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
	bool recorder_off; /* leave PyTorch's flight recorder as the image sets
			      it */
	uint64_t log_limit_bytes; /* of output kept per task; 0: the default */
	char *workspace; /* a content (SHA-256): a tar file that is unpacked
			    into the container before it starts; NULL: none */
	char *workspace_folder;       /* where, an absolute path */
	struct strings collect;       /* absolute paths whose files are kept */
	uint64_t collect_limit_bytes; /* of them, per task; 0: the default */
};
/* The allowed values of network, ipc, ulimits (their names) and capabilities
 * (without CAP_). Each list ends in NULL.
 */
extern const char *const container_networks[];
extern const char *const container_ipcs[];
extern const char *const container_ulimits[];
extern const char *const container_capabilities[];
extern const struct schema container_spec_schema;

/* A host name or IP address that is passed to commands on other nodes: up to
 * 253 letters, digits, '.', ':', '-', '_' and '%', the first one no '-'.
 */
bool address_valid(const char *address);

/* Does it use a placeholder for the addresses of all nodes? */
bool container_wants_addresses(const struct container_spec *spec);

/* How a training is distributed over its devices: the parallel degrees. 0: not
 * set.
 */
struct layout_spec {
	uint32_t tp; /* tensor */
	uint32_t pp; /* pipeline */
	uint32_t dp; /* data, without sharding */
	uint32_t cp; /* context */
	uint32_t ep; /* expert */
	uint32_t sp; /* sequence */
	uint32_t sharding;
	char *stage;    /* of sharding, "0" to "3"; NULL: not set */
	uint64_t world; /* processes over all nodes */
	uint64_t data;  /* replicas that see different samples */
};
extern const struct schema layout_spec_schema;

/* How the numbers of a job are read and scaled (controller/results). */
struct measure_spec {
	char *framework;       /* framework description */
	char *log;             /* description whose log rules are used; "auto":
				  the one that fits; NULL: framework */
	cJSON *described;      /* descriptions that the sweep brings along, of
				  the names here, by kind and name; or NULL */
	uint32_t warmup_steps; /* steps left out; 0: detected */
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
	double spread_percent; /* limit between repeats; more is flagged; 0: 5
				*/
};
extern const struct schema measure_spec_schema;

/* A job that must end before another one: in a sweep by its number there, from
 * 0; in the store by its id.
 */
struct after_spec {
	uint64_t job;
};

/* Repeat a cell until its rate is known well enough. */
struct until_spec {
	double width;      /* of the confidence interval, a share of the mean;
			      0: only the repeats that are asked for */
	double confidence; /* such as 0.95 */
	uint32_t max;      /* repeats */
};

/* The cells of a sweep race: controller/race/race_rules.h. */
struct race_spec {
	bool heat;      /* the job is ended when its rate is known roughly */
	uint32_t steps; /* steady steps of a heat; 0: the cell does not race */
	double margin;  /* shares */
	double tie;
	double confidence;       /* such as 0.95 */
	uint32_t max;            /* full runs of a cell in the final */
	uint32_t repeat;         /* full runs of the winner */
	struct until_spec until; /* of the winner, instead of the job's own */
	double budget_s;         /* device seconds; 0: none */
	double order;    /* of the heats, ascending: the estimated memory */
	bool sized;      /* in bytes of a device */
	uint32_t figure; /* of race_figures: what is compared */
	bool least;      /* the smallest one wins */
	bool fit; /* a rung of a ladder of micro batches (race_rules.h) */
	bool own; /* its ladder is a race of its own */
	struct strings per; /* keys whose values separate races */
};
extern const struct schema race_spec_schema;

/* The figures of a result that cells can race for, as reports name them; NULL
 * ends the list.
 */
extern const char *const race_figures[];

struct job_spec {
	char *sweep;     /* the sweep's name */
	char *owner;     /* name of the key that submitted it, or NULL */
	char *cell;      /* label of the cell: "model=gpt-s nodes=2" */
	char *key;       /* content address of the cell: 64 hex digits */
	uint32_t repeat; /* 0 .. repeats - 1 */
	cJSON *values;   /* the matrix values of the cell, by field */
	cJSON *about;    /* for reports alone (sweep/expand.c), or NULL
			  */
	char *vendor;    /* nodes of this vendor only */
	char *labels;   /* that the nodes must have: "disk=nvme,rack=a", or NULL
			 */
	uint32_t nodes; /* tasks of the gang, 1 .. 4096 */
	uint32_t devices;    /* per node; 0: all that the node has */
	bool shared;         /* single devices instead of whole nodes */
	int64_t priority;    /* larger values run first */
	uint64_t timeout_ms; /* from the gang's start; 0: none */
	uint64_t hang_ms;    /* without progress; 0: the default */
	uint32_t retries; /* further attempts after infrastructure failures */
	char *follows;    /* labels of the cells in after, or NULL */
	struct after_spec *after;
	size_t after_count;
	bool same_nodes;      /* as the first job of after */
	bool same_driver;     /* all nodes have one driver and one chip; false:
				 different ones are a warning */
	bool foreign_allowed; /* as in task_spec */
	struct until_spec until;
	/* Failures of commands that stop the sweep (failure_budget.h of the
	 * controller): so many, or such a share of its jobs; never; all zero:
	 * by its first jobs alone.
	 */
	uint32_t stop_failures;
	double stop_share;
	bool stop_never;
	struct race_spec race;
	struct container_spec container;
	struct layout_spec layout;
	struct measure_spec measure;
};
extern const struct schema job_spec_schema;

/* A login for a registry, sealed for one reader (protocol/registry/login.h). */
struct registry_login {
	char *registry; /* HOST[:PORT]; "docker.io" for the Hub */
	char *sealed;   /* base64; NULL: it was removed */
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
	char *pin;   /* what container.image resolves to in the sweep:
			name@sha256:... or an image's id; NULL: this node
			resolves it */
	bool look;   /* prepare nothing: what has this node by that name? */
	struct registry_login *logins; /* of the submitter, for the registries
					  of its image; sealed for this node */
	size_t logins_count;
	uint32_t attempt; /* 1 .. */
	uint32_t rank;    /* node rank, 0 .. nodes - 1 */
	uint32_t nodes;
	struct strings devices; /* device indices on the node: "0", "1" */
	bool shared;          /* other jobs may use the node's other devices */
	bool foreign_allowed; /* processes of others on the devices are only a
				 warning */
	uint32_t repeat;      /* of the cell, from 0 */
	uint32_t first_rank;  /* of the first process's output stream */
	uint32_t world_size;  /* over all nodes */
	uint32_t processes_per_node; /* NPROC_PER_NODE: the node's devices, or
					container.processes */
	struct container_spec container;
};
extern const struct schema task_spec_schema;
