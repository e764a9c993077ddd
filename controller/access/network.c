/* network.c - networks as people write them: 10.0.0.0/8, fd00::/8, 192.0.2.7.
 */
#include "controller/access/network.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IPV4_BITS 96 /* before an IPv4 address that is written as IPv6 */

struct network {
	struct in6_addr address;
	unsigned int bits; /* of the address, that are the network */
};

/* *bits: the size of an address of that family. */
static bool read_address(const char *text, struct in6_addr *address,
			 unsigned int *bits)
{
	struct in_addr v4;

	*bits = 128;
	if (inet_pton(AF_INET6, text, address) == 1)
		return true;
	if (inet_pton(AF_INET, text, &v4) != 1)
		return false;
	*bits = 32;
	memset(address, 0, sizeof(*address));
	memset(&address->s6_addr[10], 0xff, 2);
	memcpy(&address->s6_addr[12], &v4, sizeof(v4));
	return true;
}

static bool read_network(const char *text, struct network *network)
{
	const char *slash = strchr(text, '/');
	char address[NETWORK_TEXT_SIZE];
	unsigned int most, bits = 0;
	int end = 0;

	if (strlen(text) >= sizeof(address))
		return false;
	snprintf(address, sizeof(address), "%.*s",
		 slash ? (int)(slash - text) : (int)strlen(text), text);
	if (!read_address(address, &network->address, &most))
		return false;
	if (slash && (slash[1] < '0' || slash[1] > '9' ||
		      sscanf(slash + 1, "%3u%n", &bits, &end) != 1 ||
		      slash[1 + end] || bits > most))
		return false;
	network->bits = (slash ? bits : most) + (most == 32 ? IPV4_BITS : 0);
	return true;
}

int network_check(const char *text, struct error *err)
{
	struct network network;

	if (read_network(text, &network))
		return 0;
	return error_set(err, EINVAL,
			 "'%.60s' is not valid here; expected a network such "
			 "as 10.0.0.0/8 or fd00::/8",
			 text);
}

bool network_has(const char *text, const char *address)
{
	struct network network;
	struct in6_addr other;
	unsigned int bits, whole;
	int mask;

	if (!read_network(text, &network) ||
	    !read_address(address, &other, &bits))
		return false;
	whole = network.bits / 8;
	mask = 0xff00 >> network.bits % 8 & 0xff;
	return !memcmp(&network.address, &other, whole) &&
	       (!mask ||
		!((network.address.s6_addr[whole] ^ other.s6_addr[whole]) &
		  mask));
}
