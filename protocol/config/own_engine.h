/* own_engine.h - the container engine of whoever we are, where nobody named
 * one: the machine's Docker, if we may use it, else a rootless one of ours.
 */
#ifndef PROTOCOL_CONFIG_OWN_ENGINE_H
#define PROTOCOL_CONFIG_OWN_ENGINE_H

#include <stdbool.h>

#define OWN_ENGINE "own"    /* as a setting: own_engine_find() */
#define OWN_ENGINE_SIZE 128 /* unix:// and a socket's longest path */
#define OWN_ENGINE_DOCKER "unix:///var/run/docker.sock"

/* Connect to a socket and hang up: 0, or an errno (ENAMETOOLONG too). */
int own_engine_connect(const char *path);

/* The first that answers: OWN_ENGINE_DOCKER; of other users than root also
 * docker.sock and podman/podman.sock in XDG_RUNTIME_DIR. False: none does.
 * Source: Docker, "Rootless mode"; podman-system-service(1).
 */
bool own_engine_find(char host[OWN_ENGINE_SIZE]);

/* Whether Podman is in PATH and we are not root, so that a service of it can be
 * started: what Podman's root runs is not its user's own.
 */
bool own_engine_podman(void);

#endif
