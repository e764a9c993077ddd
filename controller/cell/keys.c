/* keys.c - the keys of a sweep file: which there are, what each may hold, and
 * where it goes.
 */
#include "controller/cell/keys.h"

#include "controller/cell/cell_data.h"

#include <inttypes.h>
#include <string.h>

#define MILLION ((uint64_t)1000000)
#define DAY_MS ((uint64_t)86400000)
#define TIB ((uint64_t)1 << 40)

/* The place of a member; one of another type than `ctype` does not compile. */
#define PLACE(ctype, member)                                                   \
	(offsetof(struct cell, member) +                                       \
	 0 * sizeof(char[__builtin_types_compatible_p(                         \
				 ctype,                                        \
				 __typeof__(((struct cell *)0)->member))       \
				 ? 1                                           \
				 : -1]))

static const char *const networks[] = { "host", "none", "bridge", NULL };
static const char *const ipcs[] = {
	"private", "host", "shareable", "none", NULL,
};
static const char *const recomputes[] = { "none", "selective", "full", NULL };
static const char *const same_drivers[] = { "warn", "require", NULL };
static const char *const switches[] = { "on", "off", NULL };
static const char *const foreign[] = { "refuse", "warn", NULL };

/* clang-format off */
const struct key_rule key_rules[KEYS] = {
	[KEY_VENDOR] = { "vendor", TYPE_TEXT, PLACE(char *, spec.vendor), 1, 64, "cpu", NULL,
		NULL,
		"The vendor of the nodes." },
	[KEY_CHIP] = { "chip", TYPE_OTHER, 0, 0, 0, NULL, NULL,
		"name",
		"The chip, as in the profile of the vendor." },
	[KEY_NODES] = { "nodes", TYPE_U32, PLACE(uint32_t, shape.nodes), 1, 4096, "1", NULL,
		NULL,
		"Nodes of a job." },
	[KEY_DEVICES] = { "devices", TYPE_U32, PLACE(uint32_t, shape.devices), 0, 1024, "0", NULL,
		NULL,
		"Devices per node; 0: all of them." },
	[KEY_SHARED] = { "shared", TYPE_BOOL, PLACE(bool, spec.shared), 0, 0, "false", NULL,
		NULL,
		"Use single devices instead of whole nodes." },
	[KEY_FRAMEWORK] = { "framework", TYPE_OTHER, 0, 0, 0, NULL, NULL,
		"name",
		"The framework, which launches the training and describes its log." },
	[KEY_IMAGE] = { "image", TYPE_FILLED, 0, 1, 512, NULL, NULL,
		NULL,
		"The container image." },
	[KEY_BUILD] = { "build", TYPE_TEXT, PLACE(char *, spec.container.build), 1, 1024, NULL, NULL,
		NULL,
		"The folder from which the image is built." },
	[KEY_COMMAND] = { "command", TYPE_OTHER, 0, 0, 0, NULL, NULL,
		"[word, ...]",
		"The command of each node." },
	[KEY_PREPARE] = { "prepare", TYPE_OTHER, 0, 0, 0, NULL, NULL,
		"[word, ...]",
		"A command that runs once on each node, before the command." },
	[KEY_NEEDS] = { "needs", TYPE_OTHER, 0, 1, 4096, NULL, NULL,
		"[path, ...]",
		"Paths that must exist on each node." },
	[KEY_CASE] = { "case", TYPE_OTHER, 0, 0, 0, NULL, NULL,
		"text",
		"The case string of FlagPerf." },
	[KEY_MOUNTS] = { "mounts", TYPE_OTHER, 0, 0, 0, NULL, NULL,
		"[{host, container, read_only}, ...]",
		"Paths of the node that are mounted into the container." },
	[KEY_FILES] = { "files", TYPE_OTHER, 0, 0, 65536, NULL, NULL,
		"[{name, text}, ...]",
		"Small files in the container." },
	[KEY_WORKDIR] = { "workdir", TYPE_FILLED, 0, 1, 4096, NULL, NULL,
		NULL,
		"The working folder of the command." },
	[KEY_USER] = { "user", TYPE_TEXT, PLACE(char *, spec.container.user), 1, 64, NULL, NULL,
		NULL,
		"The user of the command." },
	[KEY_NETWORK] = { "network", TYPE_WORD, PLACE(char *, spec.container.network), 0, 0, "host", networks,
		NULL,
		"The network of the container." },
	[KEY_IPC] = { "ipc", TYPE_OTHER, 0, 0, 0, "private", ipcs,
		NULL,
		"The IPC namespace of the container." },
	[KEY_SHM] = { "shm", TYPE_SIZE, PLACE(uint64_t, spec.container.shm_bytes), 0, 64 * TIB, NULL, NULL,
		NULL,
		"The size of shared memory." },
	[KEY_MEMORY] = { "memory", TYPE_SIZE, PLACE(uint64_t, spec.container.memory_bytes), 0, 64 * TIB, NULL, NULL,
		NULL,
		"Memory limit; 0: none." },
	[KEY_CPUS] = { "cpus", TYPE_DOUBLE, PLACE(double, spec.container.cpus), 0, 65536, NULL, NULL,
		NULL,
		"CPU limit in processors; 0: none." },
	[KEY_CAPABILITIES] = { "capabilities", TYPE_OTHER, 0, 0, 64, NULL, NULL,
		"[name, ...]",
		"Linux capabilities." },
	[KEY_GROUPS] = { "groups", TYPE_OTHER, 0, 0, 64, NULL, NULL,
		"[name, ...]",
		"Supplementary groups." },
	[KEY_DEVICE_NODES] = { "device_nodes", TYPE_OTHER, 0, 0, 1024, NULL, NULL,
		"[/dev/x[:/dev/y][:rwm], ...]",
		"Device nodes of the container." },
	[KEY_SECURITY] = { "security", TYPE_OTHER, 0, 0, 1024, NULL, NULL,
		"[option, ...]",
		"Security options." },
	[KEY_PROCESSES] = { "processes", TYPE_OTHER, 0, 1, 64, NULL, NULL,
		"device, or an integer, 1 to 64",
		"Processes that are started per node." },
	[KEY_REPEAT] = { "repeat", TYPE_U32, PLACE(uint32_t, repeats), 1, 1000, "1", NULL,
		NULL,
		"Number of runs of each cell." },
	[KEY_PRIORITY] = { "priority", TYPE_I64, PLACE(int64_t, spec.priority), 0, MILLION, "0", NULL,
		NULL,
		"Jobs with larger values run first." },
	[KEY_TIMEOUT] = { "timeout", TYPE_DURATION, PLACE(uint64_t, spec.timeout_ms), 0, 365 * DAY_MS, NULL, NULL,
		NULL,
		"The job fails if its commands run longer; 0: no limit." },
	[KEY_HANG] = { "hang", TYPE_PATIENCE, PLACE(uint64_t, spec.hang_ms), 1000, 365 * DAY_MS, NULL, NULL,
		NULL,
		"The job fails if it shows no activity for this time." },
	[KEY_RETRIES] = { "retries", TYPE_U32, PLACE(uint32_t, spec.retries), 0, 100, "2", NULL,
		NULL,
		"Further attempts after a failure of a node, an image or an engine." },
	[KEY_GRACE] = { "grace", TYPE_GRACE, PLACE(uint32_t, spec.container.grace_ms), 0, 3600000, "10s", NULL,
		NULL,
		"Time between SIGTERM and SIGKILL when a job is stopped." },
	[KEY_SSH] = { "ssh", TYPE_BOOL, PLACE(bool, spec.container.ssh), 0, 0, "false", NULL,
		NULL,
		"Allow ssh between the containers of the job." },
	[KEY_FOLLOW] = { "follow", TYPE_OTHER, 0, 1, 4000, NULL, NULL,
		"[pattern, ...]",
		"Files that are kept while they are written." },
	[KEY_RECORDER] = { "recorder", TYPE_CHOICE, PLACE(bool, spec.container.recorder_off), 0, 0, "on", switches,
		NULL,
		"Enable PyTorch's flight recorder and keep its dumps." },
	[KEY_LOG] = { "log", TYPE_OTHER, 0, 1, 64, NULL, NULL,
		"name, auto, or {rules: [...]}",
		"The format of the log, auto to detect it, or log rules." },
	[KEY_LOG_LIMIT] = { "log_limit", TYPE_SIZE, PLACE(uint64_t, spec.container.log_limit_bytes), 1, 64 * TIB, NULL, NULL,
		NULL,
		"Maximum size of the output of each node." },
	[KEY_WORKSPACE_PATH] = { "workspace.path", TYPE_OTHER, 0, 1, 4000, NULL, NULL,
		"folder",
		"A code tree that is sent with the sweep." },
	[KEY_WORKSPACE_IGNORE] = { "workspace.ignore", TYPE_OTHER, 0, 1, 1000, NULL, NULL,
		"[pattern, ...]",
		"Patterns of files that are not sent." },
	[KEY_WORKSPACE_CONTAINER] = { "workspace.container", TYPE_OTHER, 0, 1, 4000, "/workspace", NULL,
		"path",
		"The path of the code tree in the container." },
	[KEY_COLLECT] = { "collect", TYPE_OTHER, 0, 1, 4000, NULL, NULL,
		"[path, ...]",
		"Files that are kept after the command has ended." },
	[KEY_COLLECT_LIMIT] = { "collect_limit", TYPE_SIZE, PLACE(uint64_t, spec.container.collect_limit_bytes), 1, 64 * TIB, NULL, NULL,
		NULL,
		"Maximum size of the collected files of each node." },
	[KEY_WARMUP_STEPS] = { "warmup_steps", TYPE_U32, PLACE(uint32_t, spec.measure.warmup_steps), 0, 100 * MILLION, NULL, NULL,
		NULL,
		"Number of steps excluded from the results." },
	[KEY_MODEL] = { "model", TYPE_TEXT, PLACE(char *, spec.measure.model), 1, 128, NULL, NULL,
		NULL,
		"The model." },
	[KEY_PRECISION] = { "precision", TYPE_TEXT, PLACE(char *, spec.measure.precision), 1, 32, NULL, NULL,
		NULL,
		"The precision of the training: bf16, fp16, fp32 and others." },
	[KEY_STAGE] = { "stage", TYPE_TEXT, PLACE(char *, spec.measure.stage), 1, 64, NULL, NULL,
		NULL,
		"What the job trains, for the FLOPs per token." },
	[KEY_RECOMPUTE] = { "recompute", TYPE_WORD, PLACE(char *, spec.measure.recompute), 0, 0, NULL, recomputes,
		NULL,
		"Activation recomputation of the framework." },
	[KEY_SPREAD_PERCENT] = { "spread_percent", TYPE_DOUBLE, PLACE(double, spec.measure.spread_percent), 0, 100, NULL, NULL,
		NULL,
		"Repeats with a larger coefficient of variation are suspect." },
	[KEY_OPTIMIZER] = { "optimizer", TYPE_TEXT, PLACE(char *, optimizer), 1, 32, NULL, NULL,
		NULL,
		"The optimizer, for the memory estimate." },
	[KEY_CHECK_MEMORY] = { "check_memory", TYPE_BOOL, PLACE(bool, check_memory), 0, 0, "true", NULL,
		NULL,
		"Drop cells whose estimated memory exceeds that of their chip." },
	[KEY_AFTER] = { "after", TYPE_OTHER, 0, 1, 16, NULL, NULL,
		"{key: value, ...}",
		"The cells that must complete before this one starts." },
	[KEY_SAME_NODES] = { "same_nodes", TYPE_OTHER, 0, 0, 0, "true", NULL,
		"true or false",
		"Run on the nodes of the first job on which this one depends." },
	[KEY_SAME_DRIVER] = { "same_driver", TYPE_CHOICE, PLACE(bool, spec.same_driver), 0, 0, "warn", same_drivers,
		NULL,
		"Treat different drivers or chips as a warning or a failure." },
	[KEY_LABELS] = { "labels", TYPE_OTHER, 0, 1, KEY_LABELS_MAX, NULL, NULL,
		"[key=value, ...]",
		"Run only on nodes that have these labels." },
	[KEY_STRANGERS] = { "strangers", TYPE_CHOICE, PLACE(bool, spec.strangers), 0, 0, "refuse", foreign,
		NULL,
		"Treat a foreign process on the devices as a failure or a warning." },
	[KEY_UNTIL_CONFIDENCE] = { "until.confidence", TYPE_OTHER, 0, 0, 0, "0.95", NULL,
		"share",
		"Confidence level of the interval." },
	[KEY_UNTIL_WIDTH] = { "until.width", TYPE_OTHER, 0, 0, 0, NULL, NULL,
		"share",
		"Repeat until half the width of the interval is at most this share." },
	[KEY_UNTIL_MAX] = { "until.max", TYPE_OTHER, 0, 2, 1000, "10", NULL,
		"integer, 2 to 1000",
		"Maximum number of repeats." },
	[KEY_BATCH_MICRO] = { "batch.micro", TYPE_U32, PLACE(uint32_t, shape.micro), 1, MILLION, NULL, NULL,
		NULL,
		"Samples per device and micro step." },
	[KEY_BATCH_ACCUMULATE] = { "batch.accumulate", TYPE_U32, PLACE(uint32_t, shape.accumulate), 1, MILLION, NULL, NULL,
		NULL,
		"Micro steps per step." },
	[KEY_BATCH_SEQUENCE] = { "batch.sequence", TYPE_U32, PLACE(uint32_t, shape.sequence), 1, 1 << 30, NULL, NULL,
		NULL,
		"Tokens per sample." },
	[KEY_BATCH_GLOBAL] = { "batch.global", TYPE_U64, PLACE(uint64_t, shape.global), 1, MILLION * MILLION, NULL, NULL,
		NULL,
		"Samples per step." },
	[KEY_PARALLEL_TP] = { "parallel.tp", TYPE_U32, PLACE(uint32_t, shape.tp), 1, 65536, NULL, NULL,
		NULL,
		"Degree of tensor parallelism." },
	[KEY_PARALLEL_PP] = { "parallel.pp", TYPE_U32, PLACE(uint32_t, shape.pp), 1, 65536, NULL, NULL,
		NULL,
		"Degree of pipeline parallelism." },
	[KEY_PARALLEL_DP] = { "parallel.dp", TYPE_U32, PLACE(uint32_t, shape.dp), 1, 65536, NULL, NULL,
		NULL,
		"Degree of data parallelism." },
	[KEY_PARALLEL_CP] = { "parallel.cp", TYPE_U32, PLACE(uint32_t, shape.cp), 1, 65536, NULL, NULL,
		NULL,
		"Degree of context parallelism." },
	[KEY_PARALLEL_EP] = { "parallel.ep", TYPE_U32, PLACE(uint32_t, shape.ep), 1, 65536, NULL, NULL,
		NULL,
		"Degree of expert parallelism." },
	[KEY_PARALLEL_SP] = { "parallel.sp", TYPE_U32, PLACE(uint32_t, shape.sp), 1, 65536, NULL, NULL,
		NULL,
		"Degree of sequence parallelism." },
	[KEY_PARALLEL_SHARDING] = { "parallel.sharding", TYPE_U32, PLACE(uint32_t, shape.sharding), 1, 65536, NULL, NULL,
		NULL,
		"Degree of sharding." },
	[KEY_PARALLEL_STAGE] = { "parallel.stage", TYPE_U32, PLACE(uint32_t, shape.stage), 0, 3, NULL, NULL,
		NULL,
		"Stage of sharding." },
	[KEY_PARALLEL_VPP] = { "parallel.vpp", TYPE_U32, PLACE(uint32_t, shape.vpp), 1, 1024, NULL, NULL,
		NULL,
		"Interleaved stages per pipeline rank." },
	[KEY_PARALLEL_SPLIT] = { "parallel.split", TYPE_OTHER, 0, 1, 65536, NULL, NULL,
		"[layers, ...]",
		"Layers of each pipeline stage." },
};

