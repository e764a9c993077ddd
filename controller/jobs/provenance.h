/* provenance.h - the origin of a result: what ran, on which nodes, read by
 * which rules.
 *
 * A JSON object; what is not known is null:
 *
 *	{"image": "sha256:...",		id of what really ran, on the first node
 *	 "image_reference": "name:tag",	as it was asked for
 *	 "engine", "kernel", "os", "cpu", "driver": of the first node
 *	 "environment": {...},		all facts of the first node, as they
 *					were when the job's task was checked
 *	 "nodes": ["n1", "n2"],
 *	 "hosts": [{"nodes": ["n1", "n2"], "image": "sha256:...", "vendor",
 *	   "driver", "sdk", "engine", "kernel", "os", "machine"}],
 *					nodes that are alike share an entry
 *	 "simulated": false,		true: devices of a lab, no real ones
 *	 "devices": 16,
 *	 "attempt": 1,
 *	 "cell_key": "...",		hash of the job's spec
 *	 "workspace": "...",		SHA-256 of the code tree as a tar file
 *	 "framework": "megatron",
 *	 "log": "megatron",		the format of its log
 *	 "rules": "...",		hash of the descriptions with its rules
 *	 "described": {"frameworks": {"megatron": "..."}},	hashes of those
 *				that came along with the sweep, by kind and name
 *	 "streams": ["rank-0"],		what was read for the result
 *	 "formula": 2,
 *	 "regatta": "0.1.0",
 *	 "notes": ["n1: ..."]}		what tasks said though nothing failed
 */
#ifndef CONTROLLER_JOBS_PROVENANCE_H
#define CONTROLLER_JOBS_PROVENANCE_H

#include "controller/cluster/active_job.h"

/* Of a job with a gang; the caller deletes it, before what is known of the
 * nodes changes: the values of "environment" are theirs.
 */
cJSON *provenance_new(const struct job *job);

/* Does any of the job's nodes say that its devices are simulated? */
bool provenance_simulated(const struct gang *gang);

/* Devices that the gang holds, over all nodes. */
uint64_t provenance_devices(const struct gang *gang);

#endif
