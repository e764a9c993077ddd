/* sweep.h - expands a sweep file to cells and jobs.
 *
 *	sweep: name		# [a-z0-9._-], 1 to 64
 *	vendor: cpu		# or a list; and chip, nodes, devices, shared
 *	nodes: each		# or pairs, {scale: [1, 2, all]}, {each: [n1]}
 *	framework: cpu		# gives image, command, env, defaults
 *	image, build, command: [list], env: {map}, mounts: [{host, container,
 *	  read_only}], workdir, user, network, ipc, shm, memory, cpus,
 *	  ulimits: {name: soft[:hard]}, capabilities, groups, security,
 *	  device_nodes: [/dev/x[:/dev/y[:rwm]]]
 *	processes: device	# or 1 to 64: started per node, with RANK
 *	repeat, priority, timeout, retries, grace, warmup_steps
 *	model, precision, optimizer, check_memory
 *	batch: {micro, accumulate, sequence, global}
 *	parallel: {tp, pp, dp, cp, ep, sp, sharding, stage, vpp, split}
 *	matrix: {key: [entry, ...], ...}
 *	include: [{...}, ...]	# further cells
 *	flagperf: {...}		# controller/sweep/flagperf/flagperf.h
 *	exclude: [{...}, ...]	# cells that have all these values
 *
 * matrix is a product: each combination of one entry per key is a cell, the
 * first key varying slowest. A key is a key of the sweep (also as a path,
 * batch.micro) or a free variable, used as ${name}; an entry that is a map is
 * merged into the cell, deep (as an entry of batch, parallel, env and ulimits:
 * into that map). A variable that no placeholder uses is an error. A cell of
 * include is the top level of the file merged with the map; without a matrix
 * there are only the cells of include. A list of vendors at the top level is
 * the first key of the matrix; it also multiplies each cell of include that
 * names no vendor. The top level may also set variables that have defaults in
 * frameworks.
 *
 * A cell is dropped, with the reason, if it contradicts itself or its model
 * (controller/cell/parallel_layout.h), does not fit its chip
 * (controller/cell/memory.h), is excluded, or is the same run as an earlier
 * one. Every other fault is an error of the file: "file:line: field: ... is not
 * valid here; expected ...".
 *
 * Specs are made on demand, one by one: a sweep of a million cells needs only a
 * few bytes per cell.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/cell/cell_data.h"
#include "controller/sweep/flagperf/flagperf.h"
#include "controller/sweep/secrets.h"
#include "protocol/blob/ignore.h"
#include "protocol/message/spec.h"

#define SWEEP_CELLS_MAX 1000000  /* cells, and also jobs (cells x repeats) */
#define SWEEP_MATRIX_MAX 64      /* keys of a matrix */
#define SWEEP_REASON_BYTES 800   /* why a cell is dropped */
#define CELL_ORDER_BEFORE_MAX 64 /* cells that one cell can follow */

struct sweep;

/* Parse the text and check each cell. file: the name in errors. The catalog
 * must outlive the sweep. EINVAL, E2BIG, ENOMEM.
 */
struct sweep *sweep_parse(const char *text, size_t size, const char *file,
			  const struct catalog *catalog, struct error *err);

/* The nodes of a cluster that take jobs, for `nodes: each`. */
struct sweep_site {
	const struct site_node {
		const char *name, *vendor;
	} * nodes;
	size_t count;
};

/* The same where they are known. Without a site one cell stands for all. */
struct sweep *sweep_parse_at(const char *text, size_t size, const char *file,
			     const struct catalog *catalog,
			     const struct sweep_site *site, struct error *err);
void sweep_free(struct sweep *sweep);
OWNED_POINTER(struct sweep, sweep_free)

const char *sweep_name(const struct sweep *sweep);

/* The descriptions of the catalog that the cells use, except those that the
 * sweep file itself contains: "frameworks/NAME", "models/NAME", "vendors/NAME",
 * each once. ENOMEM.
 */
