/* task_internal.h - a task's fields and steps, for the files of the module:
 * task.c has the table of transitions, task_steps.c what all steps share, and
 * step_*.c the steps.
 */
#pragma once

#include "agent/evidence/abort.h"
#include "agent/evidence/evidence_round.h"
#include "agent/task/collect.h"
#include "agent/task/exit_status.h"
#include "agent/task/preflight.h"
#include "agent/task/release_check.h"
#include "agent/task/streams.h"
#include "agent/task/task.h"
#include "agent/task/write_watch.h"
#include "agent/docker/create_body.h"

#define CALL_MS 30000     /* an engine call that should take milliseconds */
#define RECORD_LOOK_MS 20 /* after the record; doubled each time */
#define ENGINE_SILENT_MS 10000 /* then the record counts without the engine */
#define STEP_RETRIES_MAX 120   /* a second apart, then the task fails */

enum step {
	STEP_NONE, /* no such transition: the event is ignored */
	STEP_CHECK,
	STEP_IMAGE,
	STEP_FETCH, /* the workspace is fetched to the node */
	STEP_CREATE,
	STEP_INSERT, /* the workspace is unpacked into its folder */
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
	EVENT_CHECKED, /* all checks passed */
	EVENT_IMAGE,   /* the image is there */
	EVENT_FETCHED,
	EVENT_CREATED, /* the container is there */
	EVENT_LACKS,   /* the image has been removed meanwhile */
	EVENT_INSERTED,
	EVENT_STARTED,
	EVENT_EXITED, /* the command ended; outcome is filled */
	EVENT_FAILED, /* the task failed before its command began */
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
	struct task_spec filled; /* the spec completed for its devices; empty
				    until then */
	enum step step;
	enum task_state told; /* last reported by changed() */
	char container[CONTAINER_NAME_MAX];
	char *image_id;
	char *image_pin; /* as in struct task_status; NULL: not known yet */
	struct strings image_argv; /* the image's entry point and command */
	struct preflight *preflight;
	cJSON *facts; /* of the host, from preflight; NULL: not known */
	char *image_user, *image_workdir;
	unsigned int lacked; /* how often the image was removed meanwhile */
	unsigned int lost;   /* and the container, before its start */
	struct image_wait *image;
	struct fetch_wait *fetch;    /* of the workspace */
	struct workspace *workspace; /* being unpacked */
	struct engine_call *call;    /* of the present step; at most one */
	struct engine_call
		*creating; /* create call; may outlive its step,
			      because the engine finishes it anyway */
	sd_event_source *retry, *watch;
	sd_event_source *silent; /* the engine is silent about the record */
	sd_event_source *soon;   /* next inspect after the record was seen */
	uint32_t look_ms;
	unsigned int retries;
	int build_fd;   /* stream of a build's output; -1: closed */
	int port_fd;    /* holds the rendezvous port until the start */
	int secrets_fd; /* of the pipe, until regatta-init has read it */
	uint32_t port;
	cJSON *request; /* while it starts: what release_check.h compares */
	struct resolved_paths paths; /* the same */
	char *address; /* this and the next: from the start order */
	uint32_t rendezvous_port;
	uint64_t start_ms; /* of the gang */
	struct strings addresses;
	enum failure ordered;       /* why it was told to stop */
	struct write_watch *writes; /* while the command runs */
	struct gang_ssh *ssh; /* while the command runs; NULL: not requested */
	char reason[200];     /* why it was stopped, in words; or "" */
	char init_path[CONTAINER_INIT_SIZE]; /* if this agent creates it */
	bool engine_started; /* the engine reports that it runs */
	bool forged;         /* another file was in the record's place */
	bool evidence_stops; /* tools may pause the processes */
	bool aborted;        /* its stacks were requested before the stop */
	struct exit_status outcome;
	struct strings ulimits; /* of the command, by the record */
	struct rank_end *ends;  /* of its processes, by the record */
	size_t ends_count;
	int code; /* errno value behind a failure before the run */
	struct streams streams;
	struct collect *collect;         /* its files, once it has ended */
	struct monitor_stream *samples;  /* while the command runs */
	struct evidence_round *evidence; /* the same; NULL: nobody asked */
	uint64_t evidence_next; /* the round that follows it; 0: none */
	unsigned int dumps;     /* rounds that asked for dumps, but of a hang */
	struct evidence_abort *abort; /* until the stop that follows it */
};

