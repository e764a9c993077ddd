/* foreign_mounts_test.c - mounts that an engine, a vendor's runtime and a hook
 * add to a container: which of them are known.
 */
#include "agent/task/foreign_mounts.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID "38e8176947b5721904710dc631d43aa47269aa57d682411627d08193fd123d90"
#define OVERLAY_ID                                                             \
	"9d542e615846984ccffc3e02772c7e8cd07ace26d4f092756a402cc9daf01511"

/* The node: a disk, with a second one at /data, and an engine's mounts. */
static struct mount_row host_rows[] = {
	{ 1, 0, "8:1", "/", "/", "ext4", "", false },
	{ 2, 1, "8:2", "/", "/data", "xfs", "", false },
	{ 3, 1, "0:22", "/", "/sys", "sysfs", "", false },
	{ 4, 1, "0:21", "/", "/proc", "proc", "", false },
	{ 5, 1, "0:5", "/", "/dev", "devtmpfs", "", false },
	{ 6, 5, "0:25", "/", "/dev/shm", "tmpfs", "", false },
	{ 7, 1, "0:23", "/", "/run", "tmpfs", "", false },
	{ 8, 1, "0:39", "/", "/var/lib/docker/overlay2/" OVERLAY_ID "/merged",
	  "overlay", "", false },
	{ 9, 1, "0:46", "/", "/var/lib/docker/containers/" ID "/mounts/shm",
	  "tmpfs", "", false },
};
static const struct mount_table host = {
	.rows = host_rows,
	.count = sizeof(host_rows) / sizeof(host_rows[0]),
};
static struct mount_row root_row = { 88,  51,        "0:39", "/",
				     "/", "overlay", "",     false };

static struct mount_row own_row = {
	89,           88,     "8:1", "/var/lib/docker/containers/" ID "/hosts",
	"/etc/hosts", "ext4", "",    false
};

static const struct {
	struct mount_row row;
	bool known;
	const char *what;
} cases[] = {
	{ { 1, 88, "0:42", "/", "/proc", "proc", "", false },
	  true,
	  "a fresh proc" },
	{ { 1, 88, "0:42", "/sys", "/proc/sys", "proc", "", true },
	  true,
	  "part of it, read-only" },
	{ { 1, 88, "0:21", "/", "/proc", "proc", "", false },
	  false,
	  "the node's proc" },
	{ { 1, 88, "0:22", "/", "/sys", "sysfs", "", true }, true, "sysfs" },
	{ { 1, 88, "0:22", "/", "/x", "sysfs", "", false },
	  false,
	  "sysfs at another place" },
	{ { 1, 88, "0:30", "/docker/x", "/sys/fs/cgroup/cpu", "cgroup", "",
	    true },
	  true,
	  "a cgroup" },
	{ { 1, 88, "0:43", "/null", "/proc/keys", "tmpfs", "", false },
	  true,
	  "a mask" },
	{ { 1, 88, "0:5", "/null", "/proc/keys", "devtmpfs", "", false },
	  true,
	  "a mask of the node" },
	{ { 1, 88, "0:5", "/sda", "/dev/null", "devtmpfs", "", false },
	  false,
	  "a disk in the place of a node" },
	{ { 1, 88, "0:5", "/fuse", "/dev/fuse", "devtmpfs", "", false },
	  true,
	  "a device node of the request" },
	{ { 1, 88, "0:46", "/", "/dev/shm", "tmpfs", "", false },
	  true,
	  "the engine's shared memory" },
	{ { 1, 88, "0:25", "/", "/dev/shm", "tmpfs", "", false },
	  false,
	  "the node's, not asked for" },
	{ { 1, 88, "8:1", "/var/lib/docker/containers/" ID "/hosts",
	    "/etc/hosts", "ext4", "", false },
	  true,
	  "the engine's file" },
	{ { 1, 88, "8:1", "/var/lib/docker/containers/" OVERLAY_ID "/hosts",
	    "/etc/other", "ext4", "", false },
	  false,
	  "that of another container" },
	{ { 1, 88, "0:46", "/", "/x", "tmpfs", "", false },
	  true,
	  "the engine's shared memory at another place" },
	{ { 1, 88, "8:1", "/var/lib/docker/volumes/" ID "/_data", "/volume",
	    "ext4", "", false },
	  true,
	  "a volume" },
	{ { 1, 88, "8:1", "/var/lib/docker/containers", "/x", "ext4", "",
	    false },
	  false,
	  "all of them" },
	{ { 1, 88, "8:1", "/srv/containers/" ID "0/x", "/x", "ext4", "",
	    false },
	  false,
	  "one digit too many" },
	{ { 1, 88, "8:1", "/etc/shadow", "/etc/shadow", "ext4", "", true },
	  false,
	  "a file of the node" },
	{ { 1, 88, "8:1", "/", "/mnt", "ext4", "", false }, false, "its root" },
	{ { 1, 88, "8:9", "/", "/mnt", "ext4", "", false },
	  false,
	  "a disk that is not mounted on the node" },
	{ { 1, 88, "0:77", "/", "/mnt", "overlay", "", false },
	  false,
	  "another overlay" },
	{ { 1, 88, "0:39", "/usr/local/cuda/compat/libcuda.so.550",
	    "/usr/lib/libcuda.so.550", "overlay", "", true },
	  true,
	  "a file of the image at another place" },
	{ { 1, 88, "8:1", "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54",
	    "/usr/lib/libcuda.so.550.54", "ext4", "", true },
	  true,
	  "a library that the profile names" },
	{ { 1, 88, "8:1", "/etc/libcuda/shadow", "/usr/lib/libcuda.so.1",
	    "ext4", "", true },
	  false,
	  "something else in its place" },
	{ { 1, 88, "8:1", "/opt/vendor/bin", "/opt/vendor/bin", "ext4", "",
	    true },
	  true,
	  "below a mount of the profile" },
	{ { 1, 88, "8:1", "/opt/cdi.so", "/opt/cdi.so", "ext4", "", true },
	  true,
	  "a path of a CDI description" },
	{ { 1, 88, "8:1", "/opt/cdi.so", "/opt/cdi.so", "ext4", "", false },
	  false,
	  "that is read-only there" },
	{ { 1, 88, "8:1", "/run/cdi.sock", "/run/cdi.sock", "ext4", "", false },
	  true,
	  "one that is writable there" },
	{ { 1, 88, "8:1", "/opt/other.so", "/opt/cdi.so", "ext4", "", true },
	  false,
	  "one of another vendor" },
	{ { 1, 88, "8:2", "/sets/a", "/sets", "xfs", "", true },
	  true,
	  "read-only, what the policy allows" },
	{ { 1, 88, "8:2", "/sets/a", "/sets", "xfs", "", false },
	  false,
	  "and writable" },
	{ { 1, 88, "8:1", "/var/lib/docker/volumes/" ID "/other", "/volume",
	    "ext4", "", false },
	  false,
	  "what lies beside a volume" },
};

