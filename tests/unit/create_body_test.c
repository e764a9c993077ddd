/* container_test.c - from a task's spec to the engine's create body.
 */
#include "agent/init/init.h"
#include "agent/docker/create_body.h"

#include "protocol/message/json_get.h"
#include "tests/tap.h"

#include <errno.h>
#include <math.h>

static const char image[] = "sha256:"
			    "0123456789abcdef0123456789abcdef"
			    "0123456789abcdef0123456789abcdef";
static const struct container_place place = {
	.cluster = "lab",
	.node = "n1",
	.init_program = "/opt/init",
	.init_path = "/regatta-0",
	.in_folder = "/var/in",
	.out_folder = "/var/out",
	.work_folder = "/var/work",
	.image = image,
};

static struct task_spec plain(void)
{
	return (struct task_spec){
		.job = 17,
		.attempt = 2,
		.rank = 3,
		.nodes = 4,
		.world_size = 4,
		.processes_per_node = 1,
		.container = { .image = (char *)"busybox" },
	};
}

/* A path such as "HostConfig/Mounts/0/Source" below the body, as JSON. */
static char *at(const cJSON *body, const char *path)
{
	char *copy = strdup(path);
	char *rest = copy, *part;
	char *text;

	while (body && (part = strsep(&rest, "/")))
		body = cJSON_IsArray(body)
			       ? cJSON_GetArrayItem(body, part[0] - '0')
			       : cJSON_GetObjectItemCaseSensitive(body, part);
	text = body ? cJSON_PrintUnformatted(body) : NULL;
	free(copy);
	return text;
}

static void has(const cJSON *body, const char *path, const char *want)
{
	char *got = at(body, path);

	is(got, want, "%s is %s", path, want ? want : "not there");
	free(got);
}

static void plain_body(void)
{
	struct task_spec spec = plain();
	struct error err = { 0 };
	cJSON *body = container_body(&spec, &place, &err);
	cJSON *host = cJSON_GetObjectItemCaseSensitive(body, "HostConfig");
	char hash[CONTAINER_HASH_SIZE], quoted[80];

	ok(body != NULL, "a plain task has a body %s", err.text);
	has(body, "Image",
	    "\"sha256:0123456789abcdef0123456789abcdef"
	    "0123456789abcdef0123456789abcdef\"");
	has(body, "Entrypoint", "[\"/regatta-0\"]");
	has(body, "Cmd", "[]");
	has(body, "Env", "[]");
	has(body, "User", NULL);
	has(body, "WorkingDir", NULL);
	has(body, "StopSignal", "\"SIGTERM\"");
	has(body, "Healthcheck", "{\"Test\":[\"NONE\"]}");
	has(body, "Labels/regatta.cluster", "\"lab\"");
	has(body, "Labels/regatta.node", "\"n1\"");
	has(body, "Labels/regatta.job", "\"17\"");
	has(body, "Labels/regatta.attempt", "\"2\"");
	has(body, "Labels/regatta.rank", "\"3\"");
	container_spec_hash(&spec, hash, NULL);
	snprintf(quoted, sizeof(quoted), "\"%s\"", hash);
	has(body, "Labels/regatta.spec", quoted);
	has(host, "Mounts",
	    "[{\"Type\":\"bind\",\"Source\":\"/opt/init\","
	    "\"Target\":\"/regatta-0\",\"ReadOnly\":true},"
	    "{\"Type\":\"bind\",\"Source\":\"/var/in\","
	    "\"Target\":\"/regatta/in\",\"ReadOnly\":true},"
	    "{\"Type\":\"bind\",\"Source\":\"/var/out\","
	    "\"Target\":\"/regatta/out\",\"ReadOnly\":false}]");
	has(host, "NetworkMode", "\"host\"");
	has(host, "LogConfig", "{\"Type\":\"none\"}");
	has(host, "RestartPolicy", "{\"Name\":\"no\"}");
	has(host, "AutoRemove", "false");
	has(host, "Init", "false");
	has(host, "Privileged", NULL);
	has(host, "Memory", NULL);
	has(host, "CapAdd", NULL);
	has(host, "CapDrop", "[\"ALL\"]");
	has(host, "SecurityOpt", "[\"no-new-privileges\"]");
	has(host, "PidsLimit", NULL);
	cJSON_Delete(body);
}

