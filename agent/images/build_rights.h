/* build_rights.h - what the programs of a build may do, by the node's policy.
 * Pure.
 *
 * A NAME_install.sh runs in a container with the limits of the policy, as root,
 * with the capabilities that the policy lists, without new privileges and with
 * the engine's seccomp profile. For RUN lines of a Dockerfile an engine takes
 * limits of memory and processors and a network, but neither capabilities nor
 * a limit of processes: see regatta-policy(5), build.
 *
 * Source: Docker Engine API 1.41, "Build an image".
 */
#pragma once

#include "agent/docker/engine.h"
#include "protocol/config/policy.h"

/* The limits of RUN lines. NULL, or a policy that allows everything: none. */
struct engine_build_limits build_rights_limits(const struct policy *policy);

/* Complete the request for a container that installs. False: ENOMEM. */
bool build_rights_apply(const struct policy *policy, cJSON *request);
