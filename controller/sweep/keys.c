/* keys.c - the keys of a sweep file: which there are, what each may hold.
 */
#include "controller/sweep/keys.h"

#include <string.h>

#define MILLION ((uint64_t)1000000)
#define DAY_MS ((uint64_t)86400000)
#define TIB ((uint64_t)1 << 40)

/* clang-format off */
const struct key_rule key_rules[KEYS] = {
	[KEY_VENDOR] =		{ "vendor", TYPE_TEXT, 1, 64, "cpu" },
	[KEY_CHIP] =		{ "chip", TYPE_OTHER, 0, 0, NULL },
	[KEY_NODES] =		{ "nodes", TYPE_U32, 1, 4096, "1" },
	[KEY_DEVICES] =		{ "devices", TYPE_U32, 0, 1024, "0" },
	[KEY_SHARED] =		{ "shared", TYPE_BOOL, 0, 0, "false" },
	[KEY_FRAMEWORK] =	{ "framework", TYPE_OTHER, 0, 0, NULL },
	[KEY_IMAGE] =		{ "image", TYPE_FILLED, 1, 512, NULL },
	[KEY_BUILD] =		{ "build", TYPE_TEXT, 1, 128, NULL },
	[KEY_COMMAND] =		{ "command", TYPE_OTHER, 0, 0, NULL },
	[KEY_PREPARE] =		{ "prepare", TYPE_OTHER, 0, 0, NULL },
	[KEY_NEEDS] =		{ "needs", TYPE_OTHER, 1, 4096, NULL },
	[KEY_CASE] =		{ "case", TYPE_TEXT, 1, 256, NULL },
	[KEY_MOUNTS] =		{ "mounts", TYPE_OTHER, 0, 0, NULL },
	[KEY_FILES] =		{ "files", TYPE_OTHER, 0, 65536, NULL },
	[KEY_WORKDIR] =		{ "workdir", TYPE_FILLED, 1, 4096, NULL },
	[KEY_USER] =		{ "user", TYPE_TEXT, 1, 64, NULL },
	[KEY_NETWORK] =		{ "network", TYPE_OTHER, 0, 0, "host" },
	[KEY_IPC] =		{ "ipc", TYPE_OTHER, 0, 0, "private" },
	[KEY_SHM] =		{ "shm", TYPE_SIZE, 0, 64 * TIB, NULL },
	[KEY_MEMORY] =		{ "memory", TYPE_SIZE, 0, 64 * TIB, NULL },
	[KEY_CPUS] =		{ "cpus", TYPE_DOUBLE, 0, 65536, NULL },
	[KEY_CAPABILITIES] =	{ "capabilities", TYPE_OTHER, 0, 64, NULL },
	[KEY_GROUPS] =		{ "groups", TYPE_OTHER, 0, 64, NULL },
	[KEY_DEVICE_NODES] =	{ "device_nodes", TYPE_OTHER, 0, 1024, NULL },
	[KEY_SECURITY] =	{ "security", TYPE_OTHER, 0, 1024, NULL },
	[KEY_PROCESSES] =	{ "processes", TYPE_OTHER, 1, 64, NULL },
	[KEY_REPEAT] =		{ "repeat", TYPE_OTHER, 1, 1000, "1" },
	[KEY_PRIORITY] =	{ "priority", TYPE_I64, 0, MILLION, "0" },
	[KEY_TIMEOUT] =		{ "timeout", TYPE_DURATION, 0, 365 * DAY_MS,
				  NULL },
	[KEY_RETRIES] =		{ "retries", TYPE_U32, 0, 100, "2" },
	[KEY_GRACE] =		{ "grace", TYPE_DURATION, 0, 3600000, "10s" },
	[KEY_FOLLOW] =		{ "follow", TYPE_OTHER, 1, 4000, NULL },
	[KEY_LOG] =		{ "log", TYPE_TEXT, 1, 64, NULL },
	[KEY_LOG_LIMIT] =	{ "log_limit", TYPE_SIZE, 1, 64 * TIB, NULL },
	[KEY_WORKSPACE_PATH] =	{ "workspace.path", TYPE_OTHER, 1, 4000, NULL },
	[KEY_WORKSPACE_IGNORE] = { "workspace.ignore", TYPE_OTHER, 1, 1000, NULL },
	[KEY_WORKSPACE_CONTAINER] = { "workspace.container", TYPE_OTHER, 1, 4000,
				  "/workspace" },
	[KEY_COLLECT] =		{ "collect", TYPE_OTHER, 1, 4000, NULL },
	[KEY_COLLECT_LIMIT] =	{ "collect_limit", TYPE_SIZE, 1, 64 * TIB, NULL },
	[KEY_WARMUP_STEPS] =	{ "warmup_steps", TYPE_U32, 0, 100 * MILLION,
				  NULL },
	[KEY_MODEL] =		{ "model", TYPE_TEXT, 1, 128, NULL },
	[KEY_PRECISION] =	{ "precision", TYPE_TEXT, 1, 32, NULL },
	[KEY_STAGE] =		{ "stage", TYPE_TEXT, 1, 64, NULL },
	[KEY_RECOMPUTE] =	{ "recompute", TYPE_OTHER, 0, 0, NULL },
	[KEY_SPREAD_PERCENT] =	{ "spread_percent", TYPE_DOUBLE, 0, 100, NULL },
	[KEY_OPTIMIZER] =	{ "optimizer", TYPE_TEXT, 1, 32, NULL },
	[KEY_CHECK_MEMORY] =	{ "check_memory", TYPE_BOOL, 0, 0, "true" },
	[KEY_AFTER] =		{ "after", TYPE_OTHER, 1, 16, NULL },
	[KEY_SAME_NODES] =	{ "same_nodes", TYPE_OTHER, 0, 0, "true" },
	[KEY_SAME_DRIVER] =	{ "same_driver", TYPE_OTHER, 0, 0, "warn" },
	[KEY_LABELS] =		{ "labels", TYPE_OTHER, 1, 16, NULL },
	[KEY_STRANGERS] =	{ "strangers", TYPE_OTHER, 0, 0, "refuse" },
	[KEY_UNTIL_CONFIDENCE] = { "until.confidence", TYPE_OTHER, 0, 0, "0.95" },
	[KEY_UNTIL_WIDTH] =	{ "until.width", TYPE_OTHER, 0, 0, NULL },
	[KEY_UNTIL_MAX] =	{ "until.max", TYPE_OTHER, 2, 1000, "10" },
	[KEY_BATCH_MICRO] =	{ "batch.micro", TYPE_U32, 1, MILLION, NULL },
	[KEY_BATCH_ACCUMULATE] ={ "batch.accumulate", TYPE_U32, 1, MILLION,
				  NULL },
	[KEY_BATCH_SEQUENCE] =	{ "batch.sequence", TYPE_U32, 1, 1 << 30,
				  NULL },
	[KEY_BATCH_GLOBAL] =	{ "batch.global", TYPE_U64, 1,
				  MILLION * MILLION, NULL },
	[KEY_PARALLEL_TP] =	{ "parallel.tp", TYPE_U32, 1, 65536, NULL },
	[KEY_PARALLEL_PP] =	{ "parallel.pp", TYPE_U32, 1, 65536, NULL },
	[KEY_PARALLEL_DP] =	{ "parallel.dp", TYPE_U32, 1, 65536, NULL },
	[KEY_PARALLEL_CP] =	{ "parallel.cp", TYPE_U32, 1, 65536, NULL },
	[KEY_PARALLEL_EP] =	{ "parallel.ep", TYPE_U32, 1, 65536, NULL },
	[KEY_PARALLEL_SP] =	{ "parallel.sp", TYPE_U32, 1, 65536, NULL },
	[KEY_PARALLEL_SHARDING] = { "parallel.sharding", TYPE_U32, 1, 65536,
				  NULL },
	[KEY_PARALLEL_STAGE] =	{ "parallel.stage", TYPE_U32, 0, 3, NULL },
	[KEY_PARALLEL_VPP] =	{ "parallel.vpp", TYPE_U32, 1, 1024, NULL },
	[KEY_PARALLEL_SPLIT] =	{ "parallel.split", TYPE_OTHER, 1, 65536, NULL },
};