static void ask_for_everything(struct container_spec *c)
{
	struct error err = { 0 };

	strings_add(&c->ulimits, "memlock=-1", &err);
	strings_add(&c->ulimits, "nofile=1024:562949953421312", &err);
	strings_add(&c->ulimits, "stack=8388608:-1", &err);
	strings_add(&c->capabilities, "CAP_SYS_PTRACE", &err);
	strings_add(&c->capabilities, "IPC_LOCK", &err);
	strings_add(&c->groups, "video", &err);
	strings_add(&c->groups, "44", &err);
	strings_add(&c->device_nodes, "/dev/fuse", &err);
	strings_add(&c->device_nodes, "/dev/a:/dev/b:rw", &err);
	strings_add(&c->security, "no-new-privileges", &err);
	strings_add(&c->security, "seccomp=unconfined", &err);
	strings_add(&c->security, "apparmor=docker-default", &err);
	strings_add(&c->argv, "${ANYTHING}", &err);
	strings_add(&c->env, "A=b", &err);
	c->workdir = (char *)"/work dir";
	c->user = (char *)"1000:users";
	c->network = (char *)"none";
	c->ipc = (char *)"shareable";
	c->shm_bytes = UINT64_C(562949953421312);
	c->memory_bytes = UINT64_C(137438953472);
	c->cpus = 1.1;
	c->grace_ms = 30000;
}

static void full_body(void)
{
	struct task_spec spec = plain();
	struct mount_spec mount = { (char *)"/data/a b", (char *)"/data",
				    true };
	struct container_spec *c = &spec.container;
	struct error err = { 0 };
	cJSON *body, *host;

	ask_for_everything(c);
	c->mounts = &mount;
	c->mounts_count = 1;
	body = container_body(&spec, &place, &err);
	host = cJSON_GetObjectItemCaseSensitive(body, "HostConfig");
	ok(body != NULL, "a task that asks for everything has a body %s",
	   err.text);
	has(host, "Ulimits",
	    "[{\"Name\":\"memlock\",\"Soft\":-1,\"Hard\":-1},"
	    "{\"Name\":\"nofile\",\"Soft\":1024,\"Hard\":562949953421312},"
	    "{\"Name\":\"stack\",\"Soft\":8388608,\"Hard\":-1}]");
	has(host, "CapAdd", "[\"SYS_PTRACE\",\"IPC_LOCK\"]");
	has(host, "GroupAdd", "[\"video\",\"44\"]");
	has(host, "Devices",
	    "[{\"PathOnHost\":\"/dev/fuse\",\"PathInContainer\":"
	    "\"/dev/fuse\",\"CgroupPermissions\":\"rwm\"},"
	    "{\"PathOnHost\":\"/dev/a\",\"PathInContainer\":\"/dev/b\","
	    "\"CgroupPermissions\":\"rw\"}]");
	has(host, "SecurityOpt",
	    "[\"no-new-privileges\",\"seccomp=unconfined\","
	    "\"apparmor=docker-default\"]");
	has(host, "CapDrop", "[\"ALL\"]");
	has(host, "Mounts/3",
	    "{\"Type\":\"bind\",\"Source\":\"/data/a b\","
	    "\"Target\":\"/data\",\"ReadOnly\":true}");
	has(host, "NetworkMode", "\"none\"");
	has(host, "IpcMode", "\"shareable\"");
	has(host, "ShmSize", "562949953421312");
	has(host, "Memory", "137438953472");
	has(host, "MemorySwap", "137438953472");
	has(host, "NanoCpus", "1100000000");
	has(body, "StopTimeout", "40");
	has(body, "WorkingDir", "\"/work dir\"");
	has(body, "User", "\"1000:users\"");
	has(body, "Cmd", "[]");
	has(body, "Env", "[]");
	cJSON_Delete(body);
	c->ipc = (char *)"host";
	body = container_body(&spec, &place, &err);
	host = cJSON_GetObjectItemCaseSensitive(body, "HostConfig");
	has(host, "IpcMode", "\"host\"");
	ok(host && !cJSON_GetObjectItemCaseSensitive(host, "ShmSize"),
	   "the host's shared memory gets no size");
	cJSON_Delete(body);
	strings_clear(&c->ulimits);
	strings_clear(&c->capabilities);
	strings_clear(&c->device_nodes);
	strings_clear(&c->groups);
	strings_clear(&c->security);
	strings_clear(&c->argv);
	strings_clear(&c->env);
}

