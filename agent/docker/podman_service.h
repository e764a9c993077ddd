/* podman_service.h - starts a Podman service of the user's own, where none
 * runs.
 *
 * It answers at engine.sock in a folder of ours and ends with us, however we
 * end; containers go on without it. One that ends before is started again.
 * With it ends the process that holds the user's namespaces for Podman, unless
 * it was there before us.
 *
 * Source: podman-system-service(1) of Podman 4.3.
 */
#ifndef AGENT_DOCKER_PODMAN_SERVICE_H
#define AGENT_DOCKER_PODMAN_SERVICE_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/config/own_engine.h"

#include <systemd/sd-event.h>

struct podman_service;

/* Start it: in a moment it answers at *host. SIGCHLD must be blocked. EINVAL:
 * the folder's path is too long for a socket; ENOENT: no Podman, or we are
 * root.
 */
struct podman_service *podman_service_new(sd_event *loop, const char *folder,
					  char host[OWN_ENGINE_SIZE],
					  struct error *err);
void podman_service_free(struct podman_service *service);
OWNED_POINTER(struct podman_service, podman_service_free)

#endif