int sweep_uses(const struct sweep *sweep, struct strings *keys,
	       struct error *err);

/* The validation of `preflight`; NULL: none. Borrowed. */
const char *sweep_preflight(const struct sweep *sweep);

/* The sources of its secrets. Borrowed. */
const struct secret_sources *sweep_secrets(const struct sweep *sweep);

/* The cases of its `flagperf:`, or NULL. Borrowed. */
const struct flagperf *sweep_flagperf(const struct sweep *sweep);

struct sweep_totals {
	size_t cells;        /* kept + dropped */
	size_t kept;         /* may be 0 */
	size_t dropped;      /* impossible, excluded or the same as another */
	size_t jobs;         /* kept cells x their repeats */
	uint32_t nodes_max;  /* of the widest job */
	uint64_t node_jobs;  /* jobs x their nodes */
	uint64_t timeout_ms; /* the sum of the time limits of all jobs, each in
				whole seconds, rounded up; 0: a job has none */
};
const struct sweep_totals *sweep_totals(const struct sweep *sweep);

/* The spec of a job, 0 .. totals.jobs - 1: in the order of the file, with the
 * repeats of a cell together. The caller clears it with
 * codec_clear(&job_spec_schema, spec). Only ENOMEM fails.
 */
int sweep_job(struct sweep *sweep, size_t job, struct job_spec *spec,
	      struct error *err);

/* The first job of a kept cell, 0 .. totals.kept - 1, and its repeats. */
size_t sweep_cell_job(const struct sweep *sweep, size_t cell,
		      uint32_t *repeats);

/* The spec of the first job of a kept cell, as sweep_job(). */
int sweep_cell_spec(struct sweep *sweep, size_t cell, struct job_spec *spec,
		    struct error *err);

void job_spec_clear(struct job_spec *spec);
OWNED_VALUE(struct job_spec, job_spec_clear)

/* The numbers of the jobs that a repeat of the kept cell follows. Returns their
 * count, or -1. jobs has room for CELL_ORDER_BEFORE_MAX; *same_nodes is set if
 * the count is not 0.
 */
int sweep_after(struct sweep *sweep, size_t cell, uint32_t repeat,
		uint32_t *jobs, bool *same_nodes, struct error *err);

/* The requirements of a kept cell's jobs on nodes; many cells share one.
 * Borrowed.
 */
struct sweep_kind {
	const char *vendor;
	const char *chip;   /* NULL: any */
	const char *labels; /* NULL: any */
	uint32_t nodes;
	uint32_t devices; /* per node; 0: all */
	bool shared;
	int64_t priority;
};
size_t sweep_kinds(const struct sweep *sweep); /* how many there are */
const struct sweep_kind *sweep_cell_kind(const struct sweep *sweep,
					 size_t cell);

/* The key of a kept cell: cheaper than its spec. */
int sweep_cell_key(struct sweep *sweep, size_t cell, char key[65],
		   struct error *err);

/* The workspaces of the cells: how many, and the path of each as written in the
 * file.
 */
size_t sweep_workspaces(const struct sweep *sweep);
const char *sweep_workspace(const struct sweep *sweep, size_t index);

/* Add the file's ignore patterns for the workspace. */
int sweep_workspace_ignore(const struct sweep *sweep, size_t index,
			   struct ignore *ignore, struct error *err);

/* Bind a workspace to the hash of its content (protocol/blob/blob_store.h).
 * Specs and keys made earlier contain the path instead. A path that is no
 * workspace is ignored.
 */
int sweep_bind(struct sweep *sweep, const char *path, const char *content,
	       struct error *err);

/* A workspace that is not bound; NULL: all are. */
const char *sweep_unbound(const struct sweep *sweep);

/* The words of a dropped cell, 0 .. totals.dropped - 1, and the reason. Both
 * are cut to size.
 */
int sweep_drop(struct sweep *sweep, size_t drop, char *cell, size_t cell_size,
	       char *reason, size_t reason_size, struct error *err);
