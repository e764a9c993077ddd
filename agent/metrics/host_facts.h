/* host_facts.h - facts of this host, for tables and provenance.
 *
 * host_facts_read() runs at the start of a session, and every half minute, when
 * the controller is told what changed. host_facts_now() reads the facts that
 * change, before each job.
 */
#pragma once

#include "agent/metrics/versions.h"
#include "protocol/base/error.h"
#include "protocol/message/device_info.h"

#include <cjson/cJSON.h>
#include <stdint.h>

/* Borrowed for the call. */
struct host_facts_source {
	const char *sys;     /* the folder in place of /sys */
	const char *proc;    /* of /proc */
	const cJSON *engine; /* the answer to engine_version(), or NULL */
};

/* An object; what cannot be read is not there. The caller deletes it; NULL
 * with ENOMEM.
 *
 *	"hostname", "arch", "os", "kernel"
 *	"machine": "NVIDIA DGX A800", "machine_vendor": "NVIDIA"
 *	"virtual": "QEMU"		a virtual machine, of what kind
 *	"cpu": "AMD EPYC 7742 64-Core Processor", "cpus": 256,
 *	"cpu_sockets": 2, "cpu_cores": 128
 *	"memory_bytes", "memory_available_bytes"
 *	"bios": "1.51.3"
 *	"numa_nodes": 8
 *	"memlock": "unlimited" or bytes, of the agent; "shm_bytes"  of /dev/shm
 *	"governor": "performance"	or "performance 250, powersave 6"
 *	"hugepages": {"size_kib": 2048, "total": 0, "free": 0},
 *	"transparent_hugepages": "madvise"
 *	"clock": {"synchronised": true, "offset_us": -12, "max_error_us": 900,
 *	  "source": "tsc"}		adjtimex(2): to its time server
 *	"networks", "infiniband", "network"	network.h
 *	"engine": "20.10.24" or "Podman 4.3.1", "engine_api": "1.41"
 *	"engine_isolation": "rootless" or "userns-remap"  added by the agent
 *	"engine_unlimited": what it cannot limit, as "memory pids"  the same
 *	"engine_separate_network": true, its host network is its own the same
 *	"release_check": "none" or "partial", what of containers cannot be
 *	  compared with the policy (task/release_check.h); all by default  the
 *	  same
 *
 * and by the two calls below:
 *
 *	"driver": "535.129.03", "sdk": "12.2"	of the vendor
 *	"accelerator": "NVIDIA A100-SXM4-80GB"	or "2x ..., 6x ..."
 *	"accelerators": 8			those that are gone do not count
 *	"device_numa": "0 0 0 0 1 1 1 1"	where each is, if that is known
 *	"pcie_width": "16" or "8 to 16"		lanes of their links
 */
cJSON *host_facts_read(const struct host_facts_source *source,
		       struct error *err);

/* Only the facts that change while the agent runs: "clock", "governor",
 * "memory_available_bytes".
 */
cJSON *host_facts_now(const struct host_facts_source *source,
		      struct error *err);

/* Add the versions of the vendor's software. */
void host_facts_versions(cJSON *facts, const struct versions *versions);

/* Add the accelerators, by the name that the tool prints, else by their chip,
 * else by the vendor. Without accelerators, add nothing.
 */
void host_facts_accelerators(cJSON *facts, const struct device_info *devices,
			     size_t count, const char *vendor);

/* Add where the devices are, and how they are linked. sys as above. */
void host_facts_links(cJSON *facts, const struct device_info *devices,
		      size_t count, const char *sys);
