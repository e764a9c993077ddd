/* podman_service.h - runs a Podman API service for the current user.
 *
 * The service listens on engine.sock in the given folder. It ends together with
 * this process, even if that is killed; containers continue. If it ends
 * earlier, it is started again. Podman's process that holds the user's
 * namespaces ends with the service, unless it existed before.
 *
 * Source: podman-system-service(1) of Podman 4.3.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/config/own_engine.h"

#include <systemd/sd-event.h>

struct podman_service;

/* Start the service; soon after it answers at *host. SIGCHLD must be blocked.
 * EINVAL: the folder's path is too long for a socket; ENOENT: Podman is not
 * installed, or the user is root.
 */
struct podman_service *podman_service_new(sd_event *loop, const char *folder,
					  char host[OWN_ENGINE_SIZE],
					  struct error *err);
void podman_service_free(struct podman_service *service);
OWNED_POINTER(struct podman_service, podman_service_free)
