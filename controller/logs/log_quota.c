/* log_quota.c - how much is kept, and the output of a job that prints too much.
 */
#include "controller/logs/log_quota.h"
#include "controller/jobs/cluster.h"
#include "controller/logs/log_ingest.h"
#include "protocol/base/log.h"
#include "protocol/hardware/sample_format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STEP_MIN (64 << 10)

/* What the attempt has on disk, counted when a controller meets it first. */
static void count(struct cluster *cluster, struct gang *gang, size_t size)
{
	const struct job *job = gang->job;

	if (gang->counted) {
		gang->log_bytes += size;
		return;
	}
	gang->counted = log_store_usage(cluster->logs, job->id, job->attempt,
					&gang->log_bytes, NULL) == 0;
}

/* Each process has a stream, and each node its samples. */
static uint64_t streams_of(const struct gang *gang)
{
	uint64_t processes = gang->spec.container.processes;

	return gang->spec.nodes * ((processes ? processes : 1) + 1);
}

/* Up to where the stream was read for figures; false: that is not known. */
static bool read_up_to(struct cluster *cluster, const struct gang *gang,
		       const char *stream, uint64_t *end)
{
	const char *digits = strrchr(stream, '-');
	uint32_t rank = digits ? (uint32_t)strtoul(digits + 1, NULL, 10) : 0;
	char samples[SAMPLE_FORMAT_STREAM_SIZE];

	sample_format_stream(rank, samples);
	if (!strcmp(stream, samples) && rank < gang->spec.nodes) {
		if (gang->samplings && !gang->samplings[rank].broken)
			*end = gang->samplings[rank].offset;
		return gang->samplings;
	}
	if (!gang->readings)
		return !log_ingest_rules(cluster, gang->job);
	for (size_t i = 0; i < gang->readings_count; i++)
		if (!strcmp(gang->readings[i].stream, stream) &&
		    !gang->readings[i].broken)
			*end = gang->readings[i].offset;
	return true;
}

static void tell(struct gang *gang, const char *stream, uint64_t limit,
		 const struct error *err)
{
	if (err)
		log_error("job=%" PRIu64 " stream=%s: more than %" PRIu64
			  " bytes of output, and they stay: %s",
			  gang->job->id, stream, limit, err->text);
	else if (!gang->over)
		log_warning("job=%" PRIu64 " stream=%s: the job has more than "
			    "%" PRIu64 " bytes of output: of what is beyond "
			    "its beginning and end are kept",
			    gang->job->id, stream, limit);
	gang->over = true;
	gang->boundless |= err != NULL;
}

void quota_stored(struct cluster *cluster, struct gang *gang,
		  const char *stream, size_t size)
{
	uint64_t limit = cluster->keep.job_bytes, share, step;
	uint64_t length = 0, end, freed = 0;
	const struct job *job = gang->job;
	struct logcut cut;
	struct error err;

	if (!limit || gang->boundless)
		return;
	count(cluster, gang, size);
	if (gang->log_bytes <= limit || stream_index_is_index(stream))
		return;
	share = limit / streams_of(gang);
	step = share / 4 > LOGCUT_STEP ? LOGCUT_STEP : share / 4;
	if (step < STEP_MIN)
		step = STEP_MIN;
	if (log_store_length(cluster->logs, job->id, job->attempt, stream,
			     &length, NULL) < 0 ||
	    log_store_cut_of(cluster->logs, job->id, job->attempt, stream, &cut,
			     NULL) < 0 ||
	    length - (cut.to - cut.from) <= share + step)
		return;
	end = length - share / 2;
	if (!read_up_to(cluster, gang, stream, &end))
		return;
	if (end > length - share / 2)
		end = length - share / 2;
	if (log_store_cut(cluster->logs, job->id, job->attempt, stream,
			  share / 2, end, &freed, &err) < 0)
		tell(gang, stream, limit, &err);
	else if (freed)
		tell(gang, stream, limit, NULL);
	cluster->stored_bytes -= freed;
	gang->log_bytes -= freed < gang->log_bytes ? freed : gang->log_bytes;
}
