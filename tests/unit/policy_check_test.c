/* policy_check_test.c - each rule of a policy refuses what it should, and no
 * more.
 */
#include "agent/policy/policy_check.h"
#include "agent/policy/policy_image.h"
#include "agent/docker/create_body.h"

#include "tests/tap.h"

#include <errno.h>

#define T(text) ((char *)(text))
#define ID                                                                     \
	"sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789ab"  \
	"cdef"

static const struct container_place place = {
	.cluster = "lab",
	.node = "n1",
	.init_program = "/opt/init",
	.init_path = "/regatta-0",
	.in_folder = "/var/in",
	.out_folder = "/var/out",
	.image = ID,
};

/* What the order asks for; a member that is NULL is not asked for. */
struct wish {
	const char *policy;  /* the file's text */
	const char *refused; /* the start of the sentence; NULL: let pass */
	const char *image;
	const char *build;
	const char *owner;
	const char *mount;
	bool read_only;
	const char *node;
	const char *network;
	const char *ipc;
	const char *capability;
	const char *security;
	const char *group;
	const char *runtime;
	const char *ulimit;
	const char *variable;
	uint64_t memory, shm, log;
	double cpus;
};

/* A link, as a container that may write to /data could leave one there. */
static int resolve(void *arg, const char *path, char *out)
{
	if (!strcmp(path, "/data/link"))
		return snprintf(out, PATH_MAX, "/etc") < 0;
	if (!strcmp(path, "/disk"))
		return snprintf(out, PATH_MAX, "/mnt/disk1") < 0;
	if (!strcmp(path, "/disk/a"))
		return snprintf(out, PATH_MAX, "/mnt/disk1/a") < 0;
	return -1;
}

static const struct policy_resolver resolver = { resolve, NULL };

static struct strings one(const char **word)
{
	return (struct strings){ (char **)word, *word ? 1 : 0 };
}

/* The node's own: its profile asks for a node, a group and memlock. */
static cJSON *own_request(void)
{
	static const char *node = "/dev/acme0", *group = "video";
	static const char *ulimit = "nice=40", *security = "apparmor=acme";
	struct mount_spec mounts[] = { { T("/opt/acme"), T("/opt/acme"),
					 true } };
	const struct task_spec task = {
		.job = 1,
		.container = { .image = T("x"),
			       .network = T("bridge"),
			       .mounts = mounts,
			       .mounts_count = 1,
			       .device_nodes = one(&node),
			       .security = one(&security),
			       .groups = one(&group),
			       .ulimits = one(&ulimit) },
	};

	return container_body(&task, &place, NULL);
}

static int judged(struct wish *wish, const struct policy *policy,
		  struct error *err)
{
	struct mount_spec mount = { T(wish->mount), T("/x"), wish->read_only };
	struct task_spec task = {
		.job = 1,
		.owner = T(wish->owner),
		.container = { .image = T(wish->image ? wish->image : "x"),
			       .build = T(wish->build),
			       .mounts = &mount,
			       .mounts_count = wish->mount ? 1 : 0,
			       .device_nodes = one(&wish->node),
			       .network = T(wish->network),
			       .ipc = T(wish->ipc),
			       .capabilities = one(&wish->capability),
			       .security = one(&wish->security),
			       .groups = one(&wish->group),
			       .runtime = T(wish->runtime),
			       .ulimits = one(&wish->ulimit),
			       .engine_env = one(&wish->variable),
			       .memory_bytes = wish->memory,
			       .shm_bytes = wish->shm,
			       .cpus = wish->cpus,
			       .log_limit_bytes = wish->log },
	};
	cJSON *own = own_request();
	cJSON *request;
	int rc;

	if (policy_check_order(policy, &task, err) < 0) {
		cJSON_Delete(own);
		return -1;
	}
	policy_check_limit(policy, &task.container);
	request = container_body(&task, &place, err);
	rc = request ? policy_check_request(policy, request, own, &resolver,
					    err)
		     : -1;
	cJSON_Delete(request);
	cJSON_Delete(own);
	return rc;
}

static void check(struct wish wish, const char *name)
{
	struct error err = { 0 };
	const char *text = wish.policy ? wish.policy : "";
	owned(policy_free) struct policy *policy =
		policy_parse(text, strlen(text), "p.yaml", &err);
	int rc = policy ? judged(&wish, policy, &err) : -1;

	if (!wish.refused)
		ok(rc == 0, "%s: passes %s", name, rc < 0 ? err.text : "");
	else
		ok(rc < 0 && err.code == EPERM &&
			   !strncmp(err.text, wish.refused,
				    strlen(wish.refused)),
		   "%s: refused: %s", name, rc < 0 ? err.text : "(passes)");
}

