/* keys.c - the table of the keys of a sweep file. */
#include "controller/cell/keys.h"

#include "controller/cell/cell_data.h"

#include <inttypes.h>
#include <string.h>

#define MILLION ((uint64_t)1000000)
#define DAY_MS ((uint64_t)86400000)
#define TIB ((uint64_t)1 << 40)

/* The offset of a member; one of another type than `ctype` does not compile. */
#define PLACE(ctype, member)                                                   \
	(offsetof(struct cell, member) +                                       \
	 0 * sizeof(char[__builtin_types_compatible_p(                         \
				 ctype,                                        \
				 __typeof__(((struct cell *)0)->member))       \
				 ? 1                                           \
				 : -1]))

/* The type of a key, the member of the cell that it fills, and its limits. */
#define MEMBER(type_, ctype, member, least, most)                              \
	.type = TYPE_##type_, .place = PLACE(ctype, member), .min = (least),   \
	.max = (most)
#define U32(member, min, max) MEMBER(U32, uint32_t, member, min, max)
#define U64(member, min, max) MEMBER(U64, uint64_t, member, min, max)
#define I64(member, max) MEMBER(I64, int64_t, member, 0, max)
#define DOUBLE(member, min, max) MEMBER(DOUBLE, double, member, min, max)
#define BOOL(member) MEMBER(BOOL, bool, member, 0, 0)
#define DURATION(member, min, max) MEMBER(DURATION, uint64_t, member, min, max)
#define PATIENCE(member, min, max) MEMBER(PATIENCE, uint64_t, member, min, max)
#define GRACE(member, min, max) MEMBER(GRACE, uint32_t, member, min, max)
#define SIZE(member, min) MEMBER(SIZE, uint64_t, member, min, 64 * TIB)
#define TEXT(member, max) MEMBER(TEXT, char *, member, 1, max)
#define WORD(member, list) .words = (list), MEMBER(WORD, char *, member, 0, 0)
#define CHOICE(member, list) .words = (list), MEMBER(CHOICE, bool, member, 0, 0)
/* A key that a function reads. */
#define FILLED(most) .type = TYPE_FILLED, .max = (most)
#define LIMITED(form_, least, most)                                            \
	.form = (form_), .type = TYPE_OTHER, .min = (least), .max = (most)
