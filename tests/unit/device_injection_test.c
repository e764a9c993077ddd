/* device_injection_test.c - what a container gets for its devices.
 */
#include "protocol/base/file.h"
#include "agent/devices/device_injection.h"
#include "tests/tap.h"
#include "tests/unit/hardware_lab.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* A list as "a b c", the lab's folder written as @. */
static char *joined(const struct strings *list, const struct lab *lab)
{
	char *text = NULL;
	size_t size, skip = strlen(lab->folder);
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < list->count; i++) {
		bool below = !strncmp(list->items[i], lab->folder, skip);

		fprintf(out, "%s%s%s", i ? " " : "", below ? "@" : "",
			list->items[i] + (below ? skip : 0));
	}
	fclose(out);
	return text;
}

static void list_is(const struct strings *list, const struct lab *lab,
		    const char *want, const char *name)
{
	owned_free char *got = joined(list, lab);

	is(got, want, "%s", name);
}

static void spec_clear(struct container_spec *spec)
{
	codec_clear(&container_spec_schema, spec);
}
OWNED_VALUE(struct container_spec, spec_clear)

static struct engine_features features(const char *text)
{
	struct engine_features features = { 0 };
	cJSON *info = cJSON_Parse(text);

	engine_features_read(info, &features, NULL);
	cJSON_Delete(info);
	return features;
}

static void is_isolation(const char *info, const char *want, const char *what)
{
	owned(engine_features_clear) struct engine_features got =
		features(info);

	is(got.isolation, want, "%s", what);
}

static void test_isolation(void)
{
	is_isolation("{\"SecurityOptions\": [\"name=apparmor\", "
		     "\"name=seccomp,profile=default\"]}",
		     NULL, "an engine whose root is the host's root");
	is_isolation("{\"SecurityOptions\": [\"name=seccomp,profile=default\", "
		     "\"name=userns\"]}",
		     "userns-remap", "one that maps users is known");
	is_isolation("{\"SecurityOptions\": [\"name=userns\", "
		     "\"name=rootless\"], \"BuildahVersion\": \"1\"}",
		     "rootless", "so is one without root");
	is_isolation("{\"SecurityOptions\": [1, null, \"name=usernsx\"]}", NULL,
		     "other words mean nothing");
}

