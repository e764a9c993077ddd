/* preload.h - what later jobs need is brought while another one runs.
 *
 * The controller tells what it expects to come, all of it each time; what it no
 * longer names is given up. One thing is brought at a time: images as tasks
 * have them brought, so that a job that comes meanwhile joins a pull that is
 * under way, and takes away the bound of its rate; then workspaces, which are
 * small, at whatever rate they come. Nothing is kept on disk but what was
 * brought: a new agent is told anew.
 */
#ifndef AGENT_TASKS_PRELOAD_H
#define AGENT_TASKS_PRELOAD_H

#include "agent/content/fetch.h"
#include "agent/engine/image.h"
#include "agent/policy/guard.h"
#include "protocol/message.h"

/* All borrowed. */
struct preload_room {
	sd_event *loop;
	struct images *images;
	struct contents *contents;
	struct fetches *fetches;
	const struct guard *guard; /* it may refuse */
	/* Tell the controller; one that is lost does no harm. */
	void (*tell)(void *arg, const struct message_preloaded *state);
	void *arg;
};

struct preloads;

struct preloads *preloads_new(const struct preload_room *room,
			      struct error *err);
void preloads_free(struct preloads *preloads); /* gives up all */
OWNED_POINTER(struct preloads, preloads_free)

/* This is what is wanted now; its texts are taken over. What is brought already
 * goes on, for whatever job; how far it is, is told.
 */
void preloads_set(struct preloads *preloads, struct message_preload *wanted);

/* A session begins: tell how far all is. */
void preloads_session(struct preloads *preloads);

/* Keep what was brought from being removed as unused. */
void preloads_touch(const struct preloads *preloads);

#endif
