/* engine_version.h - chooses the API version of the requests to an engine.
 */
#pragma once

#include "agent/docker/http.h"

#include <cjson/cJSON.h>

#define ENGINE_VERSION_SIZE 16

/* Choose the version from an engine's answer to /version, such as "1.41".
 * EPROTO: the answer has no version, or it is too old. host is for the message.
 */
int engine_version_choose(const cJSON *answer, const char *host,
			  char version[ENGINE_VERSION_SIZE], struct error *err);

/* From Podman's answer to /_ping, make the part of its answer to /version that
 * the agent uses. Podman needs a second for /version, because it runs the
 * package manager. NULL: the engine is not Podman, or memory ran out; ask
 * /version. Source: Podman 4.3, pkg/api/handlers/compat, Ping.
 */
cJSON *engine_version_podman(const struct http_answer *answer);
