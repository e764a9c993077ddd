/* act.h - what the kinds of acts share: for the files of this room alone.
 *
 * A kind does its work in steps, from the loop: each one begins a call and
 * returns. An act ends with act_fail() or act_succeed(), and is gone then.
 */
#ifndef AGENT_IMAGES_ACT_H
#define AGENT_IMAGES_ACT_H

#include "agent/images/acts.h"
#include "protocol/blob/image_bundle.h"

#include <sys/queue.h>

#define ACT_CALL_MS 30000
#define ACT_STALL_MS 600000 /* the engine unpacks a layer without a byte */

struct act {
	struct acts *acts;
	const struct acts_config *config;
	const struct act_kind *kind;
	struct message_image_do order;
	const char *phase;
	struct engine_call *call;
	sd_event_source *timer;
	unsigned int retries;
	int64_t told_ms;
	uint64_t done, total; /* bytes */
	TAILQ_ENTRY(act) next;
};

struct act_kind {
	const char *name;
	const char *phase; /* at first */
	size_t size;       /* of its struct, which begins with an act */
	/* Does the policy allow it? It may be another since the last step. */
	int (*allowed)(const struct act *act, struct error *err);
	void (*step)(struct act *act);
	void (*again)(struct act *act); /* before a retry; may be NULL */
	void (*touch)(struct act *act); /* may be NULL */
	void (*clear)(struct act *act); /* may be NULL */
};

extern const struct act_kind act_load, act_save, act_build, act_list,
	act_remove, act_gc;

/* How far it is: now, or if that was not told just now. */
void act_tell(struct act *act);
void act_tell_sometimes(struct act *act);
/* Fill what all states have in common; act_say() sends it. */
struct message_image_state act_state(const struct act *act);
void act_say(struct act *act, const struct message_image_state *state);

void act_fail(struct act *act, const struct error *err);
/* state: as act_state() gave it, with what the kind has to say; or NULL. */
void act_succeed(struct act *act, const struct message_image_state *state);

/* The next step, in delay_ms. */
void act_step_in(struct act *act, uint64_t delay_ms);

/* The engine could not be reached, or broke off. */
bool act_engine_away(const struct error *err);
/* The engine is away: the step is tried again. False: that was often enough. */
bool act_retry(struct act *act, const struct error *err);

#endif