static void is_unlimited(const char *info, const char *podman, const char *want,
			 const char *what)
{
	owned(engine_features_clear) struct engine_features got =
		features(info);
	cJSON *answer = cJSON_Parse(podman);
	char text[64] = "";

	is_int(engine_features_podman(answer, &got, NULL), 0, "%s", what);
	cJSON_Delete(answer);
	for (size_t i = 0; i < got.unlimited.count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s ", got.unlimited.items[i]);
	is(text, want, "%s", what);
}

static void test_limits(void)
{
	is_unlimited("{\"MemoryLimit\": true, \"CpuCfsQuota\": true}", "{}", "",
		     "an engine that limits all");
	is_unlimited("{\"MemoryLimit\": false, \"PidsLimit\": false}", "{}",
		     "memory pids ", "Docker says what it cannot limit");
	is_unlimited("{\"MemoryLimit\": true}",
		     "{\"host\": {\"security\": {\"rootless\": true}, "
		     "\"cgroupControllers\": [\"memory\", 1, \"pids\"]}}",
		     "cpu ", "Podman says what its user was delegated");
	is_unlimited("{}",
		     "{\"host\": {\"security\": {\"rootless\": true}, "
		     "\"cgroupControllers\": []}}",
		     "memory cpu pids ", "with cgroups of version 1 nothing");
	is_unlimited("{}",
		     "{\"host\": {\"security\": {\"rootless\": false}, "
		     "\"cgroupControllers\": []}}",
		     "", "root's Podman limits all");
}

/* Devices of the lab, found with these samples. */
struct machine {
	struct lab lab;
	struct profile *profile;
	struct devices devices;
	const struct device_info *chosen[8];
	struct engine_features features;
	struct device_injection needs;
};

static void machine_find(struct machine *machine, const struct samples *monitor)
{
	char why[256];

	devices_find(machine->profile, &machine->lab.roots, monitor, NULL, NULL,
		     &machine->devices, why, sizeof(why), NULL);
	for (size_t i = 0; i < machine->devices.count; i++)
		machine->chosen[i] = &machine->devices.list[i];
	machine->needs = (struct device_injection){
		.profile = machine->profile,
		.roots = &machine->lab.roots,
		.features = &machine->features,
		.devices = machine->chosen,
		.count = machine->devices.count,
		.whole = true,
	};
}

static void machine_clear(struct machine *machine)
{
	engine_features_clear(&machine->features);
	devices_clear(&machine->devices);
	profile_free(machine->profile);
	lab_end(&machine->lab);
}
OWNED_VALUE(struct machine, machine_clear)

/* Two cards whose minor numbers are crossed. */
static void nvidia_make(struct machine *machine)
{
	static const char *const bus[] = { "0000:07:00.0", "0000:86:00.0" };
	struct device_sample rows[2] = { 0 };
	struct samples monitor = { .rows = rows, .count = 2 };
	char path[128];

	*machine = (struct machine){ 0 };
	lab_begin(&machine->lab);
	machine->profile = lab_profile("nvidia");
	for (int i = 0; i < 2; i++) {
		lab_pci(&machine->lab, bus[i], "10de", "20b2", "030200", i);
		snprintf(path, sizeof(path),
			 "/proc/driver/nvidia/gpus/%s/information", bus[i]);
		lab_file(&machine->lab, path, "Device Minor: %d\n", 1 - i);
		snprintf(path, sizeof(path), "/dev/nvidia%d", i);
		lab_node(&machine->lab, path);
		snprintf(rows[i].bus_id, sizeof(rows[i].bus_id), "%s", bus[i]);
		snprintf(rows[i].uuid, sizeof(rows[i].uuid), "GPU-%d", i);
	}
	lab_node(&machine->lab, "/dev/nvidiactl");
	lab_node(&machine->lab, "/dev/nvidia-uvm");
	machine_find(machine, &monitor);
}

static void plain_nodes(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	struct error err = { 0 };

	nvidia_make(&machine);
	ok(device_injection_apply(&machine.needs, &spec, &err) == 0,
	   "needs are met %s", err.text);
	list_is(&spec.device_nodes, &machine.lab,
		"@/dev/nvidia1:/dev/nvidia1 @/dev/nvidia0:/dev/nvidia0 "
		"@/dev/nvidiactl:/dev/nvidiactl "
		"@/dev/nvidia-uvm:/dev/nvidia-uvm",
		"nodes by minor, shared ones, no optional ones that are not "
		"there; inside where they belong");
	list_is(&spec.env, &machine.lab,
		"CUDA_VISIBLE_DEVICES=0,1 "
		"NVIDIA_DRIVER_CAPABILITIES=compute,utility "
		"CUDA_DEVICE_ORDER=PCI_BUS_ID "
		"NCCL_SOCKET_IFNAME=${INTERFACE}",
		"variables count from 0 inside");
	is_int((long long)(spec.shm_bytes >> 30), 32,
	       "shm as the profile says");
	ok(!spec.runtime && !spec.requests_count,
	   "no runtime, no request: the engine has neither");
	list_is(&spec.engine_env, &machine.lab, "",
		"nor a selector, which a plain runtime does not read");
}

/* A default runtime that reads the selector of an image. */
static void other_runtime(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };

	nvidia_make(&machine);
	machine.features = features("{\"DefaultRuntime\": \"own\"}");
	device_injection_apply(&machine.needs, &spec, NULL);
	list_is(&spec.engine_env, &machine.lab, "NVIDIA_VISIBLE_DEVICES=void",
		"the default runtime gives nothing by the image's own value");
}

static void no_device(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };

	nvidia_make(&machine);
	machine.needs.count = 0;
	machine.features = features("{\"Runtimes\": {\"nvidia\": {}},"
				    "\"DefaultRuntime\": \"nvidia\"}");
	device_injection_apply(&machine.needs, &spec, NULL);
	list_is(&spec.engine_env, &machine.lab, "NVIDIA_VISIBLE_DEVICES=void",
		"nor does it if there is no device");
}

