/* options.h - converts options of `docker run` to keys of a sweep.
 *
 * FlagPerf's ACCE_CONTAINER_OPT contains such options. Options for devices
 * (--gpus, --device, --privileged, --group-add, --runtime) are accepted and
 * ignored, because the vendor's profile gives the devices. Other options that
 * cannot be converted are errors.
 *
 * Source: docker run, of docker-cli 20.10 to 27.
 */
#pragma once

#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* Convert the options and add them to the object as mounts, env, ulimits,
 * capabilities, security, shm, ipc, network and user; /dev/infiniband becomes
 * device_nodes, for jobs that share a node.
 *
 * Words are split as in a shell, with quotes and backslashes. EINVAL: the text
 * says what was found and what is allowed. fn (or NULL) is called for each
 * option, as written; profile: it was ignored because the profile replaces it.
 */
typedef void options_fn(void *arg, const char *option, bool profile);
int docker_options(const char *text, cJSON *cell, options_fn *fn, void *arg,
		   struct error *err);

/* Add a mount to the object. */
int docker_mount(cJSON *cell, const char *host, const char *inside,
		 bool read_only, struct error *err);
