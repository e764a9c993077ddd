/* log_ingest.c - the jobs' output comes in: to the log store, and to the
 * readers.
 *
 * Readers follow the stored files, never the wire: after a restart they read
 * the same bytes again and come to the same figures.
 */
#include "controller/logs/log_ingest.h"
#include "controller/catalog/catalog.h"
#include "controller/cluster/job_life.h"
#include "controller/logs/log_formats.h"
#include "controller/logs/sampling.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"
#include "protocol/hardware/sample_format.h"
#include "protocol/message/stream_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES (256 << 10)
#define READ_TURN 8 /* pieces per turn of the loop */
#define INDEX_PIECE ((size_t)2 * STREAM_INDEX_LINE_MAX)
#define READINGS_MAX 4096  /* streams read of a job, beside the ranks' */
#define FULL_RETRY_MS 1000 /* when the disk is full */

struct log_ingest {
	struct log_formats *formats;
	TAILQ_HEAD(, gang) reading; /* there is output that was not read */
	uint64_t stored_bytes;
	bool full; /* the disk; said so in the log already */
};

/* Output of one task: one stream per process. */

static uint32_t stream_count(const struct task *task)
{
	uint32_t processes = task->job->gang->spec.container.processes;

	return processes ? processes : 1;
}

static void stream_name(const struct task *task, uint32_t i, char name[32])
{
	snprintf(name, 32, "rank-%u", task->rank * stream_count(task) + i);
}

static bool stream_expected(const struct task *task, const char *stream)
{
	char name[32];

	for (uint32_t i = 0; i < stream_count(task); i++) {
		stream_name(task, i, name);
		if (!strcmp(name, stream))
			return true;
	}
	build_stream(task->rank, name);
	if (task->job->gang->spec.container.build && !strcmp(name, stream))
		return true;
	sample_format_stream(task->rank, name);
	return !strcmp(name, stream) ||
	       stream_index_belongs(task->rank, stream);
}

static void send_ack(struct cluster *cluster, struct task *task,
		     const struct message_log_ack *ack)
{
	struct error err;

	if (task->node->peer &&
	    cluster->effects->send(cluster->world, task->node, MESSAGE_LOG_ACK,
				   ack, &err) < 0)
		log_error("node=%s: %s", task->node->name, err.text);
}

static void tell_length(struct cluster *cluster, struct task *task, char *name)
{
	struct message_log_ack ack = {
		.job = task->job->id,
		.attempt = task->job->attempt,
		.rank = task->rank,
		.stream = name,
		.refused = true,
	};

	if (cluster->effects->log_length(cluster->world, ack.job, ack.attempt,
					 name, &ack.length, NULL) == 0)
		send_ack(cluster, task, &ack);
}

void log_ingest_tell_lengths(struct cluster *cluster, struct task *task)
{
	char name[32];

	for (uint32_t i = 0; i < stream_count(task); i++) {
		stream_name(task, i, name);
		tell_length(cluster, task, name);
	}
	sample_format_stream(task->rank, name);
	tell_length(cluster, task, name);
	build_stream(task->rank, name);
	if (task->job->gang->spec.container.build)
		tell_length(cluster, task, name);
	for (size_t i = 0; i < task->streams_count; i++)
		if (stream_index_belongs(task->rank, task->streams[i].name))
			tell_length(cluster, task, task->streams[i].name);
}

static void wake_readers(struct cluster *cluster, struct gang *gang)
{
	gang->behind = true;
	if (!gang->reading) {
		gang->reading = true;
		TAILQ_INSERT_TAIL(&cluster->ingest->reading, gang, by_reading);
	}
	cluster->effects->read_soon(cluster->world);
}

static void append_failed(struct cluster *cluster, struct task *task,
			  const struct message_log *log, size_t size,
			  struct message_log_ack *ack, const struct error *err)
{
	ack->refused = true;
	if (err->code == EINVAL)
		return; /* not where the stream stands: the node goes back */
	if (err->code == E2BIG) {
		/* The store never has room for it: it is passed over. */
		if (!task->crowded)
			log_error("job=%" PRIu64 " stream=%s: %s", log->job,
				  log->stream, err->text);
		task->crowded = true;
		ack->refused = false;
		ack->length = log->offset + size;
		return;
	}
	ack->retry_ms = FULL_RETRY_MS;
	if (!cluster->ingest->full)
		log_error("job=%" PRIu64 " stream=%s: %s; trying again",
			  log->job, log->stream, err->text);
	cluster->ingest->full = true;
}