static void one_device(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	struct error err = { 0 };

	nvidia_make(&machine);
	lab_node(&machine.lab, "/dev/nvidia-uvm-tools");
	lab_node(&machine.lab, "/dev/nvidia-caps-imex-channels/channel0");
	lab_node(&machine.lab, "/dev/infiniband/uverbs0");
	machine.needs.devices = &machine.chosen[1];
	machine.needs.count = 1;
	machine.needs.whole = false;
	ok(device_injection_apply(&machine.needs, &spec, &err) == 0,
	   "one device %s", err.text);
	list_is(&spec.device_nodes, &machine.lab,
		"@/dev/nvidia0:/dev/nvidia0 @/dev/nvidiactl:/dev/nvidiactl "
		"@/dev/nvidia-uvm:/dev/nvidia-uvm "
		"@/dev/nvidia-uvm-tools:/dev/nvidia-uvm-tools "
		"@/dev/nvidia-caps-imex-channels/channel0:"
		"/dev/nvidia-caps-imex-channels/channel0",
		"only its own node, optional ones that are there, no RDMA");
	is(spec.env.items[0], "CUDA_VISIBLE_DEVICES=0", "it is 0 inside");
}

static void asked(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };

	nvidia_make(&machine);
	lab_node(&machine.lab, "/dev/infiniband/uverbs0");
	machine.needs.devices = &machine.chosen[1];
	machine.needs.count = 1;
	machine.needs.whole = false;
	strings_add(&spec.device_nodes, "/dev/infiniband/*", NULL);
	strings_add(&spec.device_nodes, "/dev/none*", NULL);
	device_injection_apply(&machine.needs, &spec, NULL);
	list_is(&spec.device_nodes, &machine.lab,
		"@/dev/infiniband/uverbs0:/dev/infiniband/uverbs0 "
		"@/dev/nvidia0:/dev/nvidia0 @/dev/nvidiactl:/dev/nvidiactl "
		"@/dev/nvidia-uvm:/dev/nvidia-uvm",
		"but those that the job asks for and that are there");
}

static void rdma(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };

	nvidia_make(&machine);
	strings_add(&spec.ulimits, "stack=8388608", NULL);
	lab_node(&machine.lab, "/dev/infiniband/uverbs1");
	lab_node(&machine.lab, "/dev/infiniband/uverbs0");
	lab_node(&machine.lab, "/dev/infiniband/rdma_cm");
	lab_node(&machine.lab, "/dev/infiniband/other");
	device_injection_apply(&machine.needs, &spec, NULL);
	list_is(&spec.capabilities, &machine.lab, "IPC_LOCK",
		"a whole node comes with RDMA and the right to pin memory");
	list_is(&spec.ulimits, &machine.lab, "stack=8388608 memlock=-1",
		"and no limit to it; the sweep's own limits stay");
	spec.device_nodes.items += 4;
	spec.device_nodes.count -= 4;
	list_is(&spec.device_nodes, &machine.lab,
		"@/dev/infiniband/rdma_cm:/dev/infiniband/rdma_cm "
		"@/dev/infiniband/uverbs0:/dev/infiniband/uverbs0 "
		"@/dev/infiniband/uverbs1:/dev/infiniband/uverbs1",
		"its nodes");
	spec.device_nodes.items -= 4;
	spec.device_nodes.count += 4;
}

static void missing(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	struct error err = { 0 };
	char want[300];

	nvidia_make(&machine);
	lab_remove(&machine.lab, "/dev/nvidia-uvm");
	ok(device_injection_apply(&machine.needs, &spec, &err) < 0 &&
		   err.code == ENOENT,
	   "a shared node that is not there is an error");
	snprintf(want, sizeof(want),
		 "nvidia needs: %s/nvidia-uvm: No such file or directory",
		 machine.lab.dev);
	is(err.text, want, "that names it");
	spec_clear(&spec);
	lab_node(&machine.lab, "/dev/nvidia-uvm");
	lab_remove(&machine.lab, "/dev/nvidia0");
	lab_file(&machine.lab, "/dev/nvidia0", "no node");
	device_injection_apply(&machine.needs, &spec, &err);
	snprintf(want, sizeof(want), "device 1: %s/nvidia0: not a device node",
		 machine.lab.dev);
	is(err.text, want, "so is a file in the place of a node");
	spec_clear(&spec);
	lab_remove(&machine.lab, "/dev/nvidia0");
	lab_link(&machine.lab, "/dev/nvidia0", "/dev/null");
	device_injection_apply(&machine.needs, &spec, &err);
	snprintf(want, sizeof(want),
		 "device 1: %s/nvidia0: leads to /dev/null, outside of %s",
		 machine.lab.dev, machine.lab.dev);
	is(err.text, want, "and a link out of the device root");
}

