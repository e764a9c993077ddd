/* insecure_registry.c - which registries the engine reaches without TLS.
 */
#include "agent/images/insecure_registry.h"

#include "protocol/message/json_get.h"
#include "protocol/registry/reference.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

/* An address of either family. */
struct ip_address {
	unsigned char bytes[16];
	unsigned int size;
};

static bool ip_address_of(const char *text, struct ip_address *address)
{
	struct in_addr four;
	struct in6_addr six;

	if (inet_pton(AF_INET, text, &four) == 1) {
		address->size = 4;
		memcpy(address->bytes, &four, 4);
		return true;
	}
	if (inet_pton(AF_INET6, text, &six) == 1) {
		address->size = 16;
		memcpy(address->bytes, &six, 16);
		return true;
	}
	return false;
}

static bool inside(const char *network, const struct ip_address *address)
{
	const char *slash = strchr(network, '/');
	char text[INET6_ADDRSTRLEN];
	struct ip_address base;
	long bits = slash ? strtol(slash + 1, NULL, 10) : -1;

	if (bits < 0 || (size_t)(slash - network) >= sizeof(text))
		return false;
	snprintf(text, sizeof(text), "%.*s", (int)(slash - network), network);
	if (!ip_address_of(text, &base) || base.size != address->size ||
	    bits > 8 * (long)base.size)
		return false;
	for (unsigned int i = 0; i < base.size && bits > 0; i++, bits -= 8) {
		unsigned char mask =
			bits >= 8 ? 0xff : (unsigned char)(0xff << (8 - bits));

		if ((base.bytes[i] ^ address->bytes[i]) & mask)
			return false;
	}
	return true;
}

static const cJSON *config_of(const cJSON *info, const char *name)
{
	return json_get(json_get(info, "RegistryConfig"), name);
}

bool insecure_registry_address(const cJSON *info, const char *address)
{
	struct ip_address parsed;
	const cJSON *item;

	if (!ip_address_of(address, &parsed))
		return false;
	cJSON_ArrayForEach(item, config_of(info, "InsecureRegistryCIDRs"))
		if (cJSON_IsString(item) && inside(item->valuestring, &parsed))
			return true;
	return false;
}

/* A network that is not the loopback network. */
static bool is_network(const cJSON *item)
{
	return cJSON_IsString(item) &&
	       strncmp(item->valuestring, "127.", 4) != 0 &&
	       strcmp(item->valuestring, "::1/128") != 0;
}

static bool has_networks(const cJSON *info)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, config_of(info, "InsecureRegistryCIDRs"))
		if (is_network(item))
			return true;
	return false;
}

/* Is the prefix this host, or "*.domain" above it? Ports do not matter. */
static bool covers(const char *prefix, const char *host)
{
	size_t size = strlen(prefix), length = strlen(host);

	if (strncmp(prefix, "*.", 2) != 0)
		return !strcmp(prefix, host);
	return length > size - 1 &&
	       !strcmp(host + length - (size - 1), prefix + 1);
}

/* Docker lists registries with their ports. Podman lists prefixes of its
 * registries.conf, of which the longest match counts.
 */
static const cJSON *config_for(const cJSON *info, const char *registry,
			       const char *host)
{
	const cJSON *all = config_of(info, "IndexConfigs");
	const cJSON *found = json_get(all, registry);
	size_t longest = 0;
	const cJSON *item;

	if (found || !json_get(info, "BuildahVersion"))
		return found;
	cJSON_ArrayForEach(item, all) {
		size_t size = strlen(item->string);

		if (size > longest && covers(item->string, host)) {
			found = item;
			longest = size;
		}
	}
	return found;
}

enum insecure_registry insecure_registry_of(const cJSON *info,
					    const char *registry)
{
	const cJSON *secure;
	char host[REFERENCE_HOST_MAX + 1];
	struct ip_address address;

	snprintf(host, sizeof(host), "%.*s", (int)strcspn(registry, ":"),
		 registry);
	secure = json_get(config_for(info, registry, host), "Secure");
	if (cJSON_IsBool(secure))
		return cJSON_IsFalse(secure) ? INSECURE_YES : INSECURE_NO;
	if (!strcmp(host, "localhost"))
		snprintf(host, sizeof(host), "127.0.0.1");
	if (ip_address_of(host, &address))
		return insecure_registry_address(info, host) ? INSECURE_YES
							     : INSECURE_NO;
	return has_networks(info) ? INSECURE_BY_ADDRESS : INSECURE_NO;
}

bool insecure_registry_mirror(const cJSON *info, char *host)
{
	static const char scheme[] = "http://";
	const cJSON *item;

	cJSON_ArrayForEach(item, config_of(info, "Mirrors")) {
		const char *url = cJSON_GetStringValue(item);

		if (!url || strncasecmp(url, scheme, sizeof(scheme) - 1) != 0)
			continue;
		url += sizeof(scheme) - 1;
		snprintf(host, REFERENCE_HOST_MAX + 1, "%.*s",
			 (int)strcspn(url, "/"), url);
		return true;
	}
	return false;
}

int insecure_registry_list(const cJSON *info, struct strings *names,
			   struct error *err)
{
	char mirror[REFERENCE_HOST_MAX + 1];
	const cJSON *item;

	cJSON_ArrayForEach(item, config_of(info, "IndexConfigs"))
		if (cJSON_IsFalse(json_get(item, "Secure")) &&
		    strings_add(names, item->string, err) < 0)
			return -1;
	cJSON_ArrayForEach(item, config_of(info, "InsecureRegistryCIDRs"))
		if (is_network(item) &&
		    strings_add(names, item->valuestring, err) < 0)
			return -1;
	return insecure_registry_mirror(info, mirror)
		       ? strings_add(names, mirror, err)
		       : 0;
}