static int foreign_judge(const struct policy *policy, const char *ipc,
			 const struct mount_row *row, struct error *err)
{
	struct mount_row inside_rows[] = { root_row, own_row, *row };
	const struct mount_table inside = { .rows = inside_rows, .count = 3 };
	struct profile_mount mount = { .host = "/opt/vendor" };
	char *patterns[] = { (char *)"*/libcuda.so.*" };
	struct cdi_mount cdi[] = {
		{ (char *)"acme.example/card", (char *)"/opt/cdi.so", false },
		{ (char *)"acme.example/more", (char *)"/run/cdi.sock", true },
		{ (char *)"acme.example.org/card", (char *)"/opt/other.so",
		  true },
	};
	const struct cdi_mounts cdi_mounts = { cdi, 3 };
	const struct container_rules rules = {
		.mounts = &mount,
		.mounts_count = 1,
		.runtime_mounts = { patterns, 1 },
		.cdi = "acme.example/card",
	};
	owned(resolved_paths_clear) struct resolved_paths paths = { 0 };
	cJSON *request = cJSON_Parse("{\"HostConfig\":{\"Devices\":[{"
				     "\"PathOnHost\":\"/dev/fuse\"}]}}");
	const struct foreign_mounts mounts = {
		.policy = policy,
		.request = request,
		.paths = &paths,
		.rules = &rules,
		.cdi_mounts = &cdi_mounts,
		.host = &host,
		.inside = &inside,
	};
	int rc;

	cJSON_AddStringToObject(cJSON_GetObjectItem(request, "HostConfig"),
				"IpcMode", ipc);
	rc = foreign_mounts_check(&mounts, &inside_rows[2], err);
	cJSON_Delete(request);
	return rc;
}

int main(void)
{
	static const char text[] = "mounts: [{host: /data/sets}]";
	static const char none[] = "profile: false";
	struct mount_row shm = cases[11].row, library = cases[23].row;
	struct policy *policy, *bare;
	struct error err;

	tap_begin(20);
	policy = policy_parse(text, strlen(text), "p.yaml", &err);
	bare = policy_parse(none, strlen(none), "p.yaml", &err);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int rc = foreign_judge(policy, "private", &cases[i].row, &err);

		ok(cases[i].known ? rc == 0 : rc < 0 && err.code == EPERM,
		   "%s: %s", cases[i].what, rc < 0 ? err.text : "known");
	}
	ok(foreign_judge(policy, "host", &shm, &err) == 0,
	   "the node's shared memory, asked for");
	ok(foreign_judge(bare, "private", &library, &err) < 0,
	   "without the profile nothing of a vendor is allowed: %s", err.text);
	ok(strstr(err.text, "/usr/lib/x86_64-linux-gnu/libcuda.so.550.54 at "
			    "/usr/lib/libcuda.so.550.54 in the container"),
	   "the text names both places");
	policy_free(policy);
	policy_free(bare);
	return tap_done();
}
