/* own_engine.c - the container engine of whoever we are.
 */
#include "protocol/config/own_engine.h"
#include "protocol/base/owned.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int own_engine_connect(const char *path)
{
	owned_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, strlen(path) + 1);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return take_fd(&fd);
}

static bool answers(char host[OWN_ENGINE_SIZE], const char *folder,
		    const char *name)
{
	int size =
		snprintf(host, OWN_ENGINE_SIZE, "unix://%s/%s", folder, name);
	owned_fd int fd =
		size < OWN_ENGINE_SIZE ? own_engine_connect(host + 7) : -1;

	return fd >= 0;
}

bool own_engine_find(char host[OWN_ENGINE_SIZE])
{
	const char *folder = getenv("XDG_RUNTIME_DIR");

	if (answers(host, "/var/run", "docker.sock"))
		return true;
	return geteuid() != 0 && folder && folder[0] == '/' &&
	       (answers(host, folder, "docker.sock") ||
		answers(host, folder, "podman/podman.sock"));
}

bool own_engine_podman(void)
{
	const char *at = getenv("PATH");
	char path[PATH_MAX];

	if (geteuid() == 0)
		return false;
	while (at && *at) {
		size_t length = strcspn(at, ":");

		if (length && length < sizeof(path) - 8) {
			snprintf(path, sizeof(path), "%.*s/podman", (int)length,
				 at);
			if (access(path, X_OK) == 0)
				return true;
		}
		at += length + (at[length] == ':');
	}
	return false;
}
