/* engine_network.c - whether the host network of an engine is this machine's.
 */
#include "agent/docker/engine_network.h"
#include "protocol/base/owned.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define SCHEME "unix://"

pid_t engine_listener(const char *path)
{
	owned_fd int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	socklen_t size = sizeof(peer);

	if (fd < 0 || strlen(path) >= sizeof(address.sun_path))
		return 0;
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return 0;
	return peer.pid;
}

bool engine_network_separate(const char *host)
{
	struct stat ours, theirs;
	char path[64];
	pid_t pid;

	if (strncmp(host, SCHEME, strlen(SCHEME)) != 0)
		return false;
	pid = engine_listener(host + strlen(SCHEME));
	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)pid);
	return pid > 0 && stat("/proc/self/ns/net", &ours) == 0 &&
	       stat(path, &theirs) == 0 && ours.st_ino != theirs.st_ino;
}

bool engine_is_unseen(const char *host)
{
	return !strncmp(host, SCHEME, strlen(SCHEME)) &&
	       !engine_listener(host + strlen(SCHEME));
}
