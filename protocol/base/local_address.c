/* local_address.c - where another machine is likely to reach this one.
 */
#include "protocol/base/local_address.h"
#include "protocol/base/owned.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int local_address(const char *endpoint, char address[LOCAL_ADDRESS_SIZE],
		  struct error *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_DGRAM };
	const char *host = endpoint + strlen("tcp://");
	const char *colon = strrchr(host, ':');
	struct sockaddr_storage own;
	socklen_t size = sizeof(own);
	struct addrinfo *found = NULL;
	char name[256];
	owned_fd int fd = -1;
	int rc;

	snprintf(address, LOCAL_ADDRESS_SIZE, "127.0.0.1");
	if (strncmp(endpoint, "tcp://", 6) != 0 || !colon)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)(colon - host), host);
	if (name[0] == '[') { /* IPv6 */
		memmove(name, name + 1, strlen(name));
		name[strcspn(name, "]")] = 0;
	}
	rc = getaddrinfo(name, colon + 1, &hints, &found);
	if (rc)
		return error_set(err, EHOSTUNREACH, "%.100s: %s", name,
				 gai_strerror(rc));
	fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	/* Nothing is sent; this only chooses the route. */
	rc = fd < 0 ? -1 : connect(fd, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (rc < 0 || getsockname(fd, (struct sockaddr *)&own, &size) < 0)
		return error_errno(err, "route to %.100s", name);
	rc = getnameinfo((struct sockaddr *)&own, size, address,
			 LOCAL_ADDRESS_SIZE, NULL, 0, NI_NUMERICHOST);
	return rc ? error_set(err, EHOSTUNREACH, "%s", gai_strerror(rc)) : 0;
}

bool local_address_only(const char *url)
{
	static const char *const hosts[] = { "127.", "localhost", "[::1]" };
	const char *host = strstr(url, "://");

	for (size_t i = 0; host && i < sizeof(hosts) / sizeof(hosts[0]); i++)
		if (!strncmp(host + 3, hosts[i], strlen(hosts[i])))
			return true;
	return false;
}