const struct key_section key_sections[KEY_SECTIONS] = {
	{ "sweep", KEY_VENDOR, SHAPE_SWEEP, "name",
		"The name of the sweep." },
	{ "env", KEY_PREPARE, SHAPE_NAMES, "{NAME: value, ...}",
		"Environment variables." },
	{ "secrets", KEY_PREPARE, SHAPE_SWEEP, "{NAME: {from: env, file or stdin, as: variable or file}, ...}",
		"Variables and files whose values are not in the sweep file." },
	{ "workspace", KEY_PREPARE, SHAPE_KNOWN, "folder, or {path, ignore, container}",
		"A code tree that is sent with the sweep." },
	{ "ulimits", KEY_CAPABILITIES, SHAPE_NAMES, "{name: soft[:hard], ...}",
		"Resource limits." },
	{ "until", KEY_UNTIL_CONFIDENCE, SHAPE_KNOWN, "{width, confidence, max}",
		"Repeat until the rate is precise enough." },
	{ "batch", KEY_BATCH_MICRO, SHAPE_KNOWN, "{micro, accumulate, sequence, global}",
		"The batch of a step." },
	{ "parallel", KEY_PARALLEL_TP, SHAPE_KNOWN, "{tp, pp, dp, cp, ep, sp, sharding, stage, vpp, split}",
		"The parallel layout of the model." },
	{ "variables", KEYS, SHAPE_SWEEP, "{name: value, ...}",
		"User-defined variables." },
	{ "matrix", KEYS, SHAPE_SWEEP, "{key: [entry, ...], ...}",
		"The lists of values that are combined." },
	{ "include", KEYS, SHAPE_SWEEP, "[{...}, ...]",
		"Additional cells." },
	{ "flagperf", KEYS, SHAPE_SWEEP, "{tree, cases, ...}",
		"The cases of a FlagPerf checkout." },
	{ "exclude", KEYS, SHAPE_SWEEP, "[{...}, ...]",
		"Cells that are dropped." },
	{ "about", KEYS, SHAPE_SWEEP, "{task, dataset, framework, optimizations, columns}",
		"Texts for reports." },
	{ "descriptions", KEYS, SHAPE_SWEEP, "{frameworks, models, vendors}",
		"Files of an images folder that are sent with the sweep." },
	{ "align", KEYS, SHAPE_SWEEP, "{baseline, cells, from_step, tolerance}",
		"Compare the losses with those of a baseline." },
};
/* clang-format on */

