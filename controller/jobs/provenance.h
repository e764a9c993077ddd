/* provenance.h - the origin of a result: what ran, on which nodes, read by
 * which rules.
 *
 * A JSON object; unknown values are null:
 *
 *	{"image": "sha256:...",		id of the image on the first node
 *	 "image_reference": "name:tag",	as in the sweep
 *	 "engine", "kernel", "os", "cpu", "driver": of the first node
 *	 "environment": {...},		all facts of the first node, as they
 *					were when the job's task was checked
 *	 "nodes": ["n1", "n2"],
 *	 "hosts": [{"nodes": ["n1", "n2"], "image": "sha256:...", "vendor",
 *	   "driver", "sdk", "engine", "kernel", "os", "machine"}],
 *					equal nodes share an entry
 *	 "simulated": false,		true: devices of a lab, no real ones
 *	 "devices": 16,
 *	 "attempt": 1,
 *	 "cell_key": "...",		hash of the job's spec
 *	 "workspace": "...",		SHA-256 of the code tree as a tar file
 *	 "framework": "megatron",
 *	 "log": "megatron",		the format of its log
 *	 "rules": "...",		hash of the descriptions with its rules
 *	 "described": {"frameworks": {"megatron": "..."}},	hashes of
 *				descriptions of the sweep, by kind and name
 *	 "streams": ["rank-0"],		that the result was read from
 *	 "formula": 2,
 *	 "regatta": "0.1.0",
 *	 "notes": ["n1: ..."]}		remarks of tasks that did not fail
 */
#ifndef CONTROLLER_JOBS_PROVENANCE_H
#define CONTROLLER_JOBS_PROVENANCE_H

#include "controller/cluster/active_job.h"
#include "protocol/message/json_writer.h"

/* The bytes of the text that are the same for other jobs of the sweep on this
 * node.
 */
struct provenance_shared {
	size_t from, to;
};

/* Write it, for a job with a gang. */
void provenance_write(const struct job *job, struct json_writer *writer,
		      const char *name, struct provenance_shared *shared);

/* Does any of the job's nodes report simulated devices? */
bool provenance_simulated(const struct gang *gang);

/* Devices that the gang holds, over all nodes. */
uint64_t provenance_devices(const struct gang *gang);

#endif
