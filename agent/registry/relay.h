/* relay.h - a registry on loopback that gives one repository at a bounded rate.
 *
 * The Engine API has no rate for a pull. So the engine is sent to this machine:
 * what it asks for here, by digest, is asked of the true registry as the user
 * who wants the image, and passed on as it comes, all transfers together at no
 * more than the rate. The engine verifies digests itself, so nothing new is
 * trusted; it keeps what it has, resumes and unpacks as ever. 127.0.0.0/8 is
 * what every Docker engine reaches without TLS. The name has 128 random bits,
 * so that no other user of this machine gets what our credentials open.
 *
 * The engine then knows the image by that name, too: it is taken away again
 * when the relay is over, however it ended, also after a crash.
 */
#ifndef AGENT_REGISTRY_RELAY_H
#define AGENT_REGISTRY_RELAY_H

#include "agent/engine/engine.h"
#include "agent/registry/repository.h"

/* All of this agent, and the names that they left with its engine. */
struct relays;

/* owner: tells this agent from others of the engine; lower-case hex digits. The
 * engine is borrowed, and asked at once for names to take away.
 */
struct relays *relays_new(sd_event *loop, struct engine *engine,
			  const char *owner, struct error *err);
void relays_free(struct relays *relays); /* NULL is fine */
OWNED_POINTER(struct relays, relays_free)

struct relay;

/* repository: borrowed. rate: bytes a second; 0: as fast as it comes. */
struct relay *relay_new(struct relays *relays, struct repository *repository,
			uint64_t rate, struct error *err);
void relay_free(struct relay *relay); /* NULL is fine */
OWNED_POINTER(struct relay, relay_free)

/* What is to be pulled instead of the repository's name: "127.0.0.1:PORT/..."
 */
const char *relay_name(const struct relay *relay);

void relay_rate(struct relay *relay, uint64_t rate);

/* A pull through it begins: what went wrong before counts no more. */
void relay_forget(struct relay *relay);

/* Take names of relays out of what an engine says: who reads them while the
 * relay is there gets what it gives. Pure.
 */
void relay_hide(struct error *err);

/* Why a pull through it failed, if it knows better than the engine, whose word
 * is in *err: the registry's last failure, that it sends nothing, or that the
 * engine never came. false: it does not, and *err stays.
 */
bool relay_error(const struct relay *relay, struct error *err);

#endif