static void runtime(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	owned(spec_clear) struct container_spec own = { 0 };

	nvidia_make(&machine);
	machine.features = features("{\"Runtimes\": {\"runc\": {}, "
				    "\"nvidia\": {\"path\": \"x\"}}}");
	device_injection_apply(&machine.needs, &spec, NULL);
	is(spec.runtime, "nvidia", "the vendor's runtime is used");
	list_is(&spec.engine_env, &machine.lab, "NVIDIA_VISIBLE_DEVICES=0,1",
		"and told which devices, where it can read it");
	ok(spec.device_nodes.count == 4 && !spec.requests_count,
	   "with the nodes beside it, and no request");
	own.runtime = strdup("kata");
	device_injection_apply(&machine.needs, &own, NULL);
	ok(!strcmp(own.runtime, "kata") && !own.engine_env.count,
	   "a runtime that the sweep names is left alone");
}

/* What it would ignore without a word it is not asked for. */
static void podman(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };

	nvidia_make(&machine);
	machine.features = features(
		"{\"BuildahVersion\": \"1.28.2\", \"Runtimes\": {\"nvidia\": "
		"{}}, \"DiscoveredDevices\": [{\"Source\": \"cdi\", \"ID\": "
		"\"nvidia.com/gpu=0\"}, {\"Source\": \"cdi\", \"ID\": "
		"\"nvidia.com/gpu=1\"}]}");
	device_injection_apply(&machine.needs, &spec, NULL);
	ok(!spec.runtime && !spec.requests_count &&
		   spec.device_nodes.count == 4,
	   "Podman gets device nodes, and neither runtime nor request");
	list_is(&spec.engine_env, &machine.lab, "NVIDIA_VISIBLE_DEVICES=0,1",
		"and the variable that a hook reads");
}

static void mounts_are(const struct cdi_mounts *mounts, const char *wanted,
		       const char *what)
{
	char text[300] = "";

	for (size_t i = 0; i < mounts->count; i++)
		text_append(text, sizeof(text), "%s %s %s, ",
			    mounts->items[i].kind, mounts->items[i].path,
			    mounts->items[i].write ? "rw" : "ro");
	is(text, wanted, "%s", what);
}

static void nodes_are(const struct cdi_nodes *nodes, const char *wanted,
		      const char *what)
{
	char text[300] = "";

	for (size_t i = 0; i < nodes->count; i++)
		text_append(text, sizeof(text), "%s %s %s, ",
			    nodes->items[i].device ? nodes->items[i].device
						   : "all",
			    nodes->items[i].path, nodes->items[i].in_path);
	is(text, wanted, "%s", what);
}

static void cdi(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	owned(spec_clear) struct container_spec other = { 0 };
	char folder[100], info[300];

	nvidia_make(&machine);
	lab_file(&machine.lab, "/cdi/nvidia.yaml",
		 "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n"
		 "- {name: \"0\", containerEdits: {}}\n- name: \"1\"\n"
		 "  containerEdits: {mounts: [{hostPath: /a, options: [x, ro]},"
		 " {hostPath: /b, options: [bind]}], deviceNodes: ["
		 "{path: /dev/n, hostPath: /dev/m}]}\n- name: all\n"
		 "containerEdits: {mounts: [{hostPath: /c}], "
		 "deviceNodes: [{path: /dev/c}]}\n");
	lab_file(&machine.lab, "/cdi/broken.json", "{{{{");
	lab_file(&machine.lab, "/cdi/notes.txt", "kind: nvidia.com/gpu");
	snprintf(folder, sizeof(folder), "%s/cdi", machine.lab.folder);
	snprintf(info, sizeof(info), "{\"CDISpecDirs\": [\"%s\", \"/none\"]}",
		 folder);
	machine.features = features(info);
	list_is(&machine.features.cdi, &machine.lab,
		"nvidia.com/gpu=0 nvidia.com/gpu=1 nvidia.com/gpu=all",
		"CDI devices are read from the engine's folders");
	mounts_are(&machine.features.cdi_mounts,
		   "nvidia.com/gpu /a ro, nvidia.com/gpu /b rw, "
		   "nvidia.com/gpu /c rw, ",
		   "and what they mount");
	nodes_are(&machine.features.cdi_nodes,
		  "nvidia.com/gpu=1 /dev/m /dev/n, all /dev/c /dev/c, ",
		  "and what nodes they make");
	device_injection_apply(&machine.needs, &spec, NULL);
	ok(spec.requests_count == 1 && !strcmp(spec.requests[0].driver, "cdi"),
	   "and asked for");
	list_is(&spec.requests[0].ids, &machine.lab,
		"nvidia.com/gpu=1 nvidia.com/gpu=0",
		"by a number that all are known by");
	engine_features_clear(&machine.features);
	machine.features = features(
		"{\"CDISpecDirs\": [], \"DiscoveredDevices\": ["
		"{\"Source\": \"cdi\", \"ID\": \"nvidia.com/gpu=GPU-0\"},"
		"{\"Source\": \"else\", \"ID\": \"nvidia.com/gpu=GPU-1\"}]}");
	device_injection_apply(&machine.needs, &other, NULL);
	ok(!other.requests_count,
	   "not when the engine does not have one for each");
}

