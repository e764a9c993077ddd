/* simulation.h - a controller and its nodes in one process, on virtual time.
 *
 * The core of the controller (jobs, gangs, scheduler, nodes, log ingest) and
 * its store are the real ones. Agents, engines, the wire and the output's disk
 * are models, which lose, double, delay, cut, fill up and die by a plan that
 * follows from the seed alone. A run is a pure function of its seed.
 */
#pragma once

#include "controller/cluster/active_job_internal.h"
#include "controller/jobs/jobs.h"
#include "controller/store/store.h"
#include "protocol/wire/key.h"

#include <stdbool.h>
#include <stdint.h>

#define MS 1000LL /* of virtual time, which is counted in microseconds */
#define SECOND (1000 * MS)
#define DEVICES 4
#define SIM_NODE_LOST_MS 60000
#define SIM_WALL_MS 1700000000000LL /* when it all begins */
#define SIM_SWEEP 1                 /* that all jobs are of */

#define SIM_FRAMEWORK "sim" /* whose lines the output is of */
#define SIM_LINE 32         /* bytes of each */
#define SIM_KINDS 8192

enum {
	KIND_BETA = 1,
	KIND_KNOWN = 2,
	KIND_MEASURED = 4,
	KIND_UNTIL = 8,
	KIND_RACE = 16
};

struct agent;
struct world;

/* Random numbers, each user its own: splitmix64. */
uint64_t random_next(uint64_t *state);
uint64_t random_below(uint64_t *state, uint64_t n);
bool random_chance(uint64_t *state, uint32_t per_million);
/* The same, until nothing fails any more. */
bool world_strikes(struct world *world, uint32_t per_million);

/* What happens at a time. */
enum sim_kind {
	SIM_TO_CONTROLLER,
	SIM_TO_AGENT,
	SIM_TICK,     /* of the controller */
	SIM_READ,     /* it asked to read on */
	SIM_UNSTALL,  /* it tries its disk again */
	SIM_BOOT,     /* it starts */
	SIM_CONNECT,  /* an agent tries to connect */
	SIM_CUT_SEEN, /* the controller notices that a session is over */
	SIM_AGENT_UP, /* an agent starts again */
	SIM_EVICT,    /* what an agent that leaves has yet is removed */
	SIM_STEP,     /* of a task on a node */
	SIM_PUMP,     /* an agent sends output */
	SIM_RESYNC,   /* the controller asks an agent for a report */
	SIM_REVOKE,   /* a removed node's session ends */
	SIM_PERSON,   /* somebody orders something */
	SIM_FAULT,
	SIM_HEAL, /* no more faults */
};

/* A message, in as much as the models read it. */
struct packet {
	enum message_type type;
	uint64_t job;
	uint32_t attempt, rank;
	enum task_state state;
	enum failure failure;
	uint32_t port;
	uint64_t devices;
	uint64_t offset, size; /* log and its acknowledgement */
	uint32_t turn;
	bool refused;
	uint32_t retry_ms;
	bool pinned;           /* the image's digest is told */
	bool look;             /* prepare: tell what is there; told */
	bool leaving;          /* in a report */
	uint64_t streams;      /* final bytes of the output */
	struct packet *report; /* of a report: `size` of them */
};

struct sim_event {
	int64_t at_us;
	uint64_t order; /* of equal times */
	enum sim_kind kind;
	struct agent *agent;
	uint32_t session; /* of the wire, or generation of the task's step */
	struct packet packet;
};

/* A session as the controller sees it. */
struct wire_peer {
	struct agent *agent;
	uint32_t session;
};

/* A task on a node. What the engine and the spool hold survives the agent. */
struct sim_task {
	uint64_t job;
	uint32_t attempt, rank;
	uint64_t devices;
	/* Engine and spool. */
	bool created, ordered, started, exited, wiped;
	uint64_t written, total; /* bytes of output, and in the end */
	enum failure fate;       /* how it is going to end */
	enum failure outcome;    /* how it ended */
	bool hangs;
	/* The agent's memory. */
	enum task_state state;
	bool removing;
	uint32_t generation; /* of the step under way */
	uint64_t sent, acked;
	uint32_t turn;
	bool known;
	enum failure told; /* to stop, for this reason */
	struct sim_task *next;
};

struct agent {
	struct world *world;
	uint32_t index;
	char name[16];
	char key[KEY_TEXT_SIZE];
	const char *vendor;
	bool up;
	uint32_t instance;
	uint32_t session; /* counts; the wire's events of older ones are lost */
	bool connected;
	bool welcomed;
	bool leaving;        /* its time is over */
	enum failure broken; /* how each task fails here; none: it works */
	bool stored;         /* its node's row was put, and not removed since */
	int64_t revoked_us;  /* until then nobody lets it in again */
	bool pumping;
	struct wire_peer *peer;                /* at the controller */
	int64_t to_controller_us, to_agent_us; /* the last message arrives */
	struct sim_task *tasks;
};