void log_ingest_log(struct cluster *cluster, struct node *node,
		    const struct message_log *log, const void *data,
		    size_t size)
{
	struct task *task =
		task_find(cluster, node, log->job, log->attempt, log->rank);
	struct message_log_ack ack = {
		.job = log->job,
		.attempt = log->attempt,
		.rank = log->rank,
		.stream = log->stream,
		.turn = log->turn,
	};
	struct job *job = task ? task->job : NULL;
	struct error err;

	if (!task || job_state_final(job->state))
		return; /* it is being told to discard */
	if (!stream_expected(task, log->stream)) {
		cluster->effects->drop(cluster->world, node, EPROTO,
				       "output of a stream that the task does "
				       "not have");
		return;
	}
	if (cluster->effects->log_append(cluster->world, log, data, size,
					 &ack.length, &err) < 0)
		append_failed(cluster, task, log, size, &ack, &err);
	else
		cluster->ingest->full = job->gang->synced = false;
	if (ack.length == log->offset + size)
		cluster->ingest->stored_bytes += size;
	task->index_new |= stream_index_is_index(log->stream);
	sampling_wake(job->gang, task->rank);
	send_ack(cluster, task, &ack);
	news_add_job(&cluster->news, job->id);
	wake_readers(cluster, job->gang);
	if (task->state == TASK_ENDED) {
		log_ingest_check(cluster, task);
		if (task->collected)
			cluster->life->advance(cluster, job);
	}
}

void log_ingest_check(struct cluster *cluster, struct task *task)
{
	const struct job *job = task->job;

	for (size_t i = 0; i < task->streams_count; i++) {
		const struct stream_size *stream = &task->streams[i];
		uint64_t length = 0;

		if (!stream_expected(task, stream->name))
			continue;
		if (cluster->effects->log_length(cluster->world, job->id,
						 job->attempt, stream->name,
						 &length, NULL) < 0)
			return;
		if (length < stream->size && (length || !task->crowded))
			return;
	}
	task->collected = cluster->effects->files_here(cluster->world, task);
}

/* Reading for metrics. */

/* Those of the catalog, from the first use on; NULL: ENOMEM. */
static struct log_formats *formats_of(const struct cluster *cluster)
{
	struct log_ingest *ingest = cluster->ingest;

	if (!ingest->formats)
		ingest->formats = log_formats_new(cluster->catalog, NULL);
	return ingest->formats;
}

/* Is the format of the job's log to be found? So it is where nothing says what
 * it is.
 */
static bool is_auto(const struct gang *gang)
{
	const struct measure_spec *measure = &gang->spec.measure;

	return measure->log ? !strcmp(measure->log, "auto")
			    : !measure->framework;
}

bool log_ingest_named(const struct job *job)
{
	const struct measure_spec *measure = &job->gang->spec.measure;

	return measure->log || measure->framework;
}

/* The rules of the format that the job names; NULL: none. */
static struct extract_rules *named_rules(struct cluster *cluster,
					 struct gang *gang)
{
	const struct framework *framework =
		is_auto(gang) ? NULL : log_ingest_format(cluster, gang);
	struct log_formats *formats = formats_of(cluster);

	if (!formats || !framework || !framework->log)
		return NULL;
	if (!gang->own_catalog)
		return log_formats_rules(formats, framework);
	if (!gang->own_rules)
		gang->own_rules = log_formats_compile(gang->catalog, framework);
	return gang->own_rules;
}

bool log_ingest_reads(struct cluster *cluster, const struct job *job)
{
	const struct log_formats *formats = formats_of(cluster);

	return is_auto(job->gang)
		       ? formats && log_formats_tried(formats, 0) != NULL
		       : named_rules(cluster, job->gang) != NULL;
}

