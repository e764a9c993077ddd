/* task_internal.h - a task's fields and steps, for the files that make it up:
 * task.c says which step follows, task_steps.c has what all steps share, and
 * step_*.c what each one does.
 */
#ifndef AGENT_TASK_TASK_INTERNAL_H
#define AGENT_TASK_TASK_INTERNAL_H

#include "agent/blobs/workspace_upload.h"
#include "agent/evidence/abort.h"
#include "agent/evidence/evidence_round.h"
#include "agent/task/collect.h"
#include "agent/task/disk_watch.h"
#include "agent/task/exit_status.h"
#include "agent/task/preflight.h"
#include "agent/task/streams.h"
#include "agent/task/task.h"
#include "agent/spool/spool_watch.h"
#include "protocol/hardware/container.h"

#define CALL_MS 30000 /* an engine call that should take milliseconds */
#define ENGINE_SILENT_MS 10000 /* then a record counts without the engine */
#define STEP_RETRIES_MAX 120   /* a second apart, then the task fails */

enum step {
	STEP_NONE, /* no such transition: the event is ignored */
	STEP_CHECK,
	STEP_IMAGE,
	STEP_FETCH, /* its workspace, to the node */
	STEP_CREATE,
	STEP_INSERT, /* the workspace, into the container */
	STEP_READY,
	STEP_START,
	STEP_RUN,
	STEP_STOP,
	STEP_ENDED,
	STEP_REMOVE,
	STEP_GONE,
	STEPS
};

enum event {
	EVENT_CHECKED, /* nothing forbids it */
	EVENT_IMAGE,   /* the image is there */
	EVENT_FETCHED,
	EVENT_CREATED, /* the container is */
	EVENT_LACKS,   /* somebody removed the image */
	EVENT_INSERTED,
	EVENT_STARTED,
	EVENT_EXITED, /* the command ended: an outcome is known */
	EVENT_FAILED, /* it never began */
	EVENT_REMOVED,
	ORDER_START,
	ORDER_STOP,
	ORDER_DISCARD,
	EVENTS
};

struct task {
	const struct task_services *services;
	struct task_id id;
	struct task_spec spec;   /* as the controller gave it */
	struct task_spec filled; /* with what its devices need; no image: not
				    yet filled */
	enum step step;
	enum task_state told; /* by changed() */
	char container[CONTAINER_NAME_MAX];
	char *image_id;
	char *image_pin; /* as in struct task_status; NULL: not known yet */
	struct strings image_argv; /* the image's entry point and command */
	struct preflight *preflight;
	cJSON *facts; /* of the host, when it was checked; NULL: not known */
	char *image_user, *image_workdir;
	unsigned int lacked; /* times that the image was there no longer */
	struct image_wait *image;
	struct fetch_wait *fetch; /* of the workspace */
	struct workspace_upload *insert;
	struct engine_call *call;     /* at most one; of the present step */
	struct engine_call *creating; /* of the container: may outlive its step,
					 for the engine finishes it anyway */
	sd_event_source *retry, *watch;
	sd_event_source *silent; /* since the record was seen */
	unsigned int retries;
	int build_fd; /* what a build prints goes there; -1: it is shut */
	int port_fd;  /* holds the rendezvous port until the start */
	uint32_t port;
	char *address; /* given with the order to start */
	uint32_t rendezvous_port;
	uint64_t start_ms; /* of the gang */
	struct strings addresses;
	enum failure ordered;       /* why it was told to stop */
	struct disk_watch *disk;    /* while the command runs; NULL: no limit */
	struct spool_watch *output; /* the same */
	struct gang_ssh *ssh;       /* the same; NULL: its job does without */
	char reason[200];           /* why it was stopped, in words; or "" */
	bool forged;         /* something was put in the record's place */
	bool evidence_stops; /* tools may pause the processes */
	bool aborted;        /* its stacks were asked for before the stop */
	struct exit_status outcome;
	struct rank_end *ends; /* of its processes, by the record */
	size_t ends_count;
	int code; /* errno value behind a failure before the run */
	struct streams streams;
	struct collect *collect;         /* its files, once it has ended */
	struct monitor_stream *samples;  /* while the command runs */
	struct evidence_round *evidence; /* the same; NULL: nobody asked */
	uint64_t evidence_next;       /* the round that follows it; 0: none */
	struct evidence_abort *abort; /* until the stop that follows it */
};

/* In task.c: something happened; the table says what follows. May free the
 * task, when it is gone.
 */
void task_event(struct task *task, enum event event);

/* In step_*.c: what is done when a step begins. */
typedef void step_fn(struct task *task);
step_fn step_check, step_image, step_fetch, step_create, step_insert,
	step_ready, step_start, step_run, step_stop, step_ended, step_remove;

/* Look at the container and go on from what it is. */
void step_inspect(struct task *task);

/* Complete the spec for the devices of this node, once; again where probe. */
int step_complete(struct task *task, bool probe, struct error *err);

/* Where the container runs. in, out: PATH_MAX bytes for its folders. */
struct container_place step_place(struct task *task, char *in, char *out);

/* Does the node's policy allow the task? false: it has failed. */
bool step_allowed(struct task *task, const struct container_place *place);

/* Carry what its ranks start by ssh to the other nodes of the gang, from now
 * on.
 */
void step_carry_commands(struct task *task);

/* End what step_run() began but the samples. */
void step_run_leave(struct task *task);

/* Collect the files of a task that has ended. */
void step_collect(struct task *task);

/* Watch the folder that the container writes. */
void step_watch(struct task *task);

/* Sample devices and host from now on, until step_ended(). */
void step_sample(struct task *task);

/* It cannot begin: EVENT_FAILED. */
void step_fail(struct task *task, enum failure failure,
	       const struct error *err);

/* The engine is away or hangs; its answer may come to the next try. */
bool step_engine_away(const struct error *err);

/* Do what the present step does again, a little later. */
void step_retry(struct task *task);

/* Drop what the present step waits for. */
void step_leave(struct task *task);

/* In task_evidence.c. Have the stacks of a task that hangs printed before it is
 * stopped: true, step_stop() follows.
 */
bool task_print_stacks(struct task *task);

/* Nobody looks at the processes any more. */
void task_evidence_drop(struct task *task);

/* In task_ending.c. The container runs no more (NULL: it is gone): fill the
 * outcome from the record and what the engine says of the container, and note
 * for the next agent if the record is to be believed.
 */
void step_conclude(struct task *task, const cJSON *container);

/* An agent before this one concluded: the outcome is filled again. */
bool step_concluded(struct task *task);

/* A file took the record's place; remember it when it is not regatta-init's. An
 * engine that hangs does not hold the end up: when it has said nothing for
 * ENGINE_SILENT_MS and regatta-init lives no more, the record alone counts.
 */
void step_record_seen(struct task *task);

#endif
