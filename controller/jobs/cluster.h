/* cluster.h - what the modules of this room share: nodes, active jobs, store.
 *
 * The state in memory is what follows from the events so far. A change is made
 * here and put into the store's queue in the same step; the messages that act
 * on it wait in the wire's queue. At the end of every turn of the loop the
 * store commits, and only then the wire sends (controller.c): what was told to
 * anybody is never forgotten.
 */
#ifndef CONTROLLER_JOBS_CLUSTER_H
#define CONTROLLER_JOBS_CLUSTER_H

#include "controller/logs/retention_limits.h"
#include "controller/jobs/effects.h"
#include "controller/jobs/news.h"
#include "controller/jobs/lifecycle.h"
#include "controller/logs/log_store.h"
#include "controller/results/extract.h"
#include "controller/scheduler/scheduler.h"
#include "controller/store/store.h"
#include "controller/sweep/catalog.h"
#include "protocol/blob/blob_store.h"
#include "protocol/message/device_info.h"
#include "protocol/message/message.h"
#include "protocol/message/spec.h"
#include "protocol/message/state.h"
#include "protocol/message/stream_index.h"
#include "protocol/wire/key.h"

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <sys/queue.h>

#define CLUSTER_NODES_MAX 16384

struct job;

struct keyring;
struct wire_peer;
struct wire_server;
struct sd_event;
struct sd_event_source;
struct blob_service; /* controller/blobs/blob_service.h */
struct backups;      /* controller/api/backups.h */
struct access;       /* controller/access/access.h */
struct artifact_fetches;
struct image_rollouts; /* controller/blobs/image_rollout.h */
struct retention;
struct logins; /* controller/jobs/logins.h */

/* A task that a node was told to discard, and still has. */
struct discard {
	uint64_t job;
	uint32_t attempt;
	uint32_t rank;
};

/* A machine with an agent. */
struct node {
	size_t index; /* in cluster->nodes and cluster->slots */
	char name[KEY_NAME_SIZE];
	struct wire_peer *peer; /* NULL: out of reach */
	char *instance; /* of the agent that spoke last; NULL: not told */
	bool reported;  /* it said what it has, in this session */
	bool removed;   /* it may not come back under this name's old key */
	char key[KEY_TEXT_SIZE]; /* public, that its agent came with last */
	char *machine;           /* and from where; NULL: not told */
	bool drained;            /* it gets no new task now: */
	bool drain; /* somebody said so, for this time, wall clock: */
	int64_t drain_from_ms, drain_until_ms; /* 0: for good */
	char *reason;                          /* or NULL */
	char *label_text;                      /* of the slot */
	cJSON *labels; /* an object of texts; NULL: none */
	char *vendor;  /* "" before the first hello */
	char *address;
	unsigned int
		gives_failed; /* contents that others asked of it in vain */
	unsigned int takes_failed; /* and it of others, in a row */
	int64_t takes_again_ms;    /* monotonic; until then not from others */
	char *peers; /* where other nodes get contents of it; NULL: nowhere */
	char awaits[CONTENT_HASH_SIZE]; /* asked for, and not here yet */
	cJSON *facts;
	struct device_info *inventory; /* by index; none: not told */
	size_t inventory_count;
	struct slot_device parts[SCHEDULER_DEVICES_MAX]; /* of the slot */
	int64_t seen_ms;          /* wall clock of its last message */
	int64_t lost_since_ms;    /* monotonic; 0: in reach */
	struct discard *discards; /* no new task until they are done */
	size_t discards_count;
	TAILQ_HEAD(, task) tasks; /* of active jobs */
};

/* A job's container on one node, as the controller knows it. */
struct task {
	struct job *job;
	uint32_t rank;
	struct node *node; /* NULL: none yet */
	bool held;         /* of the node's devices */
	uint64_t devices;
	enum task_state state;
	enum failure failure;
	char *text;
	char *image_id;
	char *image_pin; /* what its name means, as its node has it */
	int64_t exit_code;
	int64_t started_ms, ended_ms;
	uint64_t memory_peak_bytes;
	uint32_t port;
	bool waits; /* to be told to prepare (image_digest.h) */
	struct message_progress *transfer; /* of its image; NULL: none told */
	int64_t transfer_ms;               /* monotonic, when that began */
	int64_t transfer_moved_ms;         /* and when it last went on */
	cJSON *facts; /* of its node, when it was checked; NULL: as the node's
		       */
	struct stream_size *streams; /* final sizes, once it ended */
	size_t streams_count;
	struct collected_file *files; /* once it ended */
	size_t files_count;
	uint64_t index_read; /* of its index of followed files */
	bool index_new;      /* there may be more in it */
	bool collected;      /* its streams and files are here, all of them */
	bool collecting;     /* its files are not known yet */
	bool crowded;        /* the store has no place for one of them */
	bool discarding;     /* told to discard */
	bool reported;       /* in the report that is being read */
	TAILQ_ENTRY(task) by_node;
};

/* The compiled log rules of a framework. */
struct rules {
	const struct framework *framework;
	struct extract_rules *extract;
};

/* Reading one stream for its metrics. */
struct log_reading {
	char stream[STREAM_INDEX_NAME_MAX + 1];
	struct extract *extract;
	uint64_t offset;
	bool finished;
	bool broken; /* the stored output cannot be read */
};