const struct framework *log_ingest_format(const struct cluster *cluster,
					  const struct gang *gang)
{
	const struct measure_spec *measure = &gang->spec.measure;
	const char *name = measure->log ? measure->log : measure->framework;

	if (!is_auto(gang))
		return catalog_framework(gang->catalog, name);
	return gang->readings_count ? gang->readings[0].format : NULL;
}

bool log_ingest_tied(const struct gang *gang)
{
	return gang->readings_count && gang->readings[0].tied;
}

size_t log_ingest_likely(const struct gang *gang,
			 const char (**lines)[LIKELY_LINE_BYTES])
{
	if (!gang->readings_count || !gang->readings[0].likely)
		return 0;
	*lines = gang->readings[0].likely;
	return gang->readings[0].likely_count;
}

/* Whose bytes' times an extract asks for. */
struct log_clock {
	struct cluster *cluster;
	uint64_t job;
	uint32_t attempt;
	char stream[STREAM_INDEX_NAME_MAX + 1];
};

/* extract_clock_fn */
static int64_t time_of(void *arg, uint64_t offset)
{
	const struct log_clock *clock = arg;

	return clock->cluster->effects->log_time(clock->cluster->world,
						 clock->job, clock->attempt,
						 clock->stream, offset);
}

static struct extract *new_extract(const struct log_reading *reading,
				   struct extract_rules *rules)
{
	struct extract *extract = extract_new(rules, NULL);

	if (extract)
		extract_clock(extract, time_of, reading->clock);
	return extract;
}

static int add_reading(struct gang *gang, struct extract_rules *rules,
		       const char *stream)
{
	struct log_reading *readings =
		realloc(gang->readings,
			(gang->readings_count + 1) * sizeof(*readings));
	struct log_reading *reading;

	if (!readings)
		return -1;
	gang->readings = readings;
	reading = &readings[gang->readings_count];
	*reading = (struct log_reading){
		.clock = calloc(1, sizeof(*reading->clock))
	};
	if (!reading->clock)
		return -1;
	*reading->clock = (struct log_clock){
		.cluster = gang->cluster,
		.job = gang->job->id,
		.attempt = gang->job->attempt,
	};
	snprintf(reading->clock->stream, sizeof(reading->clock->stream), "%s",
		 stream);
	if (rules && !(reading->extract = new_extract(reading, rules))) {
		free(reading->clock);
		return -1;
	}
	snprintf(reading->stream, sizeof(reading->stream), "%s", stream);
	gang->readings_count++;
	return 0;
}

/* The tasks whose output is read, first to last. */
static void reading_tasks(const struct gang *gang,
			  const struct extract_rules *rules, uint32_t *first,
			  uint32_t *last)
{
	enum extract_read read =
		rules ? extract_rules_read(rules) : EXTRACT_FIRST;

	*first = read == EXTRACT_LAST ? gang->spec.nodes - 1 : 0;
	*last = read == EXTRACT_FIRST ? 0 : gang->spec.nodes - 1;
}

/* Begin to read what the framework says is to be read. */
static int begin_reading(struct gang *gang, struct extract_rules *rules)
{
	uint32_t streams = stream_count(&gang->tasks[0]);
	uint32_t first, last, task, i;
	enum extract_read read =
		rules ? extract_rules_read(rules) : EXTRACT_FIRST;
	char name[32];

	reading_tasks(gang, rules, &first, &last);
	for (task = first; task <= last; task++) {
		gang->tasks[task].index_new = true;
		for (i = 0; i < streams; i++) {
			if ((read == EXTRACT_FIRST && i > 0) ||
			    (read == EXTRACT_LAST && i < streams - 1))
				continue;
			stream_name(&gang->tasks[task], i, name);
			if (add_reading(gang, rules, name) < 0)
				return -1;
		}
	}
	if (!is_auto(gang) || (gang->spec.nodes == 1 && streams == 1))
		return 0;
	/* Some formats are those of the last rank. */
	task = gang->spec.nodes - 1;
	gang->tasks[task].index_new = true;
	stream_name(&gang->tasks[task], streams - 1, name);
	return add_reading(gang, rules, name);
}