#define OTHER(form_) LIMITED(form_, 0, 0)
#define WORDS(list) .words = (list), .type = TYPE_OTHER, .max = 0

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
	[KEY_VENDOR] = { "vendor", TEXT(spec.vendor, 64),
		"The vendor of the nodes.", "cpu" },
	[KEY_CHIP] = { "chip", OTHER("name"),
		"The chip, as in the profile of the vendor." },
	[KEY_NODES] = { "nodes", U32(shape.nodes, 1, 4096),
		"Nodes of a job.", "1" },
	[KEY_DEVICES] = { "devices", U32(shape.devices, 0, 1024),
		"Devices per node; 0: all of them.", "0" },
	[KEY_SHARED] = { "shared", BOOL(spec.shared),
		"Use single devices instead of whole nodes.", "false" },
	[KEY_FRAMEWORK] = { "framework", OTHER("name"),
		"The framework, which launches the training and describes its log." },
	[KEY_IMAGE] = { "image", FILLED(512), "The container image." },
	[KEY_BUILD] = { "build", TEXT(spec.container.build, 1024),
		"The folder from which the image is built." },
	[KEY_COMMAND] = { "command", OTHER("[word, ...]"),
		"The command of each node." },
	[KEY_PREPARE] = { "prepare", OTHER("[word, ...]"),
		"A command that runs once on each node, before the command." },
	[KEY_NEEDS] = { "needs", LIMITED("[path, ...]", 0, 4096),
		"Paths that must exist on each node." },
	[KEY_CASE] = { "case", OTHER("text"), "The case string of FlagPerf." },
	[KEY_MOUNTS] = { "mounts", OTHER("[{host, container, read_only}, ...]"),
		"Paths of the node that are mounted into the container." },
	[KEY_FILES] = { "files", LIMITED("[{name, text}, ...]", 0, 65536),
		"Small files in the container." },
	[KEY_WORKDIR] = { "workdir", FILLED(4096),
		"The working folder of the command." },
	[KEY_USER] = { "user", TEXT(spec.container.user, 64),
		"The user of the command." },
	[KEY_NETWORK] = { "network", WORD(spec.container.network, networks),
		"The network of the container.", "host" },
	[KEY_IPC] = { "ipc", WORDS(ipcs),
		"The IPC namespace of the container.", "private" },
	[KEY_SHM] = { "shm", SIZE(spec.container.shm_bytes, 0),
		"The size of shared memory." },
	[KEY_MEMORY] = { "memory", SIZE(spec.container.memory_bytes, 0),
		"Memory limit; 0: none." },
	[KEY_CPUS] = { "cpus", DOUBLE(spec.container.cpus, 0, 65536),
		"CPU limit in processors; 0: none." },
	[KEY_CAPABILITIES] = { "capabilities", LIMITED("[name, ...]", 0, 64),
		"Linux capabilities." },
	[KEY_GROUPS] = { "groups", LIMITED("[name, ...]", 0, 64),
		"Supplementary groups." },
	[KEY_DEVICE_NODES] = { "device_nodes",
		LIMITED("[/dev/x[:/dev/y][:rwm], ...]", 0, 1024),
		"Device nodes of the container." },
	[KEY_SECURITY] = { "security", LIMITED("[option, ...]", 0, 1024),
		"Security options." },
	[KEY_PROCESSES] = { "processes",
		LIMITED("device, or an integer, 1 to 64", 1, 64),
		"Processes that are started per node." },
	[KEY_REPEAT] = { "repeat", U32(repeats, 1, 1000),
		"Number of runs of each cell.", "1" },
	[KEY_PRIORITY] = { "priority", I64(spec.priority, MILLION),
		"Jobs with larger values run first.", "0" },
	[KEY_TIMEOUT] = { "timeout", DURATION(spec.timeout_ms, 0, 365 * DAY_MS),
		"The job fails if its commands run longer; 0: no limit." },
	[KEY_HANG] = { "hang", PATIENCE(spec.hang_ms, 1000, 365 * DAY_MS),
		"The job fails if it shows no activity for this time." },
	[KEY_RETRIES] = { "retries", U32(spec.retries, 0, 100),
		"Further attempts after a failure of a node, an image or an engine.",
		"2" },
	[KEY_STOP_AFTER] = { "stop_after",
		LIMITED("number of jobs, a share such as 20%, or off", 1, MILLION),
		"Failures of commands after which no further job of the sweep starts." },
	[KEY_GRACE] = { "grace", GRACE(spec.container.grace_ms, 0, 3600000),
		"Time between SIGTERM and SIGKILL when a job is stopped.",
		"10s" },
	[KEY_SSH] = { "ssh", BOOL(spec.container.ssh),
		"Allow ssh between the containers of the job.", "false" },
	[KEY_FOLLOW] = { "follow", LIMITED("[pattern, ...]", 0, 4000),
		"Files that are kept while they are written." },
	[KEY_RECORDER] = { "recorder",
		CHOICE(spec.container.recorder_off, switches),
		"Enable PyTorch's flight recorder and keep its dumps.", "on" },
	[KEY_LOG] = { "log", OTHER("name, auto, or {rules: [...]}"),
		"The format of the log, auto to detect it, or log rules." },
	[KEY_LOG_LIMIT] = { "log_limit",
		SIZE(spec.container.log_limit_bytes, 1),
		"Maximum size of the output of each node." },
	[KEY_WORKSPACE_PATH] = { "workspace.path", LIMITED("folder", 0, 4000),
		"A code tree that is sent with the sweep." },
	[KEY_WORKSPACE_IGNORE] = { "workspace.ignore", OTHER("[pattern, ...]"),
		"Patterns of files that are not sent." },
	[KEY_WORKSPACE_CONTAINER] = { "workspace.container",
		LIMITED("path", 0, 4000),
		"The path of the code tree in the container.", "/workspace" },
	[KEY_COLLECT] = { "collect", LIMITED("[path, ...]", 0, 4000),
		"Files that are kept after the command has ended." },
	[KEY_COLLECT_LIMIT] = { "collect_limit",
		SIZE(spec.container.collect_limit_bytes, 1),
		"Maximum size of the collected files of each node." },
	[KEY_WARMUP_STEPS] = { "warmup_steps",
		U32(spec.measure.warmup_steps, 0, 100 * MILLION),
		"Number of steps excluded from the results." },
	[KEY_MODEL] = { "model", TEXT(spec.measure.model, 128), "The model." },
	[KEY_PRECISION] = { "precision", TEXT(spec.measure.precision, 32),
		"The precision of the training: bf16, fp16, fp32 and others." },
	[KEY_STAGE] = { "stage", TEXT(spec.measure.stage, 64),
		"What the job trains, for the FLOPs per token." },
	[KEY_RECOMPUTE] = { "recompute",
		WORD(spec.measure.recompute, recomputes),
		"Activation recomputation of the framework." },
	[KEY_SPREAD_PERCENT] = { "spread_percent",
		DOUBLE(spec.measure.spread_percent, 0, 100),
		"Repeats with a larger coefficient of variation are suspect." },
	[KEY_OPTIMIZER] = { "optimizer", TEXT(optimizer, 32),
		"The optimizer, for the memory estimate." },
	[KEY_CHECK_MEMORY] = { "check_memory", BOOL(check_memory),
		"Drop cells whose estimated memory exceeds that of their chip.",
		"true" },
	[KEY_NODE] = { "node", LIMITED("name[+name ...]", 1, 4000),
		"Run only on nodes with these names." },
	[KEY_AFTER] = { "after", OTHER("{key: value, ...}"),
		"The cells that must complete before this one starts." },
	[KEY_SAME_NODES] = { "same_nodes", OTHER("true or false"),
		"Run on the nodes of the first job on which this one depends.",
		"true" },
	[KEY_SAME_DRIVER] = { "same_driver", CHOICE(spec.same_driver, same_drivers),
		"Treat different drivers or chips as a warning or a failure.",
		"warn" },
	[KEY_LABELS] = { "labels",
		LIMITED("[key=value, ...]", 0, KEY_LABELS_MAX),
		"Run only on nodes that have these labels." },
	[KEY_FOREIGN_PROCESSES] = { "foreign_processes",
		CHOICE(spec.foreign_allowed, foreign),
		"Treat a foreign process on the devices as a failure or a warning.",
		"refuse" },
	[KEY_PREFLIGHT_SET] = { "preflight.set", TEXT(preflight, 4000),
		"The validation that each node must have passed, or its file." },
	[KEY_PREFLIGHT_MAX_AGE] = { "preflight.max_age",
		OTHER("duration, 1s to 365d"),
		"How long ago a node may have passed it.", "24h" },
	[KEY_UNTIL_CONFIDENCE] = { "until.confidence", OTHER("share"),
		"Confidence level of the interval.", "0.95" },
	[KEY_UNTIL_WIDTH] = { "until.width", OTHER("share"),
		"Repeat until half the width of the interval is at most this share." },
	[KEY_UNTIL_MAX] = { "until.max", LIMITED("integer, 2 to 1000", 2, 1000),
		"Maximum number of repeats.", "10" },
	[KEY_RACE] = { "race",
		OTHER("{steps, margin, tie, confidence, max, budget, per, figure, order}"),
		"Find the fastest cell instead of running all of them in full." },
	[KEY_BATCH_MICRO] = { "batch.micro", U32(shape.micro, 1, MILLION),
		"Samples per device and micro step." },
	[KEY_BATCH_ACCUMULATE] = { "batch.accumulate",
		U32(shape.accumulate, 1, MILLION), "Micro steps per step." },
	[KEY_BATCH_SEQUENCE] = { "batch.sequence",
		U32(shape.sequence, 1, 1 << 30), "Tokens per sample." },
	[KEY_BATCH_GLOBAL] = { "batch.global",
		U64(shape.global, 1, MILLION * MILLION), "Samples per step." },
	[KEY_PARALLEL_TP] = { "parallel.tp", U32(shape.tp, 1, 65536),
		"Degree of tensor parallelism." },
	[KEY_PARALLEL_PP] = { "parallel.pp", U32(shape.pp, 1, 65536),
		"Degree of pipeline parallelism." },
	[KEY_PARALLEL_DP] = { "parallel.dp", U32(shape.dp, 1, 65536),
		"Degree of data parallelism." },
	[KEY_PARALLEL_CP] = { "parallel.cp", U32(shape.cp, 1, 65536),
		"Degree of context parallelism." },
	[KEY_PARALLEL_EP] = { "parallel.ep", U32(shape.ep, 1, 65536),
		"Degree of expert parallelism." },
	[KEY_PARALLEL_SP] = { "parallel.sp", U32(shape.sp, 1, 65536),
		"Degree of sequence parallelism." },
	[KEY_PARALLEL_SHARDING] = { "parallel.sharding",
		U32(shape.sharding, 1, 65536), "Degree of sharding." },
	[KEY_PARALLEL_STAGE] = { "parallel.stage", U32(shape.stage, 0, 3),
		"Stage of sharding." },
	[KEY_PARALLEL_VPP] = { "parallel.vpp", U32(shape.vpp, 1, 1024),
		"Interleaved stages per pipeline rank." },
	[KEY_PARALLEL_SPLIT] = { "parallel.split",
		LIMITED("[layers, ...]", 1, 65536),
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
	{ "preflight", KEY_PREFLIGHT_SET, SHAPE_KNOWN, "set, or {set, max_age}",
		"Run only on nodes that passed a validation." },
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
	{ "require", KEYS, SHAPE_SWEEP, "[\"FIGURE >= NUMBER\", ...]",
		"What each cell must reach, such as \"mfu >= 40%\"." },
};
/* clang-format on */

/* The size of a path's first name. */
static size_t top_size(const char *path)
{
	return strcspn(path, ".");
}

enum key_shape key_shape(const char *name)
{
	if (!strcmp(name, key_rules[KEY_AFTER].path))
		return SHAPE_MAP;
	if (!strcmp(name, key_rules[KEY_LOG].path) ||
	    !strcmp(name, key_rules[KEY_RACE].path))
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