/* clang-format off */
static void defaults(void)
{
	check((struct wish){ 0 }, "nothing asked for");
	check((struct wish){ .network = "host" }, "the host's network");
	check((struct wish){ .ulimit = "memlock=-1", .shm = 1 << 30,
			     .memory = 1 << 30, .cpus = 3, .group = "0" },
	      "locked memory, shm, limits, groups");
	check((struct wish){ .security = "no-new-privileges" }, "less rights");
	check((struct wish){ .mount = "/data", .read_only = true,
		.refused = "mounts: /data is not allowed; p.yaml allows nothing" },
	      "a mount");
	check((struct wish){ .mount = "/opt/acme",
			     .refused = "mounts: /opt/acme (writable)" },
	      "the profile's mount, but writable");
	check((struct wish){ .node = "/dev/acme0" }, "a node of the profile");
	check((struct wish){ .node = "/dev/sda",
			     .refused = "devices: /dev/sda is not allowed" },
	      "another node");
	check((struct wish){ .node = "/dev/acme0:/dev/x",
			     .refused = "devices: /dev/acme0" },
	      "a node of the profile at another place");
	check((struct wish){ .capability = "SYS_ADMIN",
			     .refused = "capabilities: SYS_ADMIN" },
	      "a capability");
	check((struct wish){ .security = "seccomp=unconfined",
			     .refused = "security: seccomp=unconfined" },
	      "no seccomp");
	check((struct wish){ .security = "apparmor=acme" },
	      "security as the profile wants it");
	check((struct wish){ .ipc = "host", .refused = "ipc: host" },
	      "the host's shared memory");
	check((struct wish){ .runtime = "acme", .refused = "runtimes: " },
	      "a runtime");
	check((struct wish){ .variable = "ACME_VISIBLE_DEVICES=all",
		.refused = "profile: \"ACME_VISIBLE_DEVICES=all\"" },
	      "a variable that a runtime reads");
	check((struct wish){ .ulimit = "rtprio=99",
			     .refused = "ulimits: rtprio=99" },
	      "a limit that is not named");
	check((struct wish){ .ulimit = "nice=40" }, "one that the profile has");
}

static void profile_off(void)
{
	struct error err;
	owned(policy_free) struct policy *policy = policy_default(&err);
	cJSON *own = own_request();

	ok(policy_check_request(policy, own, own, NULL, &err) == 0,
	   "the node's own request passes");
	ok(policy_check_request(policy, own, NULL, NULL, &err) < 0,
	   "and as an order it does not: %s", err.text);
	cJSON_Delete(own);
}

static void mounts(void)
{
	const char *p = "mounts: [{host: /data}, {host: /scratch/, write: true},"
			" {host: /disk}]";

	check((struct wish){ p, .mount = "/data", .read_only = true },
	      "the folder itself");
	check((struct wish){ p, .mount = "/data/a/b", .read_only = true },
	      "one below");
	check((struct wish){ p, .mount = "/data/a",
		.refused = "mounts: /data/a (writable) is not allowed; p.yaml allows /data (read-only), /scratch/" },
	      "writable, where that is not allowed");
	check((struct wish){ p, .mount = "/scratch/x" }, "where it is");
	check((struct wish){ p, .mount = "/database", .read_only = true,
			     .refused = "mounts: /database" },
	      "a name that only begins alike");
	check((struct wish){ p, .mount = "/data/link", .read_only = true,
		.refused = "mounts: /data/link -> /etc is not allowed" },
	      "a link that leads out");
	check((struct wish){ p, .mount = "/disk/a", .read_only = true },
	      "a folder that is allowed by a link to it");
	check((struct wish){ p, .mount = "/", .read_only = true,
			     .refused = "mounts: / is not allowed" },
	      "what is above");
	check((struct wish){ "mounts: [{host: /}]", .mount = "/etc",
			     .read_only = true }, "all, where / is allowed");
}

