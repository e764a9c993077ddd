/* device_injection.h - what a container gets for its devices: profile + devices
 * + spec.
 *
 * Pure but for looking at the paths of the host. Device nodes are passed
 * explicitly for every vendor, also beside a runtime or a device request: a
 * reload of systemd on the host can then not take them away from a running
 * container.
 *
 * How the vendor's own software comes in, the first of these that the engine
 * has: the profile's runtime, with its selector variable; the profile's CDI
 * devices, when there is one for each; its device request. Podman's Docker API
 * takes none of them and says nothing (4.3, 5.x not known to): it gets the
 * selector variable, which a vendor's OCI hook reads.
 *
 * The sweep's own words win: a variable, runtime, ulimit, shm or ipc that the
 * spec already has is left as it is; lists are joined, each entry once.
 */
#ifndef PROTOCOL_HARDWARE_DEVICE_INJECTION_H
#define PROTOCOL_HARDWARE_DEVICE_INJECTION_H

#include "protocol/hardware/device.h"

#include <cjson/cJSON.h>

/* What the engine can do. */
struct engine_features {
	struct strings runtimes; /* by name */
	struct strings cdi;      /* devices: "nvidia.com/gpu=0" */
	bool deaf; /* it ignores runtimes, CDI and requests without a word */
	char *isolation; /* who root of a container is on the host, when he is
			    not root: "rootless", "userns-remap"; or NULL */
	struct strings unlimited; /* what it cannot limit: "memory", "cpu",
				     "pids" */
	bool apart; /* its host network is not that of this machine; not of
		       GET /info */
};
void engine_features_clear(struct engine_features *features);
OWNED_VALUE(struct engine_features, engine_features_clear)

/* From its GET /info, in which Podman is known by the version of its Buildah.
 * An engine that does not list its CDI devices names the folders of their
 * descriptions, which are read here; one that cannot be read is as if it were
 * not there.
 *
 * Source: Docker Engine API 1.50, SystemInfo (Runtimes, CDISpecDirs,
 * DiscoveredDevices, SecurityOptions); CDI specification 0.8, "kind" and
 * "devices".
 */
int engine_features_read(const cJSON *info, struct engine_features *features,
			 struct error *err);

/* What Podman's own answer adds: a rootless one limits what its user's cgroup
 * was delegated, and says so nowhere else. Of such a one it is enough.
 */
int engine_features_podman(const cJSON *info, struct engine_features *features,
			   struct error *err);

/* The same of one whose user's cgroup was delegated these controllers. */
int engine_features_rootless(const struct strings *controllers,
			     struct engine_features *features,
			     struct error *err);

struct device_injection {
	const struct profile *profile;
	const struct sysroot
		*roots; /* NULL: no host to look at: what is optional
			 is taken to be there, but for globs */
	const struct engine_features *features;
	const struct device_info *const *devices;
	size_t count;
	bool whole; /* the node's devices, all of them: with RDMA if it is
		       there */
};

/* Complete spec for these devices of the node. What is missing is named (the
 * error's code is that of looking for it): failure class preflight. On failure
 * the spec may have a part of its needs.
 */
int device_injection_apply(const struct device_injection *needs,
			   struct container_spec *spec, struct error *err);

/* Open and close each node of the devices: ENXIO, ENODEV, EIO and EBUSY are
 * errors that name it. What only we may not do is none: the engine opens them
 * with its own rights. An engine without root has no other rights than we:
 * EACCES.
 */
int device_injection_probe(const struct device_injection *needs,
			   struct error *err);

#endif
