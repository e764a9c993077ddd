/* engine_version.h - chooses the API version of the requests to an engine.
 */
#ifndef AGENT_DOCKER_ENGINE_VERSION_H
#define AGENT_DOCKER_ENGINE_VERSION_H

#include "agent/docker/http.h"

#include <cjson/cJSON.h>

#define ENGINE_VERSION_SIZE 16

/* From an engine's answer to /version: "1.41". EPROTO: there is none, or it is
 * too old; host is for the message.
 */
int engine_version_choose(const cJSON *answer, const char *host,
			  char version[ENGINE_VERSION_SIZE], struct error *err);

/* What Podman would answer to /version, of it what the agent uses, from its
 * answer to /_ping: to /version it answers after a second, for it runs the
 * package manager. NULL: this is no Podman (or memory ran out); ask /version.
 * Source: Podman 4.3, pkg/api/handlers/compat, Ping.
 */
cJSON *engine_version_podman(const struct http_answer *answer);

#endif