/* The answer to GET /version of this Podman. */
static cJSON *podman_version(const char *version)
{
	char text[200];

	snprintf(text, sizeof(text),
		 "{\"Version\": \"%s\", \"Components\": [{\"Name\": "
		 "\"Podman Engine\"}]}",
		 version);
	return cJSON_Parse(text);
}

static void cdi_podman(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	owned(spec_clear) struct container_spec older = { 0 };
	owned(cJSON_Delete) cJSON *five = podman_version("5.4.0");
	owned(cJSON_Delete) cJSON *four = podman_version("5.3.9");
	char folder[100];
	const char *const folders[] = { folder, "/none", NULL };

	nvidia_make(&machine);
	lab_file(&machine.lab, "/cdi/nvidia.yaml",
		 "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\ndevices:\n"
		 "- name: \"0\"\n- name: \"1\"\n");
	snprintf(folder, sizeof(folder), "%s/cdi", machine.lab.folder);
	engine_features_clear(&machine.features);
	machine.features = features("{\"BuildahVersion\": \"1\"}");
	is_int(engine_features_add_cdi(four, folders, &machine.features, NULL),
	       0, "Podman before 5.4");
	device_injection_apply(&machine.needs, &older, NULL);
	ok(!older.requests_count, "is not asked for CDI devices");
	is_int(engine_features_add_cdi(five, folders, &machine.features, NULL),
	       0, "Podman 5.4");
	device_injection_apply(&machine.needs, &spec, NULL);
	ok(spec.requests_count == 1 && !strcmp(spec.requests[0].driver, "cdi"),
	   "is, by the descriptions that it reads");
}

static void hanging(void)
{
	static const struct {
		const char *version;
		bool hangs;
	} known[] = {
		{ "1.1.15", false },    { "1.2.9", false },
		{ "1.3.0", true },      { "1.3.5+ds1", true },
		{ "1.3.6+ds1", false }, { "1.4.1", true },
		{ "1.4.2", false },     { "2.3.0", false },
	};
	char text[200];

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		owned(cJSON_Delete) cJSON *version = NULL;

		snprintf(text, sizeof(text),
			 "{\"Components\": [{\"Name\": \"Engine\", \"Version\""
			 ": \"1.3.1\"}, {\"Name\": \"runc\", \"Version\": "
			 "\"%s\"}]}",
			 known[i].version);
		version = cJSON_Parse(text);
		ok(!engine_hanging_runc(version) == !known[i].hangs,
		   "runc %s %s", known[i].version,
		   known[i].hangs ? "can hang" : "does not hang");
	}
}

static void request(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec without = { 0 };
	owned(spec_clear) struct container_spec spec = { 0 };

	nvidia_make(&machine);
	profile_free(machine.profile);
	machine.needs.profile = machine.profile = lab_profile_text(
		"vendor: nvidia\n"
		"discover: {pci: {vendors: [\"10de\"]}, numbers: {minor: "
		"{order: bus}}}\n"
		"container: {nodes: {device: [\"/dev/nvidia{minor}\"]}, "
		"request: {driver: \"\", capabilities: [gpu], by: uuid, "
		"program: nvidia-hook}}\n");
	device_injection_apply(&machine.needs, &without, NULL);
	ok(!without.requests_count,
	   "a request needs the program that serves it");
	lab_file(&machine.lab, "/bin/nvidia-hook", "#!/bin/sh\n");
	device_injection_apply(&machine.needs, &spec, NULL);
	ok(spec.requests_count == 1 && !*spec.requests[0].driver,
	   "with it the driver is asked");
	list_is(&spec.requests[0].ids, &machine.lab, "GPU-0 GPU-1", "by uuid");
	list_is(&spec.requests[0].capabilities, &machine.lab, "gpu",
		"for what the profile says");
}