const char *const key_tops[] = {
	"sweep", "vendor", "chip", "nodes", "devices", "shared", "framework",
	"image", "build", "command", "env", "workspace", "mounts", "files", "prepare", "needs", "case",
	"workdir", "user",
	"network", "ipc", "shm", "memory", "cpus", "ulimits", "capabilities",
	"groups", "device_nodes", "security", "processes", "repeat", "priority", "timeout",
	"retries", "grace", "follow", "log", "log_limit", "collect", "collect_limit", "warmup_steps", "model",
	"precision", "stage", "recompute", "spread_percent",
	"optimizer", "check_memory", "batch", "parallel", "after", "same_nodes", "until",
	"same_driver", "strangers", "labels", "variables",
	"matrix", "include", "flagperf", "exclude", "about", "align", NULL,
};

static const char *const batch_keys[] = {
	"micro", "accumulate", "sequence", "global", NULL,
};
static const char *const workspace_keys[] = {
	"path", "ignore", "container", NULL,
};
static const char *const until_keys[] = {
	"confidence", "width", "max", NULL,
};
static const char *const parallel_keys[] = {
	"tp", "pp", "dp", "cp", "ep", "sp", "sharding", "stage",
	"vpp", "split", NULL,
};
/* clang-format on */

enum key_shape key_shape(const char *name)
{
	if (!strcmp(name, "env") || !strcmp(name, "ulimits"))
		return SHAPE_NAMES;
	if (!strcmp(name, key_rules[KEY_AFTER].path))
		return SHAPE_MAP;
	if (key_children(name))
		return SHAPE_KNOWN;
	for (size_t i = 0; i < KEYS; i++)
		if (!strcmp(name, key_rules[i].path))
			return SHAPE_LEAF;
	return SHAPE_UNKNOWN;
}

const char *const *key_children(const char *name)
{
	if (!strcmp(name, "batch"))
		return batch_keys;
	if (!strcmp(name, "parallel"))
		return parallel_keys;
	if (!strcmp(name, "workspace"))
		return workspace_keys;
	if (!strcmp(name, "until"))
		return until_keys;
	return NULL;
}
