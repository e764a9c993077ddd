/* approach.h - how registries may be approached: as whom, and with TLS or not.
 *
 * Only the engine speaks to registries; here it is found out what it must be
 * told, and whether it may. Who we are there: what came with the job goes
 * before this node's own file. Without TLS, or with whatever certificate, the
 * engine reaches those registries that its own settings say so of; the node's
 * policy has the last word about them (insecure_registries).
 *
 * Source: Docker Engine API 1.41, "Get system information", RegistryConfig; a
 * registry counts as insecure when it is listed so, or when an address of its
 * name lies in one of InsecureRegistryCIDRs. With Podman, whose networks are
 * none, the list has the prefixes of containers-registries.conf(5).
 */
#ifndef AGENT_REGISTRY_APPROACH_H
#define AGENT_REGISTRY_APPROACH_H

#include "agent/docker/engine.h"
#include "agent/registry/registries.h"
#include "protocol/registry/credential.h"
#include "protocol/registry/login.h"

struct approach_way {
	const char *header; /* X-Registry-Auth: or, of many, X-Registry-Config:;
			       NULL: we are nobody there */
	bool gone;        /* what came with the job for it is no longer there */
	const char *root; /* the engine's folder; NULL: not told */
};

/* Runs from the loop, once; exactly one of err and way is NULL, way and what is
 * in it live as long as the call. EPERM: the policy forbids it.
 */
typedef void approach_done_fn(void *arg, const struct error *err,
			      const struct approach_way *way);

struct approach;

/* host: HOST[:PORT], "docker.io" for the Hub. NULL: any, as the engine alone
 * knows where the base images of a build come from; then all credentials that
 * there are go into the header, and the policy must allow all that the engine
 * reaches without TLS. logins are copied.
 */
struct approach *approach_begin(sd_event *loop, struct engine *engine,
				const struct registries *registries,
				const char *host,
				const struct registry_login *logins,
				size_t count, approach_done_fn *done, void *arg,
				struct error *err);
/* done() does not run. NULL is fine. */
void approach_cancel(struct approach *approach);
OWNED_POINTER(struct approach, approach_cancel)

/* Can all of them be opened? EKEYREJECTED: this node had another key then. One
 * that is gone is fine.
 */
int approach_check(const struct registries *registries,
		   const struct registry_login *logins, size_t count,
		   struct error *err);

#define APPROACH_WHO_BYTES 16
#define APPROACH_KEY_BYTES 32

/* What the logins for a host (NULL: for all) amount to: the same for the same
 * credentials, whoever sealed them how often; all zero where there are none.
 * Nothing of them can be told from it. key: random, of this process.
 */
void approach_who(const struct registries *registries, const char *host,
		  const struct registry_login *logins, size_t count,
		  const unsigned char key[APPROACH_KEY_BYTES],
		  unsigned char who[APPROACH_WHO_BYTES]);

/* May the engine, by its answer to /info, reach this registry without TLS?
 * Pure.
 */
enum plain {
	PLAIN_NO,
	PLAIN_YES,
	PLAIN_BY_ADDRESS, /* it depends on where its name leads */
};
enum plain plain_of(const cJSON *info, const char *registry);

/* Is an address (IPv4 or IPv6) one of those that it reaches so? */
bool plain_address(const cJSON *info, const char *address);

/* A mirror of the Hub that is reached without TLS, as HOST[:PORT] in
 * host (REFERENCE_HOST_MAX + 1 bytes); false: none.
 */
bool plain_mirror(const cJSON *info, char *host);

/* Add all that it reaches so: registries, networks as ADDRESS/BITS, and a
 * mirror; but the machine's own network, 127.0.0.0/8 and ::1/128.
 */
int plain_list(const cJSON *info, struct strings *names, struct error *err);

#endif