static void images(void)
{
	const char *p = "images: [docker.io/library/*, r.example:5000/bench, "
			"\"r.example/x:1\"]";

	check((struct wish){ p, .image = "ubuntu" }, "a short name");
	check((struct wish){ p, .image = "ubuntu:22.04" }, "with a tag");
	check((struct wish){ p, .image = "me/ubuntu",
			     .refused = "images: me/ubuntu is not allowed" },
	      "of somebody else");
	check((struct wish){ p, .image = "r.example:5000/bench@" ID },
	      "any digest of a name");
	check((struct wish){ p, .image = "r.example:5000/bench/x",
			     .refused = "images: " }, "a name below");
	check((struct wish){ p, .image = "r.example/x:1" }, "the tag");
	check((struct wish){ p, .image = "r.example/x:2",
			     .refused = "images: " }, "another tag");
	check((struct wish){ p, .image = "r.example/x:1@" ID,
			     .refused = "images: " },
	      "that tag, but a digest, which counts");
	check((struct wish){ "images: [\"docker.io/*@" ID "\"]",
			     .image = "a/b:1@" ID }, "the digest");
	check((struct wish){ "images: [" ID "]", .image = ID }, "an image id");
	check((struct wish){ p, .image = ID, .refused = "images: " },
	      "an image id that is not named");
	check((struct wish){ "pinned: true", .image = "ubuntu",
		.refused = "pinned: ubuntu is not allowed; p.yaml allows NAME@" },
	      "a tag, where digests are asked for");
	check((struct wish){ "pinned: true", .image = "ubuntu@" ID },
	      "a digest");
	check((struct wish){ "images: []", .build = "cpu" },
	      "what is built here is no image of others");
	check((struct wish){ "images: []", .image = "x:1", .build = "cpu",
		.refused = "images: x:1" },
	      "but one of that name and tag may be there already");
	check((struct wish){ "build: false", .build = "cpu",
			     .refused = "build: cpu" }, "no building");
	check((struct wish){ "mounts: [{host: /d, write: true}]",
		.build = "/d/x", .refused = "build: /d/x is not allowed; "
					    "p.yaml allows builds in the" },
	      "no building in a folder of users, by default");
	check((struct wish){ "mounts: [{host: /d, write: true}]",
		.image = "x:1", .build = "/d/x", .refused = "build: /d/x" },
	      "also when the image may be there already");
	check((struct wish){ "mounts: [{host: /d, write: true}]\nbuild: true",
		.build = "/d/x" }, "but where the policy says so");
	check((struct wish){ "user: ['[1-9]*']\nbuild: true\n"
			     "mounts: [{host: /d, write: true}]",
		.build = "/d/x", .refused = "user: 0 is not allowed" },
	      "and allows root, which a build is");
}

static void users(void)
{
	const char *p = "users: [me, ci-*]";

	check((struct wish){ p, .owner = "me" }, "a name");
	check((struct wish){ p, .owner = "ci-7" }, "a pattern");
	check((struct wish){ p, .owner = "mee",
		.refused = "users: mee is not allowed; p.yaml allows me, ci-*" },
	      "another name");
	check((struct wish){ p, .refused = "users: no name" },
	      "a controller that does not say who");
}

static void words(void)
{
	check((struct wish){ "network: [bridge]", .network = "bridge" },
	      "a network that is allowed");
	check((struct wish){ "network: [none]",
			     .refused = "network: host is not allowed" },
	      "the default network, where it is not");
	check((struct wish){ "network: [none]", .network = "bridge",
			     .refused = "network: bridge" },
	      "not even as the node's own request has it");
	check((struct wish){ "capabilities: [SYS_PTRACE]",
			     .capability = "CAP_SYS_PTRACE" },
	      "a capability by its other name");
	check((struct wish){ "security: [\"*\"]",
			     .security = "seccomp=unconfined" }, "any security");
	check((struct wish){ "devices: [/dev/infiniband/*]",
			     .node = "/dev/infiniband/uverbs0" }, "devices");
	check((struct wish){ "groups: [video]", .group = "docker",
			     .refused = "groups: docker" }, "a group");
	check((struct wish){ "runtimes: [acme]", .runtime = "acme" },
	      "a runtime that is named");
	check((struct wish){ "ipc: [host]", .ipc = "host" }, "ipc");
}