/* Where new lines of an index lead. */
struct finding {
	struct gang *gang;
	struct extract_rules *rules;
	uint32_t rank;
	bool failed;
};

/* stream_index_line_fn */
static void find_file(void *arg, const char *line, size_t size)
{
	struct finding *finding = arg;
	owned(stream_index_clear) struct stream_index file = { 0 };

	if (stream_index_parse(line, size, finding->rank, &file, NULL) == 0 &&
	    file.path && extract_rules_file(finding->rules, file.path) &&
	    finding->gang->readings_count < READINGS_MAX &&
	    add_reading(finding->gang, finding->rules, file.stream) < 0)
		finding->failed = true;
}

/* Take up what a task's index says by now. */
static int read_index(struct cluster *cluster, struct task *task,
		      struct finding *finding)
{
	const struct job *job = task->job;
	owned_free char *text = malloc(INDEX_PIECE);
	char name[STREAM_INDEX_NAME_MAX + 1];
	size_t got = 0, done = 0;

	if (!text)
		return -1;
	finding->rank = task->rank;
	stream_index_index(task->rank, name);
	do {
		task->index_read += done;
		if (cluster->effects->log_read(cluster->world, job->id,
					       job->attempt, name,
					       task->index_read, text,
					       INDEX_PIECE, &got, NULL) < 0)
			break; /* nothing is followed, or not yet */
		done = stream_index_lines(text, got, find_file, finding);
		if (!done && got == INDEX_PIECE)
			done = got; /* no line of ours is as long */
	} while (done && !finding->failed);
	task->index_new = false;
	return finding->failed ? -1 : 0;
}

static int keep_reading(struct cluster *cluster, struct gang *gang)
{
	struct finding finding = {
		.gang = gang,
		.rules = named_rules(cluster, gang),
	};
	uint32_t first, last;

	if (!log_ingest_reads(cluster, gang->job))
		return 0;
	if (!gang->readings && begin_reading(gang, finding.rules) < 0)
		return -1;
	if (!finding.rules)
		return 0; /* no format that is found has files of its own */
	reading_tasks(gang, finding.rules, &first, &last);
	for (uint32_t i = first; i <= last; i++)
		if (gang->tasks[i].index_new &&
		    read_index(cluster, &gang->tasks[i], &finding) < 0)
			return -1;
	return 0;
}

/* Bytes of a stream for a trial. */
struct trial_source {
	struct cluster *cluster;
	const struct job *job;
	struct log_reading *reading;
};

static size_t read_bytes(struct cluster *cluster, const struct job *job,
			 struct log_reading *reading, uint64_t offset,
			 char *data, size_t size)
{
	struct error err = { 0 };
	size_t got = 0;

	if (cluster->effects->log_read(cluster->world, job->id, job->attempt,
				       reading->stream, offset, data, size,
				       &got, &err) < 0 &&
	    err.code == EIO) {
		/* The bytes are there, and no trying will get them. */
		log_error("job=%" PRIu64 ": %s", job->id, err.text);
		reading->broken = true;
	}
	return got;
}

/* format_trial_read_fn */
static size_t read_for_trial(void *arg, uint64_t offset, char *data,
			     size_t size)
{
	const struct trial_source *source = arg;

	return read_bytes(source->cluster, source->job, source->reading, offset,
			  data, size);
}

/* The format that fits reads the whole stream, from its first byte on. */
static int take_format(struct log_reading *reading,
		       const struct framework *format,
		       struct extract_rules *rules)
{
	struct extract *extract;

	if (reading->format == format)
		return 0;
	extract = new_extract(reading, rules);
	if (!extract)
		return -1;
	extract_free(reading->extract);
	reading->extract = extract;
	reading->format = format;
	reading->offset = 0;
	return 0;
}

static void keep_likely(struct log_reading *reading, const char *text,
			size_t size)
{
	free(reading->likely);
	reading->likely = calloc(LIKELY_LINES, sizeof(*reading->likely));
	reading->likely_count =
		reading->likely ? likely_lines(text, size, reading->likely) : 0;
}

