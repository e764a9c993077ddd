/* network.c - the networks of the host: Ethernet and InfiniBand, and their
 * speed.
 */
#include "agent/metrics/network.h"
#include "agent/devices/sysfs.h"
#include "protocol/base/strings.h"
#include "protocol/message/json_get.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NETWORKS_MAX 64
#define PORTS_MAX 8 /* of one InfiniBand device */

/* The kinds of networks, the fastest first. */
enum { INFINIBAND, ROCE, ETHERNET, KINDS };

static const char *const kind_names[KINDS] = {
	[INFINIBAND] = "InfiniBand",
	[ROCE] = "RoCE",
	[ETHERNET] = "Ethernet",
};

/* How many links of a kind are up, at the largest speed of these. */
struct links {
	double gbit_per_s;
	int count;
};

struct looking {
	const char *sys;
	const char *device; /* of the ports that are read */
	cJSON *networks, *ports;
	struct links links[KINDS];
	double mtu;         /* the least; 0: none yet */
	char firmware[128]; /* different ones */
};

static void count_link(struct links *links, double gbit_per_s)
{
	if (gbit_per_s > links->gbit_per_s) {
		links->gbit_per_s = gbit_per_s;
		links->count = 0;
	}
	if (gbit_per_s >= links->gbit_per_s)
		links->count++;
}

static bool add_network(void *arg, const char *name)
{
	struct looking *looking = arg;
	owned(buffer_clear) struct buffer state = BUFFER_INIT(64);
	cJSON *network = cJSON_CreateObject();
	bool physical = sysfs_there(looking->sys, "class/net/%s/device", name);
	double speed = 0, mtu;

	if (!network || !strcmp(name, "lo")) {
		cJSON_Delete(network);
		return true;
	}
	sysfs_add(network, "name", name);
	/* A link that is down, or virtual, says -1 or nothing. */
	sysfs_number(&speed, looking->sys, "class/net/%s/speed", name);
	if (speed > 0)
		cJSON_AddNumberToObject(network, "mbit_per_s", speed);
	if (sysfs_text(&state, looking->sys, "class/net/%s/operstate", name))
		sysfs_add(network, "state", state.data);
	cJSON_AddBoolToObject(network, "physical", physical);
	cJSON_AddItemToArray(looking->networks, network);
	if (physical && !strcmp(state.data, "up") &&
	    sysfs_number(&mtu, looking->sys, "class/net/%s/mtu", name) &&
	    mtu > 0 && (!(looking->mtu > 0) || mtu < looking->mtu))
		looking->mtu = mtu;
	if (physical && !strcmp(state.data, "up"))
		count_link(&looking->links[ETHERNET],
			   speed > 0 ? speed / 1000 : 0);
	return true;
}

/* "4: ACTIVE" without its number */
static const char *port_state(const char *text)
{
	const char *word = strchr(text, ':');

	return word ? word + 1 + strspn(word + 1, " ") : text;
}

static bool add_port(void *arg, const char *port)
{
	struct looking *looking = arg;
	owned(buffer_clear) struct buffer text = BUFFER_INIT(256);
	cJSON *item = cJSON_CreateObject();
	const char *device = looking->device;
	const char *type;
	size_t kind = KINDS;
	double rate = 0;

	if (!item)
		return false;
	sysfs_add(item, "device", device);
	cJSON_AddNumberToObject(item, "port", strtod(port, NULL));
	if (sysfs_text(&text, looking->sys,
		       "class/infiniband/%s/ports/%s/link_layer", device,
		       port)) {
		type = strcmp(text.data, "Ethernet") ? text.data
						     : kind_names[ROCE];
		sysfs_add(item, "type", type);
		for (kind = 0; kind < KINDS; kind++)
			if (!strcmp(kind_names[kind], type))
				break;
	}
	if (sysfs_text(&text, looking->sys, "class/infiniband/%s/ports/%s/rate",
		       device, port)) {
		sysfs_add(item, "rate", text.data);
		rate = strtod(text.data, NULL);
		if (rate > 0)
			cJSON_AddNumberToObject(item, "gbit_per_s", rate);
	}
	if (sysfs_text(&text, looking->sys,
		       "class/infiniband/%s/ports/%s/state", device, port))
		sysfs_add(item, "state", port_state(text.data));
	if (kind < KINDS &&
	    !strcmp(json_get_text_or_empty(item, "state"), "ACTIVE"))
		count_link(&looking->links[kind], rate > 0 ? rate : 0);
	cJSON_AddItemToArray(looking->ports, item);
	return true;
}