static void bounded_body(void)
{
	struct container_place bounded = place;
	struct task_spec spec = plain();
	struct strings *list = &spec.container.capabilities;
	cJSON *body, *host;

	bounded.pids = 32768;
	strings_add(list, "CAP_SETUID", NULL);
	strings_add(list, "KILL", NULL);
	body = container_body(&spec, &bounded, NULL);
	host = cJSON_GetObjectItemCaseSensitive(body, "HostConfig");
	has(host, "PidsLimit", "32768");
	has(host, "CapAdd", "[\"SETUID\",\"KILL\"]");
	cJSON_Delete(body);
	strings_clear(list);
}

/* The spec is refused, and the words hold `words`. */
static void refused(const struct task_spec *spec, const char *words)
{
	struct error err = { 0 };
	cJSON *body = container_body(spec, &place, &err);

	ok(!body && err.code == EINVAL && strstr(err.text, words),
	   "refused: %s", err.text);
	cJSON_Delete(body);
}

static void refused_lists(void)
{
	static const struct {
		size_t offset;
		const char *item;
		const char *words;
	} cases[] = {
#define LIST(f, i, w) { offsetof(struct container_spec, f), i, w }
		LIST(ulimits, "memlock", "NAME=SOFT[:HARD]"),
		LIST(ulimits, "memlock=", "NAME=SOFT[:HARD]"),
		LIST(ulimits, "memlock=-2", "NAME=SOFT[:HARD]"),
		LIST(ulimits, "memlock=-11", "NAME=SOFT[:HARD]"),
		LIST(ulimits, "memlock= 1", "NAME=SOFT[:HARD]"),
		LIST(ulimits, "memlock=1:", "NAME=SOFT[:HARD]"),
		LIST(ulimits, "memlock=1:2:3", "NAME=SOFT[:HARD]"),
		LIST(ulimits, "memlock=1k", "NAME=SOFT[:HARD]"),
		LIST(ulimits, "memlock=562949953421313", "2^49"),
		LIST(ulimits, "memlock=99999999999999999999", "2^49"),
		LIST(ulimits, "memlock=2:1", "above"),
		LIST(ulimits, "memlock=-1:1", "above"),
		LIST(ulimits, "RLIMIT_CORE=1", "no such limit"),
		LIST(ulimits, "=1", "no such limit"),
		LIST(capabilities, "SYS_PTRACER", "no such capability"),
		LIST(capabilities, "sys_ptrace", "no such capability"),
		LIST(capabilities, "", "no such capability"),
		LIST(capabilities, "SETUID", "SETUID requires KILL"),
		LIST(capabilities, "CAP_SETUID", "SETUID requires KILL"),
		LIST(capabilities, "ALL", "not allowed"),
		LIST(capabilities, "all", "not allowed"),
		LIST(capabilities, "CAP_ALL", "not allowed"),
		LIST(groups, "", "groups"),
		LIST(groups, "a b", "groups"),
		LIST(groups, "1:2", "groups"),
		LIST(device_nodes, "/etc/shadow", "device_nodes"),
		LIST(device_nodes, "/dev/../etc/shadow", "device_nodes"),
		LIST(device_nodes, "/dev/a:b", "device_nodes"),
		LIST(device_nodes, "/dev/a:/b:x", "device_nodes"),
		LIST(device_nodes, "/dev/a:/b:r:w", "device_nodes"),
		LIST(security, "seccomp=/etc/shadow", "security"),
		LIST(security, "apparmor=", "security"),
		LIST(security, "systempaths=unconfined", "security"),
#undef LIST
	};
	struct task_spec spec;
	struct strings *list;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		spec = plain();
		list = (struct strings *)((char *)&spec.container +
					  cases[i].offset);
		strings_add(list, cases[i].item, NULL);
		refused(&spec, cases[i].words);
		strings_clear(list);
	}
	spec = plain();
	for (int i = 0; i < 65; i++)
		strings_add(&spec.container.groups, "1", NULL);
	refused(&spec, "expected at most 64");
	strings_clear(&spec.container.groups);
}