static int try_text(struct log_formats *formats, struct log_reading *reading,
		    struct extract_rules *const *rules, size_t count,
		    const char *text, size_t size)
{
	struct format_trial trial;

	if (format_trial(rules, count, text, size, &trial, NULL) < 0)
		return -1;
	reading->sure = trial.steps >= FORMAT_TRIAL_SURE;
	reading->tied = trial.tied;
	if (trial.steps)
		return take_format(reading,
				   log_formats_tried(formats, trial.format),
				   rules[trial.format]);
	/* What was found at another length stays: nothing is better. */
	if (!reading->format)
		keep_likely(reading, text, size);
	return 0;
}

/* Find the format of a stream whose format is not known for sure, when that is
 * due; true: it goes on at the next call.
 */
static bool find_format(struct cluster *cluster, struct gang *gang,
			struct log_reading *reading, bool complete)
{
	struct trial_source source = { cluster, gang->job, reading };
	struct log_formats *formats = formats_of(cluster);
	owned_free char *text = NULL;
	struct extract_rules *const *rules;
	uint64_t length = 0;
	size_t count;

	cluster->effects->log_length(cluster->world, gang->job->id,
				     gang->job->attempt, reading->stream,
				     &length, NULL);
	if (reading->broken || length == reading->tried ||
	    (!complete &&
	     (reading->sure || !format_trial_due(length, reading->tried))))
		return false;
	rules = log_formats_all(formats, &count);
	if (!rules)
		return true;
	text = malloc(FORMAT_TRIAL_BYTES);
	if (!text)
		return false;
	reading->tried = length;
	try_text(formats, reading, rules, count, text,
		 format_trial_text(length, read_for_trial, &source, text));
	return false;
}

/* NaN is the same as NaN here. */
static bool same_number(double a, double b)
{
	return a == b || (a != a && b != b);
}

/* All but metrics of a rule's own. */
static bool same_figures(const struct record *a, const struct record *b)
{
	return a->has == b->has && a->step == b->step &&
	       a->steps_total == b->steps_total && a->rank == b->rank &&
	       a->finished == b->finished && same_number(a->loss, b->loss) &&
	       same_number(a->iteration_ms, b->iteration_ms) &&
	       same_number(a->tokens_per_second, b->tokens_per_second) &&
	       same_number(a->samples_per_second, b->samples_per_second) &&
	       same_number(a->tokens_per_device, b->tokens_per_device) &&
	       same_number(a->memory_mib, b->memory_mib);
}

/* Read a piece; true: there may be more. */
static bool read_piece(struct cluster *cluster, struct gang *gang,
		       struct log_reading *reading, char *piece)
{
	const struct job *job = gang->job;
	const struct record *latest;
	struct record before;
	size_t got;

	if (is_auto(gang) && find_format(cluster, gang, reading, false))
		return true;
	if (reading->broken || !reading->extract)
		return false;
	got = read_bytes(cluster, job, reading, reading->offset, piece,
			 READ_BYTES);
	if (!got)
		return false;
	latest = extract_latest(reading->extract);
	before = *latest;
	extract_feed(reading->extract, piece, got, NULL);
	reading->offset += got;
	/* Metrics of a rule's own are not looked at one by one. */
	if (latest->metric_room || !same_figures(&before, latest)) {
		gang->job->progress_seq = ++cluster->progress_seq;
		cluster->news.events = true;
	}
	return true;
}

static bool read_some(struct cluster *cluster, struct gang *gang, char *piece)
{
	bool more = sampling_read(cluster, gang, piece, READ_BYTES);

	if (keep_reading(cluster, gang) < 0)
		return false;
	for (size_t i = 0; i < gang->readings_count; i++)
		more |= read_piece(cluster, gang, &gang->readings[i], piece);
	return more;
}

