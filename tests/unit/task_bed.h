/* task_bed.h - an agent with one task, and the scripted engine that it asks.
 *
 * The engine has at most one container. A test sets what the engine does next
 * in the struct, and reads there what it was asked.
 */
#pragma once

#include "agent/images/registry_access.h"
#include "agent/task/task.h"
#include "protocol/base/loop.h"
#include "tests/unit/fake_engine.h"

/* What the engine is asked, by a letter: what one sees in world.asked. */
enum {
	INSPECT = 'i',
	CREATE = 'c',
	START = 's',
	WAIT = 'w',
	STOP = 'p',
	REMOVE = 'r',
	LOOK = 'l'
};

struct world {
	struct node_policy *node_policy;
	sd_event *loop;
	char folder[64];
	struct fake_engine *fake;
	struct engine *engine;
	struct registries registries;
	struct images *images;
	struct spool *spool;
	struct log_sender *sender;
	struct task_services services;
	struct inventory *inventory;
	struct engine_features features;
	struct device_binding_source binding;
	struct task *task;
	char cluster[16];
	/* the engine */
	const char *status; /* of the container; NULL: none */
	int exit_code;      /* of its end */
	int lock;           /* of its regatta-init, which runs; 0: none does */
	char *label;        /* its regatta.spec */
	char hold;          /* leave this question unanswered ... */
	struct fake_exchange *held;    /* ... which is here then */
	struct fake_exchange *waiting; /* for the container's end */
	char lose; /* do it, and close without an answer, once */
	int code;  /* answer to create and start; 0: success */
	int lacks; /* times that the image is gone when a container is made */
	char asked[64];
	/* the agent */
	char states[128];
	bool gone;
};

extern const struct task_id world_task;

struct world *world_new(void);
void world_free(struct world *world);

/* The spec of the task, which lives as long as the program. */
struct task_spec world_spec(void);

void world_begin(struct world *world);
void world_begin_with(struct world *world, struct mount_spec *mount);
void world_start(struct world *world, const char *address, uint32_t port);
/* A new world whose task runs, and whose engine is asked for the end. */
struct world *world_running(void);

/* The task's last state is this one, with its failure class if it has one. */
bool world_state_is(const struct world *world, const char *state);

/* Do what the engine was asked, and answer. */
void world_carry_out(struct world *world, struct fake_exchange *exchange,
		     char what);
/* Write the exit record of a code; with other, through a second file, as a
 * command would that forges it.
 */
void world_record(const struct world *world, int code, bool other);
/* regatta-init begins in the container, or is gone; the engine's start and stop
 * do that, too.
 */
void world_init_begins(struct world *world);
void world_init_ends(struct world *world);
/* The engine sees the container end; world_exits() writes the record, too. */
void world_ends(struct world *world, int code);
void world_exits(struct world *world, int code);
/* Neither a container nor a spool. */
bool world_nothing_left(const struct world *world);

sd_event_source *world_time_limit(struct world *world, bool *expired);
/* Run the loop until this is so; for at most ten seconds. */
#define UNTIL(world, condition)                                                \
	({                                                                     \
		bool expired_, met_;                                           \
		sd_event_source *limit_ = world_time_limit(world, &expired_);  \
		while (!(met_ = (condition)) && !expired_)                     \
			sd_event_run((world)->loop, UINT64_MAX);               \
		loop_source_free(&limit_);                                     \
		met_;                                                          \
	})