static bool network_add_device(void *arg, const char *name)
{
	struct looking *looking = arg;
	owned(buffer_clear) struct buffer firmware = BUFFER_INIT(64);
	char folder[512];

	looking->device = name;
	if (sysfs_text(&firmware, looking->sys, "class/infiniband/%s/fw_ver",
		       name) &&
	    !strstr(looking->firmware, firmware.data))
		text_append(looking->firmware, sizeof(looking->firmware),
			    "%s%s", *looking->firmware ? ", " : "",
			    firmware.data);
	if (snprintf(folder, sizeof(folder), "class/infiniband/%s/ports",
		     name) < (int)sizeof(folder))
		sysfs_each(looking->sys, folder, PORTS_MAX, add_port, looking);
	return true;
}

static void add_summary(cJSON *facts, const struct links links[KINDS])
{
	char text[100] = "";
	size_t kind = 0;

	while (kind < KINDS && !links[kind].count)
		kind++;
	if (kind == KINDS)
		return;
	text_append(text, sizeof(text), "%s", kind_names[kind]);
	if (links[kind].gbit_per_s > 0 && links[kind].count == 1)
		text_append(text, sizeof(text), ", %g Gb/s",
			    links[kind].gbit_per_s);
	else if (links[kind].gbit_per_s > 0)
		text_append(text, sizeof(text), ", %dx%g Gb/s",
			    links[kind].count, links[kind].gbit_per_s);
	cJSON_AddStringToObject(facts, "network", text);
}

void network_facts(cJSON *facts, const char *sys)
{
	struct looking looking = {
		.sys = sys,
		.networks = cJSON_AddArrayToObject(facts, "networks"),
		.ports = cJSON_CreateArray(),
	};

	sysfs_each(sys, "class/net", NETWORKS_MAX, add_network, &looking);
	sysfs_each(sys, "class/infiniband", NETWORKS_MAX, network_add_device,
		   &looking);
	add_summary(facts, looking.links);
	if (looking.mtu > 0)
		cJSON_AddNumberToObject(facts, "mtu", looking.mtu);
	sysfs_add(facts, "infiniband_firmware", looking.firmware);
	if (cJSON_GetArraySize(looking.ports))
		cJSON_AddItemToObject(facts, "infiniband", looking.ports);
	else
		cJSON_Delete(looking.ports);
}

/* The address of a socket as text; false: of another family. */
static bool address_text(const struct sockaddr *address, char *text,
			 socklen_t size)
{
	const void *bytes = NULL;

	if (address && address->sa_family == AF_INET)
		bytes = &((const struct sockaddr_in *)address)->sin_addr;
	else if (address && address->sa_family == AF_INET6)
		bytes = &((const struct sockaddr_in6 *)address)->sin6_addr;
	return bytes && inet_ntop(address->sa_family, bytes, text, size);
}

const char *network_interface(const char *address, char name[IF_NAMESIZE])
{
	struct ifaddrs *list = NULL;
	char text[INET6_ADDRSTRLEN];
	bool found = false;

	if (getifaddrs(&list) < 0)
		return NULL;
	for (const struct ifaddrs *next = list; next && !found;
	     next = next->ifa_next) {
		found = address_text(next->ifa_addr, text, sizeof(text)) &&
			!strcmp(text, address);
		if (found)
			snprintf(name, IF_NAMESIZE, "%s", next->ifa_name);
	}
	freeifaddrs(list);
	return found ? name : NULL;
}