/* What really happened to a rank of an attempt, whatever anybody believes. */
struct sim_truth {
	uint64_t job;
	uint32_t attempt, rank;
	uint32_t starts; /* of its command */
	bool ended_well; /* with exit code 0 */
	int64_t ended_us;
	uint32_t kept, told; /* life of the controller that last kept its
				files, and told of them */
	uint64_t written;    /* in the end */
	uint64_t stored;     /* bytes the controller has */
};

struct sim_plan {
	uint32_t nodes, jobs;
	int64_t length_us;     /* until all faults end */
	uint32_t lose, repeat; /* messages, per million */
	uint32_t fail_put;     /* rows that find no room in the queue */
	uint32_t fail_row;     /* and on the disk */
	uint32_t fail_log;
	uint32_t kill;      /* the controller, at each point of a turn */
	uint32_t fail_task; /* tasks that fail by themselves */
	bool plain;         /* quick jobs, and nothing goes wrong by chance */
	int64_t fault_us, person_us; /* about one in that time */
};

struct world {
	const struct catalog *catalog; /* borrowed */
	uint64_t seed;
	uint64_t random;
	int64_t now_us, wall_offset_ms, idle_us;
	bool healed;
	struct sim_plan plan;
	struct sim_event *heap;
	size_t heap_count, heap_room;
	uint64_t order, events;
	struct agent *agents;
	/* The controller. */
	struct job_effects effects;
	struct store *store;
	struct changes changes;
	struct jobs *jobs;
	struct jobs_parts parts; /* of jobs */
	char folder[64];
	bool alive, stalled, reading, again;
	uint32_t life;        /* counts controllers */
	int64_t disk_full_us; /* until then */
	struct sim_event *outgoing;
	size_t outgoing_count, outgoing_room;
	struct sim_event *inbox; /* what came while it was stalled */
	size_t inbox_count, inbox_room;
	uint64_t submitted;
	uint8_t kinds[SIM_KINDS]; /* of submitted jobs, by id */
	uint64_t kills, cuts, commits;
	uint64_t refused; /* rows that found no room in the queue */
	uint64_t lost;    /* attempts, on a broken node */
	/* What is true. */
	void *truths;    /* tsearch(3) tree */
	char wrong[400]; /* the first invariant that is broken */
	bool trace;
};

/* The world (world.c). */
int world_open(struct world *world, const struct catalog *catalog,
	       uint64_t seed, bool trace);
/* Nothing goes wrong but on one of two nodes, where each task fails so: few
 * attempts are lost there, and every job completes.
 */
int world_open_broken(struct world *world, const struct catalog *catalog,
		      uint64_t seed, bool trace, enum failure failure);
/* Run to the end, or to the first thing that is wrong. */
void world_run(struct world *world);
void world_close(struct world *world);
void world_later(struct world *world, int64_t delay_us, enum sim_kind kind,
		 struct agent *agent, uint32_t session,
		 const struct packet *packet);
void world_wrong(struct world *world, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void world_trace(struct world *world, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
struct sim_truth *world_truth(struct world *world, uint64_t job,
			      uint32_t attempt, uint32_t rank);
/* The byte that stands at this offset of a rank's output: of lines that tell a
 * step and its time.
 */
char world_byte(uint64_t job, uint32_t attempt, uint32_t rank, uint64_t offset);

/* The wire between them (world.c): in order, until the session ends. */
void wire_to_controller(struct agent *agent, const struct packet *packet);
void wire_to_agent(struct agent *agent, uint32_t session,
		   const struct packet *packet);
void wire_cut(struct agent *agent);

/* The controller (driver.c). */
void driver_boot(struct world *world);
void driver_kill(struct world *world);
void driver_event(struct world *world, const struct sim_event *event);
void driver_close(struct world *world);

/* The disk of its store (disk.c): a row may find no room in the queue, and a
 * commit none on the disk, at any of its rows. Then ENOSPC.
 */
void disk_open(struct world *world);
bool disk_is_full(const struct world *world);
int disk_commit(struct world *world, struct error *err);

/* What people and misfortune do (faults.c). */
void faults_person(struct world *world);
void faults_strike(struct world *world);
void faults_heal(struct world *world);

/* Agents and engines (agent.c). */
void agent_connect(struct agent *agent);
void agent_heard(struct agent *agent, const struct packet *packet);
void agent_step(struct agent *agent, const struct sim_event *event);
void agent_pump(struct agent *agent);
void agent_die(struct agent *agent);
void agent_rise(struct agent *agent);
void agent_leave(struct agent *agent);
void agent_evict(struct agent *agent);
void agent_wipe(struct agent *agent);
void agent_clear(struct agent *agent);

/* What must always be so (invariants.c). */
void check_event(struct world *world);
void check_job_ended(struct world *world, const struct job *job);
void check_result(struct world *world, const struct result_row *row);
void check_end(struct world *world);
struct snapshot;
/* Does a job wait for room to store why it ends? */
bool snapshot_is_early(struct world *world);
struct snapshot *snapshot_take(struct world *world);
void snapshot_compare(struct world *world, struct snapshot *before);