static void sweep_wins(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };

	nvidia_make(&machine);
	strings_add(&spec.env, "CUDA_VISIBLE_DEVICES=1", NULL);
	strings_add(&spec.env, "CUDA_DEVICE_ORDER_X=1", NULL);
	strings_add(&spec.ulimits, "memlock=65536", NULL);
	strings_add(&spec.device_nodes, "/dev/zero:/dev/nvidiactl:r", NULL);
	spec.shm_bytes = 1 << 20;
	device_injection_apply(&machine.needs, &spec, NULL);
	list_is(&spec.env, &machine.lab,
		"CUDA_VISIBLE_DEVICES=1 CUDA_DEVICE_ORDER_X=1 "
		"NVIDIA_DRIVER_CAPABILITIES=compute,utility "
		"CUDA_DEVICE_ORDER=PCI_BUS_ID "
		"NCCL_SOCKET_IFNAME=${INTERFACE}",
		"the sweep's variables win");
	list_is(&spec.ulimits, &machine.lab, "memlock=65536 stack=67108864",
		"its limits, too");
	is_int((long long)spec.shm_bytes, 1 << 20, "and its shm");
	is(spec.device_nodes.items[0], "/dev/zero:/dev/nvidiactl:r",
	   "and its nodes");
	is_int((long long)spec.device_nodes.count, 4, "in their place");
}

static void twice(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	owned_free char *once = NULL;
	owned_free char *again = NULL;
	cJSON *json;

	nvidia_make(&machine);
	device_injection_apply(&machine.needs, &spec, NULL);
	json = codec_object(&container_spec_schema,
			    (spec.image = strdup("x"), &spec), NULL);
	once = cJSON_PrintUnformatted(json);
	cJSON_Delete(json);
	device_injection_apply(&machine.needs, &spec, NULL);
	json = codec_object(&container_spec_schema, &spec, NULL);
	again = cJSON_PrintUnformatted(json);
	cJSON_Delete(json);
	is(again, once, "needs that are met already change nothing");
}

/* A vendor with a folder of nodes, groups, mounts, host numbers. */
static void odd_make(struct machine *machine)
{
	*machine = (struct machine){ 0 };
	lab_begin(&machine->lab);
	machine->profile = lab_profile_text(
		"vendor: odd\n"
		"discover: {pci: {vendors: [\"1111\"]}, numbers: {card: {glob: "
		"\"/sys/bus/pci/devices/{bus}/drm/card*\"}}}\n"
		"container:\n"
		"  nodes: {device: [\"/dev/odd{card}\"], shared: [/dev/dri], "
		"optional: [\"/dev/odd_ipc{card}\"]}\n"
		"  groups: [video, \"77\", regatta-no-such-group]\n"
		"  capabilities: [SYS_PTRACE]\n"
		"  security: [seccomp=unconfined]\n"
		"  ipc: host\n"
		"  mounts: [{host: /etc, container: /odd/etc, read_only: true},"
		" {host: /no/such, container: /odd/none, optional: true}]\n"
		"visible: [{name: ODD_DEVICES, numbering: host, number: card},"
		" {name: ODD_INSIDE, numbering: container}]\n");
	for (int i = 3; i < 5; i++) {
		char bus[16], path[128];

		snprintf(bus, sizeof(bus), "0000:%02x:00.0", i);
		lab_pci(&machine->lab, bus, "1111", "0001", "120000", 0);
		snprintf(path, sizeof(path),
			 "/sys/bus/pci/devices/%s/drm/card%d/dev", bus, i);
		lab_file(&machine->lab, path, "x");
		snprintf(path, sizeof(path), "/dev/odd%d", i);
		lab_node(&machine->lab, path);
	}
	lab_node(&machine->lab, "/dev/odd_ipc4");
	lab_node(&machine->lab, "/dev/dri/renderD128");
	lab_node(&machine->lab, "/dev/dri/card1");
	lab_link(&machine->lab, "/dev/dri/by-path/x", "../card1");
	lab_file(&machine->lab, "/dev/dri/readme", "x");
	machine_find(machine, NULL);
}

