/* own_container.h - the container that the agent itself runs in: does its
 * engine see the agent's folders?
 *
 * An engine mounts paths of its own machine. An agent in a container must
 * therefore have its folders at the same path inside and outside.
 */
#pragma once

#include <cjson/cJSON.h>
#include <stdbool.h>

#define OWN_CONTAINER_ID_SIZE 65

/* Find the id in the text of /proc/self/mountinfo: Docker and Podman mount
 * .../containers/ID/hostname and the like from a folder of the container.
 * False: this is no such container.
 */
bool own_container_id(const char *mountinfo, char id[OWN_CONTAINER_ID_SIZE]);

/* inspected: the engine's answer about that container. Is the path, absolute
 * and without links, the same one for the engine?
 */
bool own_container_shares(const cJSON *inspected, const char *path);