static void refused_fields(void)
{
	static const struct {
		const char *network, *ipc, *workdir, *user;
		const char *words;
	} cases[] = {
		{ .network = "container:x", .words = "host, none and bridge" },
		{ .network = "", .words = "network" },
		{ .ipc = "container:x", .words = "shareable" },
		{ .workdir = "here", .words = "absolute" },
		{ .workdir = "", .words = "absolute" },
		{ .workdir = "/a/../b", .words = ".." },
		{ .workdir = "/a\n", .words = "control" },
		{ .user = "", .words = "user" },
		{ .user = "a b", .words = "user" },
		{ .user = "1000:", .words = "user" },
		{ .user = "-1", .words = "user" },
	};
	static const double cpus[] = { -1, 0.001, 1e9, NAN, INFINITY };
	struct task_spec spec;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		spec = plain();
		spec.container.network = (char *)cases[i].network;
		spec.container.ipc = (char *)cases[i].ipc;
		spec.container.workdir = (char *)cases[i].workdir;
		spec.container.user = (char *)cases[i].user;
		refused(&spec, cases[i].words);
	}
	for (size_t i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		spec = plain();
		spec.container.cpus = cpus[i];
		refused(&spec, "cpus");
	}
	spec = plain();
	spec.container.memory_bytes = 1000;
	refused(&spec, "6 MiB");
	spec.container.memory_bytes = UINT64_MAX;
	refused(&spec, "512 TiB");
	spec = plain();
	spec.container.shm_bytes = UINT64_MAX;
	refused(&spec, "512 TiB");
}

static void refused_mounts(void)
{
	static const struct {
		const char *host, *container, *words;
	} cases[] = {
		{ "relative", "/a", "absolute" },
		{ "/a", "relative", "absolute" },
		{ "", "/a", "absolute" },
		{ NULL, "/a", "absolute" },
		{ "/a/..", "/a", ".." },
		{ "/a", "/../a", ".." },
		{ "/a\x1b", "/a", "control" },
		{ "/a", "/", "expected a path other than" },
		{ "/a", "//./", "expected a path other than" },
		{ "/a", "/regatta", "expected a path other than" },
		{ "/a", "//regatta/./in", "expected a path other than" },
		{ "/a", "//first/.//", "given twice" },
	};
	struct mount_spec mounts[200] = {
		{ (char *)"/x", (char *)"/first", false },
	};
	struct task_spec spec = plain();
	struct error err;
	char longest[4200];
	cJSON *body;

	spec.container.mounts = mounts;
	spec.container.mounts_count = 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		mounts[1].host = (char *)cases[i].host;
		mounts[1].container = (char *)cases[i].container;
		refused(&spec, cases[i].words);
	}
	memset(longest, 'a', sizeof(longest));
	longest[0] = '/';
	longest[4097] = 0;
	mounts[1].host = longest;
	mounts[1].container = (char *)"/a";
	refused(&spec, "expected at most 4096");
	spec.container.mounts_count = 129;
	refused(&spec, "expected at most 128");
	mounts[1].host = (char *)"/a..b/..c";
	mounts[1].container = (char *)"/regattas";
	spec.container.mounts_count = 2;
	body = container_body(&spec, &place, &err);
	ok(body != NULL, "dots in names and names like ours are fine");
	cJSON_Delete(body);
}

