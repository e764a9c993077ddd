/* plain.c - which registries the engine reaches without TLS.
 */
#include "agent/registry/pull.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static bool inside(const char *network, struct in_addr address)
{
	const char *slash = strchr(network, '/');
	char text[INET_ADDRSTRLEN];
	struct in_addr base;
	long bits = slash ? strtol(slash + 1, NULL, 10) : -1;
	uint32_t mask;

	if (bits < 0 || bits > 32 || (size_t)(slash - network) >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(slash - network), network);
	if (inet_pton(AF_INET, text, &base) != 1)
		return false;
	mask = bits ? htonl(UINT32_MAX << (32 - bits)) : 0;
	return (base.s_addr & mask) == (address.s_addr & mask);
}

/* The engine looks names up; of them only localhost is told to be one. */
static bool address_of(const char *registry, struct in_addr *address)
{
	char host[256];

	snprintf(host, sizeof(host), "%.*s", (int)strcspn(registry, ":"),
		 registry);
	return inet_pton(AF_INET,
			 strcmp(host, "localhost") ? host : "127.0.0.1",
			 address) == 1;
}

bool pull_plain(const cJSON *info, const char *registry)
{
	const cJSON *config =
		cJSON_GetObjectItemCaseSensitive(info, "RegistryConfig");
	const cJSON *index = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(config, "IndexConfigs"),
		registry);
	const cJSON *item;
	struct in_addr address;

	if (cJSON_IsFalse(cJSON_GetObjectItemCaseSensitive(index, "Secure")))
		return true;
	if (!address_of(registry, &address))
		return false;
	cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(
					 config, "InsecureRegistryCIDRs"))
	{
		if (cJSON_IsString(item) && inside(item->valuestring, address))
			return true;
	}
	return false;
}
