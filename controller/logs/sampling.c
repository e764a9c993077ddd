/* sampling.c - a gang's samples, read as they come in, for its summary.
 */
#include "controller/logs/sampling.h"
#include "controller/cluster/active_job.h"
#include "controller/results/usage.h"
#include "protocol/base/log.h"
#include "protocol/hardware/sample_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void sampling_wake(struct gang *gang, uint32_t rank)
{
	if (gang->samplings)
		gang->samplings[rank].quiet = false;
}

static bool read_one(struct cluster *cluster, struct gang *gang, uint32_t rank,
		     char *piece, size_t size)
{
	struct sampling *sampling = &gang->samplings[rank];
	const struct job *job = gang->job;
	char stream[SAMPLE_FORMAT_STREAM_SIZE];
	struct error err = { 0 };
	size_t got = 0;
	int rc;

	if (sampling->broken || sampling->quiet)
		return false;
	sample_format_stream(rank, stream);
	rc = cluster->effects->log_read(cluster->world, job->id, job->attempt,
					stream, sampling->offset, piece, size,
					&got, &err);
	sampling->broken = rc < 0 && err.code == EIO;
	/* Of a thousand nodes one has news: the others' files stay closed. */
	sampling->quiet = rc < 0 ? err.code == ENOENT : !got;
	if (!got)
		return false;
	if (!sampling->usage)
		sampling->usage = usage_new(&err);
	if (!sampling->usage ||
	    usage_feed(sampling->usage, piece, got, &err) < 0)
		sampling->broken = true;
	if (sampling->broken)
		log_error("job=%" PRIu64 " stream=%s: %s", job->id, stream,
			  err.text);
	sampling->offset += got;
	return true;
}

bool sampling_read(struct cluster *cluster, struct gang *gang, char *piece,
		   size_t size)
{
	bool more = false;

	if (!gang->samplings)
		gang->samplings =
			calloc(gang->spec.nodes, sizeof(*gang->samplings));
	for (uint32_t i = 0; gang->samplings && i < gang->spec.nodes; i++)
		more |= read_one(cluster, gang, i, piece, size);
	return more;
}

bool sampling_done(struct cluster *cluster, const struct gang *gang)
{
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct sampling *sampling =
			gang->samplings ? &gang->samplings[i] : NULL;
		char stream[SAMPLE_FORMAT_STREAM_SIZE];
		uint64_t length = 0;

		sample_format_stream(i, stream);
		cluster->effects->log_length(cluster->world, gang->job->id,
					     gang->job->attempt, stream,
					     &length, NULL);
		if (length && (!sampling || (!sampling->broken &&
					     sampling->offset < length)))
			return false;
	}
	return true;
}

typedef cJSON *usage_fn(const struct usage *const *streams, size_t count,
			struct error *err);

static cJSON *over_all(const struct gang *gang, usage_fn *fn, struct error *err)
{
	owned_free const struct usage **list = NULL;
	uint32_t nodes = gang->samplings ? gang->spec.nodes : 0;

	list = calloc(nodes + 1, sizeof(const struct usage *));
	if (!list) {
		error_nomem(err, "usage");
		return NULL;
	}
	for (uint32_t i = 0; i < nodes; i++)
		list[i] = gang->samplings[i].usage;
	return fn(list, nodes, err);
}

cJSON *sampling_summary(const struct gang *gang, struct error *err)
{
	return over_all(gang, usage_summary, err);
}

cJSON *sampling_curves(const struct gang *gang, struct error *err)
{
	return over_all(gang, usage_curves, err);
}

cJSON *sampling_host_curves(const struct gang *gang, struct error *err)
{
	return over_all(gang, usage_host_curves, err);
}

void sampling_clear(struct gang *gang)
{
	for (uint32_t i = 0; gang->samplings && i < gang->spec.nodes; i++)
		usage_free(gang->samplings[i].usage);
	free(gang->samplings);
	gang->samplings = NULL;
}