/* It goes round the gangs. */
void intake_read(struct cluster *cluster)
{
	owned_free char *piece = malloc(READ_BYTES);
	struct gang *gang;

	for (int i = 0; piece && i < READ_TURN; i++) {
		gang = TAILQ_FIRST(&cluster->ingest->reading);
		if (!gang)
			return;
		TAILQ_REMOVE(&cluster->ingest->reading, gang, by_reading);
		gang->behind = read_some(cluster, gang, piece);
		gang->reading = gang->behind;
		if (gang->behind)
			TAILQ_INSERT_TAIL(&cluster->ingest->reading, gang,
					  by_reading);
		else
			cluster->life->advance(cluster, gang->job);
	}
	if (!TAILQ_EMPTY(&cluster->ingest->reading))
		cluster->effects->read_soon(cluster->world);
}

static void reading_clear(struct log_reading *reading)
{
	extract_free(reading->extract);
	free(reading->clock);
	free(reading->likely);
}

static size_t steps_read(const struct log_reading *reading)
{
	size_t count = 0;

	if (reading->extract)
		extract_records(reading->extract, &count);
	return count;
}

/* Of several streams the one whose format reads most steps: others may be of
 * another format.
 */
static void keep_best(struct gang *gang)
{
	struct log_reading best = gang->readings[0];

	for (size_t i = 1; i < gang->readings_count; i++) {
		struct log_reading *other = &gang->readings[i];

		if (steps_read(other) > steps_read(&best)) {
			reading_clear(&best);
			best = *other;
		} else {
			reading_clear(other);
		}
	}
	gang->readings[0] = best;
	gang->readings_count = 1;
}

bool log_ingest_read_all(struct cluster *cluster, struct job *job)
{
	struct gang *gang = job->gang;

	if (keep_reading(cluster, gang) < 0)
		return false;
	if (!sampling_done(cluster, gang)) {
		wake_readers(cluster, gang);
		return false;
	}
	for (size_t i = 0; i < gang->readings_count; i++) {
		struct log_reading *reading = &gang->readings[i];
		uint64_t length = 0;
		bool more = is_auto(gang) &&
			    find_format(cluster, gang, reading, true);

		cluster->effects->log_length(cluster->world, job->id,
					     job->attempt, reading->stream,
					     &length, NULL);
		if (more || (!reading->broken && reading->extract &&
			     reading->offset < length)) {
			wake_readers(cluster, gang);
			return false;
		}
	}
	for (size_t i = 0; i < gang->readings_count; i++) {
		struct log_reading *reading = &gang->readings[i];

		if (!reading->finished && reading->extract)
			extract_finish(reading->extract, NULL);
		reading->finished = true;
	}
	if (is_auto(gang) && gang->readings_count)
		keep_best(gang);
	return true;
}

/* The rank's own output, or the file that has the figures. */
const struct record *log_ingest_latest(const struct gang *gang)
{
	const struct record *latest = NULL;

	for (size_t i = 0; gang && i < gang->readings_count; i++) {
		const struct extract *extract = gang->readings[i].extract;
		const struct record *record =
			extract ? extract_latest(extract) : NULL;

		if (!record)
			continue;
		if (!latest || (!latest->has && record->has))
			latest = record;
	}
	return latest;
}

int log_ingest_open(struct cluster *cluster, struct error *err)
{
	cluster->ingest = calloc(1, sizeof(*cluster->ingest));
	if (!cluster->ingest)
		return error_nomem(err, "log ingest");
	TAILQ_INIT(&cluster->ingest->reading);
	return 0;
}

uint64_t log_ingest_stored_bytes(const struct cluster *cluster)
{
	return cluster->ingest ? cluster->ingest->stored_bytes : 0;
}

void log_ingest_forget(struct cluster *cluster, struct gang *gang)
{
	if (gang->reading)
		TAILQ_REMOVE(&cluster->ingest->reading, gang, by_reading);
	for (size_t i = 0; i < gang->readings_count; i++)
		reading_clear(&gang->readings[i]);
	free(gang->readings);
	extract_rules_free(gang->own_rules);
	sampling_clear(gang);
}

void log_ingest_close(struct cluster *cluster)
{
	struct log_ingest *ingest = take(cluster->ingest);

	if (!ingest)
		return;
	log_formats_free(ingest->formats);
	free(ingest);
}
