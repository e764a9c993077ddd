/* device_injection.h - adds to a container's spec what its devices need, by the
 * vendor's profile.
 *
 * Pure, except that it looks at paths of the host. Device nodes are passed
 * explicitly for every vendor, also beside a runtime or a device request.
 * Otherwise a reload of systemd on the host could take them away from a running
 * container.
 *
 * The vendor's software enters the container in the first of these ways that
 * the engine has: the profile's runtime with its selector variable; the
 * profile's CDI devices, if there is one for each device; the profile's device
 * request. Podman's Docker API ignores all three silently (seen with 4.3): it
 * gets the selector variable, which a vendor's OCI hook reads. Where the
 * engine may read it in each container, one whose devices are not selected by
 * it gets it with the value that opens none.
 *
 * The sweep's values have precedence: a variable, runtime, ulimit, shm or ipc
 * that the spec already has stays. Lists are merged without duplicates.
 */
#pragma once

#include "protocol/hardware/device.h"

#include <cjson/cJSON.h>

/* What a CDI description mounts. */
struct cdi_mount {
	char *kind, *path; /* "nvidia.com/gpu"; of the node */
	bool write;
};
struct cdi_mounts {
	struct cdi_mount *items;
	size_t count;
};

/* A device node that it makes. */
struct cdi_node {
	char *kind, *device;  /* "nvidia.com/gpu=0"; NULL: with any device */
	char *path, *in_path; /* of the node; in the container */
};
struct cdi_nodes {
	struct cdi_node *items;
	size_t count;
};

/* What the engine can do. */
struct engine_features {
	struct strings runtimes; /* their names */
	struct strings cdi;      /* devices: "nvidia.com/gpu=0" */
	struct cdi_mounts cdi_mounts;
	struct cdi_nodes cdi_nodes;
	bool ignores_devices; /* silently ignores runtimes and device requests,
				 but those for `cdi` */
	bool reads_selectors; /* its default runtime is not a plain one, or
				 hooks run in each container: a variable of an
				 image may give it devices */
	char *isolation; /* why root of a container is not root on the host:
			    "rootless", "userns-remap"; NULL: it is root */
	struct strings unlimited; /* resources that it cannot limit: "memory",
				     "cpu", "pids" */
	bool unseen;              /* its processes are not seen from here */
	bool separate_network; /* its "host" network is not this machine's; GET
		       /info does not say it */
};
void engine_features_clear(struct engine_features *features);
OWNED_VALUE(struct engine_features, engine_features_clear)

/* Is the answer of GET /version that of Podman? */
bool engine_is_podman(const cJSON *version);

/* Read the answer of GET /info. An engine that gives a Buildah version is
 * Podman. If the engine lists folders of CDI descriptions instead of CDI
 * devices, the descriptions are read here; unreadable ones are skipped.
 *
 * Source: Docker Engine API 1.50, SystemInfo (Runtimes, CDISpecDirs,
 * DiscoveredDevices, SecurityOptions); CDI specification 0.8, "kind",
 * "devices" and "containerEdits", whose mounts are writable without "ro".
 */
int engine_features_read(const cJSON *info, struct engine_features *features,
			 struct error *err);

/* The same from the info of Podman's own API. Only there a rootless Podman
 * tells which cgroup controllers were delegated to its user, and so what it can
 * limit. For such an engine this call replaces engine_features_read().
 */
int engine_features_podman(const cJSON *info, struct engine_features *features,
			   struct error *err);

/* The same for a rootless Podman whose user's cgroup has these controllers. */
int engine_features_rootless(const struct strings *controllers,
			     struct engine_features *features,
			     struct error *err);

/* Podman 5.4 and later honours requests for CDI devices, but lists none: read
 * the descriptions in these folders, in /etc/cdi, /var/run/cdi and
 * ~/.config/cdi if folders is NULL. version: the answer of GET /version, of any
 * engine. After the functions above. Source: Podman 5.4.0, release notes.
 */
int engine_features_add_cdi(const cJSON *version, const char *const *folders,
			    struct engine_features *features,
			    struct error *err);

/* The version of the engine's runc, if containers can hang with it; NULL: they
 * cannot, or the engine does not tell. Borrowed from its answer to GET
 * /version. Source: opencontainers/runc issue 5208.
 */
const char *engine_hanging_runc(const cJSON *version);

struct device_injection {
	const struct profile *profile;
	const struct sysroot *roots; /* NULL: no file is looked at; optional
					paths count as existing, except globs */
	const struct engine_features *features;
	const struct device_info *const *devices;
	size_t count;
	bool whole; /* these are all devices of the node: add RDMA devices if
		       there are any */
};

/* Add to the spec what these devices need. The error names what is missing,
 * with the code of looking for it (failure class preflight). After an error the
 * spec may hold a part of the additions.
 */
int device_injection_apply(const struct device_injection *injection,
			   struct container_spec *spec, struct error *err);

/* Open and close each device node. ENXIO, ENODEV, EIO, EBUSY: the error names
 * the node. A missing permission is ignored, because the engine opens the nodes
 * with its own rights; but for a rootless engine, whose rights are the agent's,
 * it is EACCES.
 */
int device_injection_probe(const struct device_injection *injection,
			   struct error *err);
