/* flagperf.h - converts the block `flagperf:` of a sweep to cells.
 *
 *	flagperf:
 *	  tree: /home/FlagPerf	# the checkout on the nodes; default:
 *				# the sweep's workspace
 *	  path: /home/FlagPerf	# in the container; default: the same
 *	  vendor: nvidia	# vendor folder; default: the sweep's vendor
 *	  options: " --gpus all"	# ACCE_CONTAINER_OPT
 *	  visible: CUDA_VISIBLE_DEVICES	# ACCE_VISIBLE_DEVICE_ENV_NAME
 *	  pip_source, log_path, log_level, hosts_ports	# as in FlagPerf
 *	  launcher: tree	# use start_*_task.py or container_main.py
 *	  cases: {"model:framework:hardware:nnodes:nproc:repeat": data, ...}
 *	  base: {kind: benchmark, nodes: 1, processes: 8,
 *	    cases: {"name[:chip]": environment, ...}}
 *	  operation: {nodes: 1, processes: 1, mode, warmup,
 *	    cases: {"op:dataformat:spectflops:oplib:chip": environment, ...}}
 *	  inference: {processes: 8, cases: {"model:framework": data, ...}}
 *	  # or, as value of a case, {data: ..., batch: {sequence: 4096}, ...}
 *	  keep_going: true	# leave out invalid cases
 *	  without: {CASE: why}	# leave out these
 *
 * base, operation and inference may have their own log_path, log_level,
 * pip_source, options, visible and launcher. images/flagperf.yaml has the
 * templates of the cells. Container keys at the top of the sweep file take
 * precedence; lists are joined.
 */
#pragma once

#include "controller/catalog/catalog.h"

#define FLAGPERF_CASES_MAX 4096

struct flagperf;

/* Make the cells of the block of a sweep file's root, which must outlive the
 * result. EINVAL, with file and line: an invalid key, case or option. With
 * keep_going an invalid case becomes a cell with a reason instead.
 */
struct flagperf *flagperf_new(const struct value *root,
			      const struct catalog *catalog, struct error *err);
void flagperf_free(struct flagperf *flagperf);
OWNED_POINTER(struct flagperf, flagperf_free)

/* A cell by index: a map of sweep keys; NULL past the last. */
const struct value *flagperf_cell(const struct flagperf *flagperf,
				  size_t index);

/* Why the cell is left out, or NULL. */
const char *flagperf_reason(const struct flagperf *flagperf, size_t index);

/* The name of the cell's case. */
const char *flagperf_case(const struct flagperf *flagperf, size_t index);

/* The shell command with which FlagPerf's run.py would start the container of
 * this case, as its dev.py prints it. NULL: no such case.
 */
const char *flagperf_docker(const struct flagperf *flagperf, const char *name);

/* The path of the checkout on the nodes; "": the workspace. */
const char *flagperf_tree(const struct flagperf *flagperf);

/* Check that a local copy of the checkout in `folder` has all files that the
 * cell needs. ENOENT: "file:line: ...: found no FILE".
 */
int flagperf_check(const struct flagperf *flagperf, size_t index,
		   const char *folder, struct error *err);
