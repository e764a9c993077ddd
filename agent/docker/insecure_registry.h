/* insecure_registry.h - which registries the engine reaches without TLS. Pure.
 *
 * Source: Docker Engine API 1.41, "Get system information", RegistryConfig; a
 * registry counts as insecure when it is listed so, or when an address of its
 * name lies in one of InsecureRegistryCIDRs. With Podman, whose networks are
 * none, the list has the prefixes of containers-registries.conf(5).
 */
#ifndef AGENT_DOCKER_INSECURE_REGISTRY_H
#define AGENT_DOCKER_INSECURE_REGISTRY_H

#include "protocol/base/strings.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* May the engine, by its answer to /info, reach this registry without TLS?
 * Pure.
 */
enum insecure_registry {
	INSECURE_NO,
	INSECURE_YES,
	INSECURE_BY_ADDRESS, /* it depends on where its name leads */
};
enum insecure_registry insecure_registry_of(const cJSON *info,
					    const char *registry);

/* Is an address (IPv4 or IPv6) one of those that it reaches so? */
bool insecure_registry_address(const cJSON *info, const char *address);

/* A mirror of the Hub that is reached without TLS, as HOST[:PORT] in
 * host (REFERENCE_HOST_MAX + 1 bytes); false: none.
 */
bool insecure_registry_mirror(const cJSON *info, char *host);

/* Add all that it reaches so: registries, networks as ADDRESS/BITS, and a
 * mirror; but the machine's own network, 127.0.0.0/8 and ::1/128.
 */
int insecure_registry_list(const cJSON *info, struct strings *names,
			   struct error *err);

#endif
