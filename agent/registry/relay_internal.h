/* relay_internal.h - what relay.c and relay_names.c share.
 */
#ifndef AGENT_REGISTRY_RELAY_INTERNAL_H
#define AGENT_REGISTRY_RELAY_INTERNAL_H

#include "agent/registry/relay.h"

#define RELAY_HOST "127.0.0.1"
#define RELAY_PLACE "regatta-relay"
#define RELAY_OWNER_MAX 32

struct relays {
	sd_event *loop;
	struct engine *engine;
	char owner[RELAY_OWNER_MAX + 1];
	unsigned int open; /* relays */
	/* Taking names away: a turn at a time, while no relay is open. */
	sd_event_source *soon;
	struct engine_call *call;
	struct strings names; /* still to go */
};

/* One more relay is over: in a moment its name is to go. */
void relays_ended(struct relays *relays);

#endif
