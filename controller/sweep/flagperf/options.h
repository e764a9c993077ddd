/* options.h - options of `docker run` to keys of a sweep.
 *
 * FlagPerf's ACCE_CONTAINER_OPT is a string of them. What gives a container its
 * devices (--gpus, --device, --privileged, --group-add, --runtime) is for the
 * vendor's profile to give, which passes each node by itself; it is taken and
 * left out. An option that has no meaning here is an error that names it.
 *
 * Source: docker run, of docker-cli 20.10 to 27.
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_OPTIONS_H
#define CONTROLLER_SWEEP_FLAGPERF_OPTIONS_H

#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

/* /dev/infiniband comes as device_nodes, for jobs that share a node.
 *
 * Add to the object what the options say: mounts, env, ulimits, capabilities,
 * security, shm, ipc, network, user. Words are split as a shell does, with
 * quotes and backslashes. EINVAL says what was found and what is allowed. fn,
 * if there is one, hears of each option (as it is written) and whether the
 * profile gives it instead.
 */
typedef void options_fn(void *arg, const char *option, bool profile);
int docker_options(const char *text, cJSON *cell, options_fn *fn, void *arg,
		   struct error *err);

#endif