/* The code tree is a mount of ours, in a place of its own. */
static void code_tree(void)
{
	static const struct {
		const char *folder, *words;
	} cases[] = {
		{ "relative", "absolute" },
		{ "/a/../b", "contains" },
		{ "/", "expected a path other than" },
		{ "//.", "expected a path other than" },
		{ "/regatta/in", "expected a path other than" },
		{ "/data", "is in the mount at /data" },
		{ "/data/./code", "is in the mount at /data" },
	};
	struct mount_spec mount = { .host = (char *)"/host",
				    .container = (char *)"/data/" };
	struct task_spec spec = plain();
	struct container_spec *c = &spec.container;
	struct container_place nowhere = place;
	struct error err;
	cJSON *body, *item;

	c->workspace = (char *)"0123";
	c->mounts = &mount;
	c->mounts_count = 1;
	body = container_body(&spec, &place, &err);
	item = cJSON_GetArrayItem(json_get(json_get(body, "HostConfig"),
					   "Mounts"),
				  3);
	is(json_get_text_or_empty(item, "Source"), "/var/work",
	   "the code tree is mounted");
	is(json_get_text_or_empty(item, "Target"), "/workspace",
	   "where it is by default");
	ok(cJSON_IsFalse(json_get(item, "ReadOnly")), "and may be written");
	cJSON_Delete(body);
	c->workspace_folder = (char *)"/database";
	body = container_body(&spec, &place, &err);
	ok(body != NULL, "a name that begins like a mount's is another");
	cJSON_Delete(body);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		c->workspace_folder = (char *)cases[i].folder;
		refused(&spec, cases[i].words);
	}
	c->workspace_folder = NULL;
	nowhere.work_folder = NULL;
	ok(!container_body(&spec, &nowhere, &err), "refused: %s", err.text);
}

static void refused_places(void)
{
	struct container_place bad = place;
	struct task_spec spec = plain();
	struct error err;

	bad.in_folder = "in";
	ok(!container_body(&spec, &bad, &err), "refused: %s", err.text);
	bad = place;
	bad.image = "";
	ok(!container_body(&spec, &bad, &err), "refused: %s", err.text);
}

