/* preflight.c - what can be known to fail before anything is fetched.
 */
#include "agent/tasks/preflight.h"

#include <errno.h>
#include <netinet/in.h>
#include <sodium.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#define PORT_FIRST 20000
#define PORT_COUNT 10000
#define PORT_TRIES 200

int preflight_check(const struct task_spec *spec, const char *folder,
		    struct error *err)
{
	const struct container_spec *container = &spec->container;
	struct statvfs fs;
	struct stat st;

	for (size_t i = 0; i < container->mounts_count; i++)
		if (stat(container->mounts[i].host, &st) < 0)
			return error_errno(err, "mounts[%zu]: %s on this node",
					   i, container->mounts[i].host);
	if (statvfs(folder, &fs) < 0)
		return error_errno(err, "%s", folder);
	if ((uint64_t)fs.f_bavail * fs.f_frsize < PREFLIGHT_DISK_BYTES)
		return error_set(err, ENOSPC,
				 "%s: %llu MiB of disk free, needed are %llu",
				 folder,
				 (unsigned long long)fs.f_bavail *
						 fs.f_frsize >>
					 20,
				 PREFLIGHT_DISK_BYTES >> 20);
	return 0;
}

/* Bind to the port on every address, IPv4 and IPv6. */
static int port_bind(uint32_t port)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6,
					.sin6_port = htons((uint16_t)port) };
	struct sockaddr_in address4 = { .sin_family = AF_INET,
					.sin_port = htons((uint16_t)port) };
	int off = 0;
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
		if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
			return fd;
		close(fd);
		if (errno == EADDRINUSE)
			return -1;
	}
	/* No IPv6 here. */
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 &&
	    bind(fd, (struct sockaddr *)&address4, sizeof(address4)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

int preflight_port(int *fd, uint32_t *port, struct error *err)
{
	for (int i = 0; i < PORT_TRIES; i++) {
		uint32_t try = PORT_FIRST + randombytes_uniform(PORT_COUNT);
		int got = port_bind(try);

		if (got >= 0) {
			*fd = got;
			*port = try;
			return 0;
		}
	}
	return error_set(err, EADDRINUSE,
			 "no free TCP port from %d to %d for the rendezvous",
			 PORT_FIRST, PORT_FIRST + PORT_COUNT - 1);
}
