/* sampling.c - reads the samples of a gang as they arrive, for its summary.
 */
#include "controller/logs/sampling.h"
#include "controller/results/usage.h"
#include "protocol/base/log.h"
#include "protocol/hardware/sample_format.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

/* Reading one node's samples. */
struct sampling {
	struct usage *usage; /* NULL: no sample arrived yet */
	uint64_t offset;
	bool broken; /* the stored samples cannot be read */
	bool quiet;  /* everything was read, and it was not woken since */
};

struct samplings {
	const struct job_effects *effects;
	uint64_t job;
	uint32_t attempt, nodes;
	struct sampling of[]; /* by rank */
};

struct samplings *samplings_new(const struct job_effects *effects, uint64_t job,
				uint32_t attempt, uint32_t nodes)
{
	struct samplings *samplings =
		calloc(1,
		       sizeof(*samplings) + nodes * sizeof(samplings->of[0]));

	if (!samplings)
		return NULL;
	samplings->effects = effects;
	samplings->job = job;
	samplings->attempt = attempt;
	samplings->nodes = nodes;
	return samplings;
}

void samplings_free(struct samplings *samplings)
{
	for (uint32_t i = 0; samplings && i < samplings->nodes; i++)
		usage_free(samplings->of[i].usage);
	free(samplings);
}

void samplings_wake(struct samplings *samplings, uint32_t rank)
{
	samplings->of[rank].quiet = false;
}

static bool sampling_read_piece(struct samplings *samplings, uint32_t rank,
				char *piece, size_t size)
{
	const struct job_effects *effects = samplings->effects;
	struct sampling *sampling = &samplings->of[rank];
	char stream[SAMPLE_FORMAT_STREAM_SIZE];
	struct error err = { 0 };
	size_t got = 0;
	int rc;

	if (sampling->broken || sampling->quiet)
		return false;
	sample_format_stream(rank, stream);
	rc = effects->log_read(effects->arg, samplings->job, samplings->attempt,
			       stream, sampling->offset, piece, size, &got,
			       &err);
	sampling->broken = rc < 0 && err.code == EIO;
	/* The files of nodes without new samples stay closed. */
	sampling->quiet = rc < 0 ? err.code == ENOENT : !got;
	if (!got)
		return false;
	if (!sampling->usage)
		sampling->usage = usage_new(&err);
	if (!sampling->usage ||
	    usage_feed(sampling->usage, piece, got, &err) < 0)
		sampling->broken = true;
	if (sampling->broken)
		log_error("job=%" PRIu64 " stream=%s: %s", samplings->job,
			  stream, err.text);
	sampling->offset += got;
	return true;
}

bool samplings_read(struct samplings *samplings, char *piece, size_t size)
{
	bool more = false;

	for (uint32_t i = 0; i < samplings->nodes; i++)
		more |= sampling_read_piece(samplings, i, piece, size);
	return more;
}

const struct usage *samplings_usage(const struct samplings *samplings,
				    uint32_t rank)
{
	return samplings->of[rank].usage;
}

bool samplings_done(const struct samplings *samplings)
{
	const struct job_effects *effects = samplings->effects;

	for (uint32_t i = 0; i < samplings->nodes; i++) {
		const struct sampling *sampling = &samplings->of[i];
		char stream[SAMPLE_FORMAT_STREAM_SIZE];
		uint64_t length = 0;

		sample_format_stream(i, stream);
		effects->log_length(effects->arg, samplings->job,
				    samplings->attempt, stream, &length, NULL);
		if (!sampling->broken && sampling->offset < length)
			return false;
	}
	return true;
}

const struct usage **samplings_list(const struct samplings *samplings,
				    struct error *err)
{
	const struct usage **list =
		calloc(samplings->nodes + 1, sizeof(const struct usage *));

	if (!list)
		return error_null(error_nomem(err, "usage"));
	for (uint32_t i = 0; i < samplings->nodes; i++)
		list[i] = samplings->of[i].usage;
	return list;
}