static void devices(void)
{
	struct task_spec spec = plain(), ordered = plain();
	struct container_spec *c = &spec.container;
	struct container_place lab = place;
	struct device_request requests[2] = { { .driver = (char *)"" },
					      { .driver = (char *)"cdi" } };
	char hash[CONTAINER_HASH_SIZE], quoted[CONTAINER_HASH_SIZE + 2];
	struct error err;
	cJSON *body;

	strings_add(&requests[0].capabilities, "gpu", &err);
	strings_add(&requests[1].ids, "nvidia.com/gpu=0", &err);
	strings_add(&requests[1].ids, "nvidia.com/gpu=1", &err);
	c->requests = requests;
	c->requests_count = 2;
	c->runtime = (char *)"nvidia";
	strings_add(&c->engine_env, "NVIDIA_VISIBLE_DEVICES=0,1", &err);
	strings_add(&c->device_nodes, "/lab/dev/x0:/dev/x0", &err);
	lab.device_root = "/lab/dev";
	lab.ordered = &ordered;
	body = container_body(&spec, &lab, &err);
	has(body, "HostConfig/Runtime", "\"nvidia\"");
	has(body, "Env", "[\"NVIDIA_VISIBLE_DEVICES=0,1\"]");
	has(body, "HostConfig/DeviceRequests/0",
	    "{\"Driver\":\"\",\"Count\":-1,\"DeviceIDs\":[],"
	    "\"Capabilities\":[[\"gpu\"]]}");
	has(body, "HostConfig/DeviceRequests/1",
	    "{\"Driver\":\"cdi\",\"Count\":0,\"DeviceIDs\":"
	    "[\"nvidia.com/gpu=0\",\"nvidia.com/gpu=1\"],"
	    "\"Capabilities\":[[]]}");
	has(body, "HostConfig/Devices/0/PathOnHost", "\"/lab/dev/x0\"");
	has(body, "HostConfig/Devices/0/PathInContainer", "\"/dev/x0\"");
	container_spec_hash(&ordered, hash, &err);
	snprintf(quoted, sizeof(quoted), "\"%s\"", hash);
	has(body, "Labels/regatta.spec", quoted);
	cJSON_Delete(body);
	ok(!container_body(&spec, &place, &err),
	   "a node that is not below /dev needs a root of its own");
	lab.device_root = "/lab/de";
	ok(!container_body(&spec, &lab, &err),
	   "a root is a folder, not the beginning of a name");
	strings_clear(&c->device_nodes);
	c->runtime = (char *)"../x y";
	refused(&spec, "runtime: \"../x y\" is not valid");
	c->runtime = NULL;
	strings_add(&requests[1].ids, "a b", &err);
	refused(&spec, "requests: ids: \"a b\" is not valid");
	for (size_t i = 0; i < 2; i++) {
		strings_clear(&requests[i].ids);
		strings_clear(&requests[i].capabilities);
	}
	strings_clear(&c->engine_env);
	is(CONTAINER_INIT_RUN, INIT_RUN, "regatta-init runs tools by that");
	is(CONTAINER_IN, INIT_IN, "and reads its orders there");
	is(CONTAINER_OUT, INIT_OUT, "and writes there");
}

static void names(void)
{
	struct task_spec spec = plain();
	char name[CONTAINER_NAME_MAX], other[CONTAINER_NAME_MAX];
	char longest[300];

	container_name(&spec, "lab", name);
	is(name, "regatta-lab-17-2-3",
	   "a name says cluster, job, attempt and "
	   "rank");
	container_name(&spec, "a b", name);
	ok(!strncmp(name, "regatta-a-b-", 12) && !strcmp(name + 20, "-17-2-3"),
	   "a strange cluster is made safe: %s", name);
	container_name(&spec, "a/b", other);
	ok(strcmp(name, other) != 0, "and stays apart from others: %s", other);
	memset(longest, 'x', sizeof(longest));
	longest[299] = 0;
	spec.job = UINT64_MAX;
	spec.attempt = spec.rank = UINT32_MAX;
	container_name(&spec, longest, name);
	ok(strlen(name) < CONTAINER_NAME_MAX - 1 &&
		   strstr(name, "-18446744073709551615-4294967295-4294967295"),
	   "the longest name fits: %s", name);
}

static void hashes(void)
{
	struct task_spec spec = plain();
	char one[CONTAINER_HASH_SIZE], two[CONTAINER_HASH_SIZE];

	container_spec_hash(&spec, one, NULL);
	container_spec_hash(&spec, two, NULL);
	ok(strlen(one) == 64 && !strcmp(one, two),
	   "the same spec has the same hash");
	spec.container.memory_bytes = 1;
	container_spec_hash(&spec, two, NULL);
	ok(strcmp(one, two) != 0, "another spec has another");
}

static void filters(void)
{
	struct strings labels = { 0 };

	container_filter("lab", "n1", &labels, NULL);
	ok(labels.count == 2 &&
		   !strcmp(labels.items[0], "regatta.cluster=lab") &&
		   !strcmp(labels.items[1], "regatta.node=n1"),
	   "the filter names cluster and node");
	strings_clear(&labels);
}

int main(void)
{
	tap_begin(20);
	plain_body();
	full_body();
	bounded_body();
	refused_lists();
	refused_fields();
	refused_mounts();
	code_tree();
	refused_places();
	devices();
	names();
	hashes();
	filters();
	return tap_done();
}