/* Reading one node's samples. */
struct sampling {
	struct usage *usage; /* NULL: none came yet */
	uint64_t offset;
	bool broken; /* the stored samples cannot be read */
	bool quiet;  /* all was read when it was looked at last */
};

/* What only a job that holds nodes has. */
struct gang {
	struct job_spec spec;
	struct task *tasks; /* spec.nodes of them, by rank */
	uint32_t port;      /* the rendezvous, from "ready" on */
	char *address;      /* and the host's; NULL before */
	struct strings
		addresses; /* all nodes', when the container wants them */
	struct log_reading *readings;
	size_t readings_count;
	struct sampling *samplings; /* spec.nodes of them; NULL: none read */
	bool behind;                /* there is output that was not read yet */
	bool reading;               /* listed in cluster->reading */
	bool synced;                /* its output is safe on disk, */
	bool kept;     /* and so is what it collected, which an event tells, */
	bool measured; /* and its result is stored: what ends it is done once */
	TAILQ_ENTRY(gang) by_reading;
	TAILQ_ENTRY(gang) by_cluster;
	int64_t deadline_ms; /* monotonic; 0: none */
	struct job *job;
	struct cluster *cluster;
};

/* That a job goes after another one (dependencies.h). */
struct follow {
	uint64_t before; /* the other one */
	struct job *job;
	bool listed; /* behind the other one, which is not final */
	LIST_ENTRY(follow) by_before;
};

/* A job that is not final, or whose containers are not all gone. */
struct job {
	uint64_t id;
	uint64_t sweep;
	int64_t priority;
	enum job_state state;
	uint32_t attempt;
	uint32_t first_attempt; /* since it was asked for: retries begin here */
	enum failure failure; /* of the present attempt: the first one counts */
	char *text;
	int64_t code; /* errno value behind it */
	int64_t queued_ms, started_ms, ended_ms;
	struct shape shape; /* its texts and pins are owned */
	struct gang *gang;  /* NULL while queued */
	struct node *avoid; /* failed it in the last attempt */
	uint64_t progress_seq;
	struct follow *follows;
	size_t follows_count;
	bool same_nodes; /* as the first one that it goes after */
	char *skip;      /* why it will never run; NULL */
	LIST_HEAD(, follow) followers;
	uint64_t cell_index;
	struct until_spec until;
	struct trial *trial; /* NULL: its cell is not repeated, or it ended */
	double rate;         /* of its result; 0: none */
	struct image_references *need; /* its image (image_references.h) */
	bool needs;                    /* it is counted there */
	bool due;                      /* listed in cluster->due */
	TAILQ_ENTRY(job) by_due;
};

struct image_references; /* see image_references.c */
struct trial;            /* a cell that is repeated, see adaptive_repeats.c */
struct parked;           /* a request that waits, see server.c */

struct cluster {
	const struct job_effects *effects;
	void *world; /* their argument */
	struct sd_event *loop;
	const struct key *key; /* the controller's own */
	struct store *store;
	struct log_store *logs;
	struct blob_service *blobs;
	struct image_rollouts *carries;
	struct artifact_fetches
		*fetches; /* controller/blobs/artifact_fetch.h */
	struct catalog *catalog;
	struct wire_server *wire;
	struct keyring *keyring;
	struct access *access;
	struct backups *backups;
	uint64_t node_lost_ms;
	struct keep keep;
	struct retention *retention; /* controller/logs/retention.h */
	uint64_t stored_bytes;       /* of output since it began */
	struct node **nodes;
	struct slot *slots; /* as the scheduler sees nodes[i] */
	size_t nodes_count;
	void *jobs; /* tsearch(3) tree by id */
	size_t jobs_count;
	TAILQ_HEAD(, gang) gangs; /* of the jobs that are not queued */
	struct queue *queue;
	bool schedule_due;
	TAILQ_HEAD(, job) due;    /* queued, but they go after others */
	int64_t next_deadline_ms; /* of a gang; monotonic; 0: none */
	struct sd_event_source *settler, *deadline; /* of effects.c */
	void *needs;         /* tsearch(3) tree (image_references.h) */
	void *pins;          /* tsearch(3) tree (image_digest.h) */
	size_t pins_waiting; /* tasks that wait for one */
	struct logins *logins;
	void *trials; /* tsearch(3) tree (adaptive_repeats.h) */
	TAILQ_HEAD(, trial) ended;
	bool draining; /* nothing new is begun */
	struct rules *rules;
	size_t rules_count;
	TAILQ_HEAD(, gang) reading;
	struct sd_event_source *reader;
	TAILQ_HEAD(, parked) parked;
	size_t parked_count;
	uint64_t progress_seq; /* counts changes that are no events */
	bool recheck;     /* keys, once this turn's messages have gone out */
	struct news news; /* that a parked request may wait for */
	bool disk_full;   /* said so in the log already: of the store, */
	bool logs_full;   /* of the output */
};

static inline int64_t cluster_wall_ms(const struct cluster *cluster)
{
	return cluster->effects->wall_ms(cluster->world);
}

static inline int64_t cluster_mono_ms(const struct cluster *cluster)
{
	return cluster->effects->mono_ms(cluster->world);
}

#endif
