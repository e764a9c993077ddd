/* network.c - the networks of the host: Ethernet and InfiniBand, and their
 * speed.
 */
#include "agent/metrics/network.h"
#include "agent/devices/sysfs.h"
#include "protocol/message/json_get.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NETWORKS_MAX 64
#define PORTS_MAX 8 /* of one InfiniBand device */

struct looking {
	const char *sys;
	const char *device; /* whose ports are looked at */
	cJSON *list;
};

static bool add_network(void *arg, const char *name)
{
	struct looking *looking = arg;
	owned(buffer_clear) struct buffer text;
	cJSON *network = cJSON_CreateObject();
	double speed;

	buffer_init(&text, 64);
	if (!network || !strcmp(name, "lo")) {
		cJSON_Delete(network);
		return true;
	}
	sysfs_add(network, "name", name);
	/* A link that is down, or virtual, says -1 or nothing. */
	if (sysfs_number(&speed, looking->sys, "class/net/%s/speed", name) &&
	    speed > 0)
		cJSON_AddNumberToObject(network, "mbit_per_s", speed);
	if (sysfs_text(&text, looking->sys, "class/net/%s/operstate", name))
		sysfs_add(network, "state", text.data);
	cJSON_AddBoolToObject(network, "physical",
			      sysfs_there(looking->sys, "class/net/%s/device",
					  name));
	cJSON_AddItemToArray(looking->list, network);
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
	owned(buffer_clear) struct buffer text;
	cJSON *item = cJSON_CreateObject();
	const char *device = looking->device;
	double rate;

	buffer_init(&text, 256);
	if (!item)
		return false;
	sysfs_add(item, "device", device);
	cJSON_AddNumberToObject(item, "port", strtod(port, NULL));
	if (sysfs_text(&text, looking->sys,
		       "class/infiniband/%s/ports/%s/link_layer", device, port))
		sysfs_add(item, "type",
			  !strcmp(text.data, "Ethernet") ? "RoCE" : text.data);
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
	cJSON_AddItemToArray(looking->list, item);
	return true;
}

static bool add_device(void *arg, const char *name)
{
	struct looking *looking = arg;
	char folder[512];

	looking->device = name;
	if (snprintf(folder, sizeof(folder), "class/infiniband/%s/ports",
		     name) < (int)sizeof(folder))
		sysfs_each(looking->sys, folder, PORTS_MAX, add_port, looking);
	return true;
}

/* How many links of the kind are up, at the largest speed (Gb/s) of these. */
struct links {
	const char *type;
	double gbit_per_s;
	int count;
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

static double figure(const cJSON *item, const char *name)
{
	const cJSON *number = json_get(item, name);

	return cJSON_IsNumber(number) ? number->valuedouble : 0;
}

static void count_ports(struct links *links, const cJSON *ports)
{
	const cJSON *port;

	cJSON_ArrayForEach(port, ports)
	{
		if (!strcmp(json_get_text_or_empty(port, "state"), "ACTIVE") &&
		    !strcmp(json_get_text_or_empty(port, "type"), links->type))
			count_link(links, figure(port, "gbit_per_s"));
	}
}

static void count_networks(struct links *links, const cJSON *networks)
{
	const cJSON *network;

	cJSON_ArrayForEach(network, networks)
	{
		if (cJSON_IsTrue(json_get(network, "physical")) &&
		    !strcmp(json_get_text_or_empty(network, "state"), "up"))
			count_link(links, figure(network, "mbit_per_s") / 1000);
	}
}

static void add_summary(cJSON *facts, const cJSON *networks, const cJSON *ports)
{
	struct links kinds[] = { { .type = "InfiniBand" },
				 { .type = "RoCE" },
				 { .type = "Ethernet" } };
	char text[100];

	count_ports(&kinds[0], ports);
	count_ports(&kinds[1], ports);
	count_networks(&kinds[2], networks);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (!kinds[i].count)
			continue;
		if (!kinds[i].gbit_per_s)
			snprintf(text, sizeof(text), "%s", kinds[i].type);
		else if (kinds[i].count == 1)
			snprintf(text, sizeof(text), "%s, %g Gb/s",
				 kinds[i].type, kinds[i].gbit_per_s);
		else
			snprintf(text, sizeof(text), "%s, %dx%g Gb/s",
				 kinds[i].type, kinds[i].count,
				 kinds[i].gbit_per_s);
		cJSON_AddStringToObject(facts, "network", text);
		return;
	}
}

void network_facts(cJSON *facts, const char *sys)
{
	cJSON *networks = cJSON_AddArrayToObject(facts, "networks");
	cJSON *ports = cJSON_CreateArray();
	struct looking nets = { .sys = sys, .list = networks };
	struct looking fabrics = { .sys = sys, .list = ports };

	sysfs_each(sys, "class/net", NETWORKS_MAX, add_network, &nets);
	sysfs_each(sys, "class/infiniband", NETWORKS_MAX, add_device, &fabrics);
	add_summary(facts, networks, ports);
	if (cJSON_GetArraySize(ports))
		cJSON_AddItemToObject(facts, "infiniband", ports);
	else
		cJSON_Delete(ports);
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
