/* keys.h - the table of the keys of a sweep file: type, limits, and member of
 * the cell.
 *
 * Each key is described here once. Reader, checks, plan and spec of a cell use
 * the table, and so does the list "All keys" of regatta-sweep(5), which
 * `build/tests/unit/keys_test page` prints.
 *
 * A cell is a set of paths, "nodes" or "batch.micro", each with a value. The
 * paths of this table have numbers; others are free variables, or names below
 * `env` and `ulimits`.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum sweep_key {
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
	KEY_HANG,
	KEY_RETRIES,
	KEY_STOP_AFTER,
	KEY_GRACE,
	KEY_SSH,
	KEY_FOLLOW,
	KEY_RECORDER,
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
	KEY_NODE,
	KEY_AFTER,
	KEY_SAME_NODES,
	KEY_SAME_DRIVER,
	KEY_FOREIGN_PROCESSES,
	KEY_PREFLIGHT_SET,
	KEY_PREFLIGHT_MAX_AGE,
	KEY_LABELS,
	KEY_UNTIL_CONFIDENCE,
	KEY_UNTIL_WIDTH,
	KEY_UNTIL_MAX,
	KEY_RACE,
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

/* The value of a key, and the type of its member in struct cell. */
enum key_type {
	TYPE_U32,      /* integer, min to max: uint32_t */
	TYPE_U64,      /* integer, min to max: uint64_t */
	TYPE_I64,      /* integer, -max to max: int64_t */
	TYPE_DOUBLE,   /* number, min to max: double */
	TYPE_BOOL,     /* true, false: bool */
	TYPE_DURATION, /* min to max milliseconds: uint64_t */
	TYPE_GRACE,    /* the same: uint32_t */
	TYPE_PATIENCE, /* the same, or off (HANG_OFF): uint64_t */
	TYPE_SIZE,     /* min to max bytes: uint64_t */
	TYPE_TEXT,     /* a text of at most max bytes: char * */
	TYPE_WORD,     /* one of words: char * */
	TYPE_CHOICE,   /* one of two words: bool, the second one is true */
	TYPE_FILLED,   /* a text with placeholders: read by a function */
	TYPE_OTHER,    /* read by a function of its own */
};

#define KEY_LABELS_MAX 16 /* of one cell */

struct key_rule {
	const char *path;
	const char *form;         /* of TYPE_OTHER: what is valid, for people */
	const char *const *words; /* valid words; ends in NULL */
	enum key_type type;
	size_t place; /* offset in struct cell; 0: a function sets it */
	uint64_t min; /* for a list: limits of its length */
	uint64_t max;
	const char *help;     /* one sentence for people */
	const char *fallback; /* default, or NULL */
};
extern const struct key_rule key_rules[KEYS];

/* The kind of value of a key at the top of a sweep. */
enum key_shape {
	SHAPE_UNKNOWN, /* no such key: a free variable */
	SHAPE_LEAF,    /* one value or a list */
	SHAPE_KNOWN,   /* a map with keys of the table: batch, parallel */
	SHAPE_NAMES,   /* a map with any names: env, ulimits */
	SHAPE_MAP,     /* a map of single values that stays whole: after */
	SHAPE_EITHER,  /* one value, or a map that stays whole: log, race */
	SHAPE_SWEEP,   /* not a key of cells: matrix */
};
enum key_shape key_shape(const char *name);

/* The keys that are maps, or not keys of cells. */
struct key_section {
	const char *name;
	enum sweep_key before; /* the key that follows in lists; KEYS: none */
	enum key_shape shape;
	const char *form; /* as of a rule */
	const char *help;
};
#define KEY_SECTIONS 18
extern const struct key_section key_sections[KEY_SECTIONS]; /* by before */

/* The names of the keys that may stand below one of SHAPE_KNOWN, and a NULL. */
#define KEY_CHILDREN_MAX 16
void key_children(const char *name, const char *names[KEY_CHILDREN_MAX]);

/* The names of all keys at the top of a sweep, and a NULL; returns their
 * number.
 */
#define KEY_TOPS_MAX (KEYS + KEY_SECTIONS + 1)
size_t key_tops(const char *names[KEY_TOPS_MAX]);

/* The number of a key of cell->shape, given or computed; 0: none, or another
 * key.
 */
struct cell; /* cell_data.h */
uint64_t cell_number(const struct cell *cell, size_t key);
