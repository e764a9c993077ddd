/* own_engine.h - finds the container engine of the current user where no engine
 * is configured: the machine's Docker if the user may use it, else the user's
 * own rootless engine.
 */
#pragma once

#include <stdbool.h>

#define OWN_ENGINE "own"    /* as a setting: own_engine_find() */
#define OWN_ENGINE_SIZE 128 /* unix:// and a socket's longest path */
#define OWN_ENGINE_DOCKER "unix:///var/run/docker.sock"

/* Connect to a socket: the file descriptor, or -errno (also -ENAMETOOLONG). */
int own_engine_connect(const char *path);

/* The first engine that answers: OWN_ENGINE_DOCKER, then, unless the user is
 * root, docker.sock and podman/podman.sock in XDG_RUNTIME_DIR. False: none
 * answers. Source: Docker, "Rootless mode"; podman-system-service(1).
 */
bool own_engine_find(char host[OWN_ENGINE_SIZE]);

/* Whether a Podman service can be started for this user: Podman is in PATH, and
 * the user is not root (containers of root's Podman do not belong to the user).
 */
bool own_engine_podman(void);