/* Bytes of a path's first name. */
static size_t top_size(const char *path)
{
	return strcspn(path, ".");
}

enum key_shape key_shape(const char *name)
{
	if (!strcmp(name, key_rules[KEY_AFTER].path))
		return SHAPE_MAP;
	if (!strcmp(name, key_rules[KEY_LOG].path))
		return SHAPE_EITHER;
	for (size_t i = 0; i < KEY_SECTIONS; i++)
		if (!strcmp(name, key_sections[i].name))
			return key_sections[i].shape;
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(name, key_rules[i].path))
			return SHAPE_LEAF;
	return SHAPE_UNKNOWN;
}

void key_children(const char *name, const char *names[KEY_CHILDREN_MAX])
{
	size_t size = strlen(name), count = 0;

	for (size_t i = 0; i < KEYS && count < KEY_CHILDREN_MAX - 1; i++) {
		const char *path = key_rules[i].path;

		if (top_size(path) == size && path[size] &&
		    !memcmp(path, name, size))
			names[count++] = path + size + 1;
	}
	names[count] = NULL;
}

size_t key_tops(const char *names[KEY_TOPS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i <= KEYS; i++) {
		for (size_t k = 0; k < KEY_SECTIONS; k++)
			if (key_sections[k].before == i)
				names[count++] = key_sections[k].name;
		if (i < KEYS && !key_rules[i].path[top_size(key_rules[i].path)])
			names[count++] = key_rules[i].path;
	}
	names[count] = NULL;
	return count;
}

uint64_t cell_number(const struct cell *cell, size_t key)
{
	size_t place = key_rules[key].place;
	const void *at = (const char *)cell + place;

	if (place < offsetof(struct cell, shape) ||
	    place >= offsetof(struct cell, shape) + sizeof(cell->shape))
		return 0;
	return key_rules[key].type == TYPE_U64 ? *(const uint64_t *)at
					       : *(const uint32_t *)at;
}
