/* insecure_registry.h - which registries the engine reaches without TLS. Pure.
 *
 * A registry is insecure when the engine lists it as such, or when an address
 * of its name is in one of InsecureRegistryCIDRs. Podman has no such networks;
 * its list has the prefixes of containers-registries.conf(5).
 *
 * Source: Docker Engine API 1.41, "Get system information", RegistryConfig.
 */
#pragma once

#include "protocol/base/strings.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* May the engine, by its answer to /info, reach this registry without TLS?
 * Pure.
 */
enum insecure_registry {
	INSECURE_NO,
	INSECURE_YES,
	INSECURE_BY_ADDRESS, /* it depends on the addresses of its name */
};
enum insecure_registry insecure_registry_of(const cJSON *info,
					    const char *registry);

/* Does the engine reach this address (IPv4 or IPv6) without TLS? */
bool insecure_registry_address(const cJSON *info, const char *address);

/* A mirror of the Hub that is reached without TLS, as HOST[:PORT] in
 * host (REFERENCE_HOST_MAX + 1 bytes); false: none.
 */
bool insecure_registry_mirror(const cJSON *info, char *host);

/* Add everything that it reaches without TLS: registries, networks as
 * ADDRESS/BITS, and a mirror; except 127.0.0.0/8 and ::1/128.
 */
int insecure_registry_list(const cJSON *info, struct strings *names,
			   struct error *err);