static void folders_and_more(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	const struct group *video = getgrnam("video");
	struct error err = { 0 };
	char groups[100], path[100];

	odd_make(&machine);
	snprintf(path, sizeof(path), "%s/odd4", machine.lab.dev);
	if (chown(path, 0, 4711) < 0 || chmod(path, 0660) < 0)
		printf("# cannot change %s\n", path);
	ok(device_injection_apply(&machine.needs, &spec, &err) == 0,
	   "needs are met %s", err.text);
	list_is(&spec.device_nodes, &machine.lab,
		"@/dev/odd3:/dev/odd3 @/dev/odd4:/dev/odd4 "
		"@/dev/dri/card1:/dev/dri/card1 "
		"@/dev/dri/renderD128:/dev/dri/renderD128 "
		"@/dev/odd_ipc4:/dev/odd_ipc4",
		"a folder is the nodes in it; an optional node of one device");
	list_is(&spec.env, &machine.lab, "ODD_DEVICES=3,4 ODD_INSIDE=0,1",
		"host numbers and inner ones");
	if (video) {
		snprintf(groups, sizeof(groups), "4711 %u 77", video->gr_gid);
		list_is(&spec.groups, &machine.lab, groups,
			"groups by the host's numbers; the node's own; none "
			"that the host does not have");
	}
	list_is(&spec.security, &machine.lab, "seccomp=unconfined", "security");
	list_is(&spec.capabilities, &machine.lab, "SYS_PTRACE", "capabilities");
	is(spec.ipc, "host", "ipc");
	ok(spec.mounts_count == 1 && !strcmp(spec.mounts[0].host, "/etc") &&
		   spec.mounts[0].read_only,
	   "mounts, but for the optional one that is not there");
	ok(device_injection_probe(&machine.needs, &err) == 0,
	   "all nodes can be opened");
	unlink(path);
	ok(device_injection_probe(&machine.needs, &err) < 0,
	   "one that is gone cannot");
	mknod(path, S_IFCHR | 0600, makedev(4095, 1));
	ok(device_injection_probe(&machine.needs, &err) < 0 &&
		   err.code == ENXIO,
	   "nor one without a driver: %s", err.text);
}

static void without_host(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	struct error err = { 0 };

	odd_make(&machine);
	machine.needs.roots = NULL;
	ok(device_injection_apply(&machine.needs, &spec, &err) == 0,
	   "needs can be told without a host %s", err.text);
	list_is(&spec.device_nodes, &machine.lab,
		"/dev/odd3:/dev/odd3 /dev/odd4:/dev/odd4 /dev/dri:/dev/dri "
		"/dev/odd_ipc3:/dev/odd_ipc3 /dev/odd_ipc4:/dev/odd_ipc4",
		"with the paths as they are written");
	is_int((long long)spec.mounts_count, 2, "and all mounts");
}

static void whole_only(void)
{
	owned(machine_clear) struct machine machine;
	owned(spec_clear) struct container_spec spec = { 0 };
	struct error err = { 0 };

	nvidia_make(&machine);
	profile_free(machine.profile);
	machine.needs.profile = machine.profile = lab_profile_text(
		"vendor: nvidia\n"
		"discover: {pci: {vendors: [\"10de\"]}, numbers: {minor: "
		"{order: bus}}}\n"
		"container: {nodes: {device: [\"/dev/nvidia{minor}\"]}, "
		"runtime: nvidia, selector: {name: X, by: all}}\n");
	machine.features = features("{\"Runtimes\": {\"nvidia\": {}}}");
	machine.needs.whole = false;
	ok(device_injection_apply(&machine.needs, &spec, &err) < 0,
	   "a runtime that gives all devices cannot give some: %s", err.text);
	spec_clear(&spec);
	machine.needs.whole = true;
	device_injection_apply(&machine.needs, &spec, NULL);
	list_is(&spec.engine_env, &machine.lab, "X=all", "it can give all");
}

int main(void)
{
	tap_begin(72);
	test_isolation();
	test_limits();
	if (!lab_nodes()) {
		printf("# device nodes cannot be made here\n");
		ok(true, "nothing can be tried here");
		return tap_done();
	}
	plain_nodes();
	other_runtime();
	no_device();
	one_device();
	asked();
	rdma();
	missing();
	runtime();
	podman();
	cdi();
	cdi_podman();
	hanging();
	request();
	sweep_wins();
	twice();
	folders_and_more();
	without_host();
	whole_only();
	return tap_done();
}
