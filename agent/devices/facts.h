/* facts.h - what this host is, for tables and provenance.
 */
#ifndef AGENT_DEVICES_FACTS_H
#define AGENT_DEVICES_FACTS_H

#include "protocol/error.h"

#include <cjson/cJSON.h>

/* {"hostname", "machine", "arch", "os", "kernel", "cpu", "cpus",
 * "memory_bytes", "governor", "networks": [{"name", "mbit_per_s"}]}; what
 * cannot be read is not there. engine: the answer to engine_version(), or
 * NULL; it adds {"engine", "engine_api"}. The caller deletes it; NULL with
 * ENOMEM.
 */
cJSON *facts_read(const cJSON *engine, struct error *err);

#endif
