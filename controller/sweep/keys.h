/* keys.h - the keys of a sweep file: which there are, what each may hold.
 *
 * A cell is a set of paths, "nodes" or "batch.micro", each with a value. The
 * paths of this table are known by number; others are free variables, or names
 * below `env` and `ulimits`.
 */
#ifndef CONTROLLER_SWEEP_KEYS_H
#define CONTROLLER_SWEEP_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum key {
	KEY_VENDOR,
	KEY_CHIP,
	KEY_NODES,
	KEY_DEVICES,
	KEY_SHARED,
	KEY_FRAMEWORK,
	KEY_IMAGE,
	KEY_BUILD,
	KEY_COMMAND,
	KEY_PREPARE,
	KEY_NEEDS,
	KEY_CASE,
	KEY_MOUNTS,
	KEY_FILES,
	KEY_WORKDIR,
	KEY_USER,
	KEY_NETWORK,
	KEY_IPC,
	KEY_SHM,
	KEY_MEMORY,
	KEY_CPUS,
	KEY_CAPABILITIES,
	KEY_GROUPS,
	KEY_DEVICE_NODES,
	KEY_SECURITY,
	KEY_PROCESSES,
	KEY_REPEAT,
	KEY_PRIORITY,
	KEY_TIMEOUT,
	KEY_RETRIES,
	KEY_GRACE,
	KEY_FOLLOW,
	KEY_LOG,
	KEY_LOG_LIMIT,
	KEY_WORKSPACE_PATH,
	KEY_WORKSPACE_IGNORE,
	KEY_WORKSPACE_CONTAINER,
	KEY_COLLECT,
	KEY_COLLECT_LIMIT,
	KEY_WARMUP_STEPS,
	KEY_MODEL,
	KEY_PRECISION,
	KEY_STAGE,
	KEY_RECOMPUTE,
	KEY_SPREAD_PERCENT,
	KEY_OPTIMIZER,
	KEY_CHECK_MEMORY,
	KEY_AFTER,
	KEY_SAME_NODES,
	KEY_SAME_DRIVER,
	KEY_STRANGERS,
	KEY_LABELS,
	KEY_UNTIL_CONFIDENCE,
	KEY_UNTIL_WIDTH,
	KEY_UNTIL_MAX,
	KEY_BATCH_MICRO,
	KEY_BATCH_ACCUMULATE,
	KEY_BATCH_SEQUENCE,
	KEY_BATCH_GLOBAL,
	KEY_PARALLEL_TP,
	KEY_PARALLEL_PP,
	KEY_PARALLEL_DP,
	KEY_PARALLEL_CP,
	KEY_PARALLEL_EP,
	KEY_PARALLEL_SP,
	KEY_PARALLEL_SHARDING,
	KEY_PARALLEL_STAGE,
	KEY_PARALLEL_VPP,
	KEY_PARALLEL_SPLIT,
	KEYS
};

enum key_type {
	TYPE_U32,      /* integer, min to max */
	TYPE_U64,      /* integer, min to max */
	TYPE_I64,      /* integer, -max to max */
	TYPE_DOUBLE,   /* number, min to max */
	TYPE_BOOL,     /* true, false */
	TYPE_DURATION, /* milliseconds, min to max */
	TYPE_SIZE,     /* bytes, min to max */
	TYPE_TEXT,     /* a text of at most max bytes */
	TYPE_FILLED,   /* the same, with placeholders */
	TYPE_OTHER,    /* read by a function of its own */
};

struct key_rule {
	const char *path;
	enum key_type type;
	uint64_t min;
	uint64_t max;
	const char *fallback; /* what it is when a sweep is silent; NULL */
};
extern const struct key_rule key_rules[KEYS];

/* What may stand behind a key at the top of a sweep. */
enum key_shape {
	SHAPE_UNKNOWN, /* no such key: a free variable */
	SHAPE_LEAF,    /* one value or a list */
	SHAPE_KNOWN,   /* a map with keys of the table: batch, parallel */
	SHAPE_NAMES,   /* a map with any names: env, ulimits */
	SHAPE_MAP,     /* a map of single values that stays whole: after */
};
enum key_shape key_shape(const char *name);

/* The keys that may stand below batch or parallel; ends in NULL. */
const char *const *key_children(const char *name);

/* Every key that may stand at the top of a sweep; ends in NULL. */
extern const char *const key_tops[];

#endif