/* In task.c: handle an event by the table. May free the task. */
void task_event(struct task *task, enum event event);

/* In step_*.c: what runs when a step begins. */
typedef void step_fn(struct task *task);
step_fn step_check, step_image, step_fetch, step_create, step_insert,
	step_ready, step_start, step_run, step_stop, step_ended, step_remove;

/* Inspect the container and continue from its state. */
void step_inspect(struct task *task);

/* Complete the spec for the devices of this node. Done once; with probe again.
 */
int step_complete(struct task *task, bool probe, struct error *err);

/* The place of the container, whose folders are in *paths. */
struct task_paths {
	char in[PATH_MAX], out[PATH_MAX], work[PATH_MAX];
};
struct container_place step_place(struct task *task, struct task_paths *paths);

/* Stop to unpack; NULL is fine. */
void workspace_free(struct workspace *workspace);
OWNED_POINTER(struct workspace, workspace_free)

/* Does the node's policy allow the task? false: it has failed. */
bool step_allowed(struct task *task, const struct container_place *place,
		  struct resolved_paths *paths);

/* The container runs, or regatta-init has begun in it. Compare it with what the
 * policy allowed and release its command, unless that has been done. pid: of
 * its process 1, as the engine reports it; 0: only if regatta-init shows it.
 */
void step_release(struct task *task, pid_t pid);

/* Put its secrets, if it has any, into the pipe that regatta-init reads. Done
 * once.
 */
#define SECRETS_PIPE "secrets" /* in SPOOL_IN */
int task_give_secrets(struct task *task, struct error *err);

/* Start to pass commands that its ranks run by ssh to the other nodes. */
void step_carry_commands(struct task *task);

/* End what step_run() began, except the samples. */
void step_run_leave(struct task *task);

/* Collect the files of a task that has ended. */
void step_collect(struct task *task);

/* Watch the folder that the container writes. */
void step_watch(struct task *task);

/* Sample devices and host from now on, until step_ended(). */
void step_sample(struct task *task);

/* Signal the process if it is the task's process 1 still: the one that was
 * noted at the release, or until then of a container that has the task's own
 * folders. An engine, a lock or a number that is used again may name any
 * process. False: it was not signalled.
 */
bool task_signal(const struct task *task, pid_t pid, int number);

/* Why the task fails before its command begins. */
void step_outcome(struct task *task, enum failure failure,
		  const struct error *err);

/* The same, and fail it: EVENT_FAILED. */
void step_fail(struct task *task, enum failure failure,
	       const struct error *err);

/* Run the present step again a little later. */
void step_retry(struct task *task);

/* Cancel what the present step waits for. */
void step_leave(struct task *task);

/* In task_evidence.c. Before a task that hangs is stopped, make its ranks print
 * their stacks. True: they do; step_stop() runs again after it.
 */
bool task_print_stacks(struct task *task);

/* Cancel the rounds of evidence. */
void task_evidence_drop(struct task *task);

/* In task_ending.c. The container has ended (NULL: it does not exist any more):
 * fill outcome from the record and the engine's answer, and store for a later
 * agent whether the record is valid.
 */
void step_conclude(struct task *task, const cJSON *container);

/* Did an earlier agent conclude the task? Then outcome is filled again. */
bool step_concluded(struct task *task);

/* The exit record has appeared; set forged if it is not regatta-init's. The
 * container is inspected soon, because an engine may report the end much later.
 * If the engine is silent for ENGINE_SILENT_MS and regatta-init does not live
 * any more, the record alone counts, so that an engine that hangs delays no
 * end.
 */
void step_record_seen(struct task *task);

/* Inspect the container in a while, instead of waiting, if the record was seen.
 */
void step_inspect_soon(struct task *task);