static void limits(void)
{
	const char *p = "limits: {memory: 8G, cpus: 4, shm: 1G, log: 1M}";

	check((struct wish){ .policy = p }, "none asked for: the limits are put in");
	check((struct wish){ p, .memory = UINT64_C(8) << 30, .cpus = 4,
			     .shm = 1 << 30, .log = 1 << 20 }, "just as much");
	check((struct wish){ p, .memory = UINT64_C(9) << 30,
		.refused = "limits.memory: 9663676416 bytes" },
	      "more memory");
	check((struct wish){ p, .cpus = 4.5,
			     .refused = "limits.cpus: 4.5" },
	      "more processors");
	check((struct wish){ p, .shm = (1 << 30) + 1,
			     .refused = "limits.shm: " }, "more shm");
	check((struct wish){ p, .log = (1 << 20) + 1,
			     .refused = "limits.log: " }, "more output");
	check((struct wish){ "ulimits: {nofile: 100}", .ulimit = "nofile=100" },
	      "a limit just reached");
	check((struct wish){ "ulimits: {nofile: 100}",
			     .ulimit = "nofile=50:101",
			     .refused = "ulimits: nofile=101" },
	      "the hard one counts");
	check((struct wish){ "ulimits: {nofile: 100}", .ulimit = "nofile=-1",
			     .refused = "ulimits: nofile=-1" },
	      "unlimited is more than a number");
	check((struct wish){ "ulimits: {nofile: 100}", .ulimit = "memlock=-1",
			     .refused = "ulimits: memlock=-1" },
	      "a map that is given replaces the default");
}

static void unknown_parts(void)
{
	static const char *const requests[] = {
		"{\"HostConfig\": {\"Privileged\": true}}",
		"{\"HostConfig\": {\"PidMode\": \"host\"}}",
		"{\"HostConfig\": {\"Binds\": [\"/:/x\"]}}",
		"{\"HostConfig\": {\"Mounts\": [{\"Type\": \"volume\"}]}}",
		"{\"NetworkingConfig\": {}}",
	};
	struct error err;
	owned(policy_free) struct policy *policy =
		policy_parse("mounts: [{host: /}]", 19, "p", &err);
	owned(policy_free) struct policy *any = policy_any(&err);

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		cJSON *request = cJSON_Parse(requests[i]);

		ok(policy_check_request(policy, request, NULL, NULL, &err) < 0 &&
		   err.code == EPERM, "%s: %s", requests[i], err.text);
		ok(policy_check_request(any, request, NULL, NULL, &err) == 0,
		   "without a policy nothing is judged");
		cJSON_Delete(request);
	}
}
/* clang-format on */

static void loading(const char *text, bool allowed, const char *name)
{
	owned(policy_free) struct policy *policy =
		policy_parse(text, strlen(text), "policy.yaml", NULL);
	struct error err = { 0 };

	ok((policy_image_check_load(policy, &err) == 0) == allowed &&
		   (allowed || err.code == EPERM),
	   "%s %s", name, err.text);
}

static void files_of_images(void)
{
	static const char listed[] = "images: [reg.lab/*]\n";
	owned(policy_free) struct policy *policy =
		policy_parse(listed, strlen(listed), "policy.yaml", NULL);
	struct error err;

	loading("{}", true, "images may come from files");
	loading(listed, false,
		"not where only some are allowed, for a file names its own:");
	loading("images: [reg.lab/*]\nload: true\n", true,
		"unless that is wanted");
	loading("load: false\n", false, "nor where it is forbidden:");
	ok(policy_image_check(policy, "reg.lab/a:1", &err) == 0 &&
		   policy_image_check(policy, "other:1", &err) < 0 &&
		   err.code == EPERM,
	   "an image by itself is judged as that of an order");
}

static void insecure(const char *text, const char *registry, bool allowed)
{
	owned(policy_free) struct policy *policy =
		policy_parse(text, strlen(text), "policy.yaml", NULL);
	struct error err = { 0 };

	ok((policy_image_check_insecure(policy, registry, &err) == 0) ==
			   allowed &&
		   (allowed || err.code == EPERM),
	   "without TLS, by \"%s\": %s is%s allowed%s%s", text, registry,
	   allowed ? "" : " not", allowed ? "" : ": ", err.text);
}

static void insecure_registries(void)
{
	insecure("{}", "localhost:5000", true);
	insecure("{}", "127.1.2.3", true);
	insecure("{}", "127.0.0.1.example.com", false);
	insecure("{}", "localhost.example.com:5000", false);
	insecure("{}", "10.0.0.1:5000", false);
	insecure("insecure_registries: []", "localhost:5000", false);
	insecure("insecure_registries: [\"r:5000\"]", "r:5000", true);
	insecure("insecure_registries: [\"r:5000\"]", "r:5001", false);
	insecure("insecure_registries: [\"r:5000\"]", "127.0.0.1", false);
	insecure("insecure_registries: [loopback, \"*.lan\"]", "a.lan", true);
}

int main(void)
{
	tap_begin(60);
	defaults();
	insecure_registries();
	profile_off();
	mounts();
	images();
	users();
	words();
	limits();
	unknown_parts();
	files_of_images();
	return tap_done();
}
