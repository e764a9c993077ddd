/* flagperf.h - the block `flagperf:` of a sweep to ordinary cells.
 *
 *	flagperf:
 *	  tree: /home/FlagPerf	# the checkout on the nodes; default: it is
 *				# what the sweep's workspace brings
 *	  path: /home/FlagPerf	# and in the container; default: the same
 *	  vendor: nvidia	# its folder; default: the sweep's vendor
 *	  options: " --gpus all"	# ACCE_CONTAINER_OPT
 *	  visible: CUDA_VISIBLE_DEVICES	# ACCE_VISIBLE_DEVICE_ENV_NAME
 *	  pip_source, log_path, log_level, hosts_ports	# as FlagPerf has them
 *	  launcher: tree	# its own start_*_task.py or container_main.py
 *	  cases: {"model:framework:hardware:nnodes:nproc:repeat": data, ...}
 *	  base: {kind: benchmark, nodes: 1, processes: 8,
 *	    cases: {"name[:chip]": environment, ...}}
 *	  operation: {nodes: 1, processes: 1, mode, warmup,
 *	    cases: {"op:dataformat:spectflops:oplib:chip": environment, ...}}
 *	  inference: {processes: 8, cases: {"model:framework": data, ...}}
 *	  # or, behind a case, {data: ..., batch: {sequence: 4096}, ...}
 *	  keep_going: true	# leave out cases that are wrong
 *	  without: {CASE: why}	# and these
 *
 * base, operation and inference may have log_path, log_level, pip_source,
 * options, visible and launcher of their own. images/flagperf.yaml has the
 * cells of the cases. Keys of a container at the top of the file take
 * precedence over it; lists are joined.
 */
#ifndef CONTROLLER_SWEEP_FLAGPERF_FLAGPERF_H
#define CONTROLLER_SWEEP_FLAGPERF_FLAGPERF_H

#include "controller/catalog/catalog.h"

#define FLAGPERF_CASES_MAX 4096

struct flagperf;

/* The cells of the block of a sweep file's root, which must live as long.
 * EINVAL names file and line: a key, a case, an option. A wrong case is no
 * error with keep_going: it is a cell with a reason.
 */
struct flagperf *flagperf_new(const struct value *root,
			      const struct catalog *catalog, struct error *err);
void flagperf_free(struct flagperf *flagperf);
OWNED_POINTER(struct flagperf, flagperf_free)

/* Cell by number: a map of keys of a sweep; NULL past the last. */
const struct value *flagperf_cell(const struct flagperf *flagperf,
				  size_t index);

/* Why it is left out, or NULL. */
const char *flagperf_reason(const struct flagperf *flagperf, size_t index);

/* The case. */
const char *flagperf_case(const struct flagperf *flagperf, size_t index);

/* The command, a shell's, that FlagPerf's run.py would start the container of
 * this case with, as its dev.py shows it; NULL: there is no such case.
 */
const char *flagperf_docker(const struct flagperf *flagperf, const char *name);

/* The checkout on the nodes; "": it is in the workspace. */
const char *flagperf_tree(const struct flagperf *flagperf);

/* Is all there that the cell needs, when the checkout is in this folder here?
 * ENOENT: "file:line: ...: found no FILE".
 */
int flagperf_check(const struct flagperf *flagperf, size_t index,
		   const char *folder, struct error *err);

#endif
