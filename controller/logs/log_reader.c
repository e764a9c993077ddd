/* log_reader.c - reads metrics from the stored output of jobs.
 */
#include "controller/logs/log_reader.h"
#include "controller/catalog/catalog.h"
#include "controller/logs/log_reading.h"
#include "controller/logs/sampling.h"
#include "controller/logs/task_streams.h"
#include "controller/results/usage.h"
#include "protocol/base/list.h"
#include "protocol/message/stream_index.h"

#include <stdlib.h>
#include <string.h>

#define READ_BYTES (256 << 10)
#define INDEX_PIECE ((size_t)2 * STREAM_INDEX_LINE_MAX)
#define READINGS_MAX 4096 /* streams read of a job, beside the ranks' */
#define CHOICE_MAX 64     /* files that may have the log, if no rule names it */

/* Memory of the figures of followed files, which a container may make as large
 * as it likes: of a job, and of all. The smallest files are given up first.
 */
#define FILES_BYTES ((size_t)64 << 20)
#define FILES_BYTES_ALL ((size_t)512 << 20)

struct log_reader {
	const struct job_effects *effects;
	struct changes *changes;
	const struct catalog *catalog;
	struct log_formats *formats;
	size_t file_bytes;                /* of all outputs */
	char *piece;                      /* READ_BYTES */
	TAILQ_HEAD(, gang_output) behind; /* with output that is not read */
};

/* The reading of a gang's output. */
struct gang_output {
	struct log_reader *reader;
	struct gang *gang;
	struct log_reading **readings;
	size_t count;
	size_t ranks;  /* the first ones, which read the ranks' own output */
	bool detected; /* the named framework's rules read nothing */
	bool merged;   /* all figures are in the first one */
	size_t file_bytes; /* of the readings after the ranks' */
	size_t given_up;   /* of them */
	struct samplings *samplings;
	struct index {         /* of followed files, by rank */
		uint64_t read; /* bytes */
		bool is_new;   /* there may be more to read */
	} * indexes;
	uint64_t lives; /* signs of life, by the rules */
	bool is_new;    /* there may be output to read, besides samples */
	bool listed;    /* in reader->behind */
	TAILQ_ENTRY(gang_output) by_reader;
};

struct log_reader *log_reader_new(const struct job_effects *effects,
				  struct changes *changes,
				  const struct catalog *catalog,
				  struct error *err)
{
	owned(log_reader_free) struct log_reader *reader =
		calloc(1, sizeof(*reader));

	if (!reader || !(reader->piece = malloc(READ_BYTES)))
		return error_null(error_nomem(err, "log reader"));
	reader->effects = effects;
	reader->changes = changes;
	reader->catalog = catalog;
	TAILQ_INIT(&reader->behind);
	return take(reader);
}

void log_reader_free(struct log_reader *reader)
{
	if (!reader)
		return;
	log_formats_free(reader->formats);
	free(reader->piece);
	free(reader);
}

static void drop_readings(struct gang_output *output, size_t first)
{
	for (size_t i = first; i < output->count; i++)
		log_reading_free(output->readings[i]);
	output->count = first;
}

void gang_output_free(struct gang_output *output)
{
	if (!output)
		return;
	if (output->listed)
		TAILQ_REMOVE(&output->reader->behind, output, by_reader);
	output->reader->file_bytes -= output->file_bytes;
	drop_readings(output, 0);
	free(output->readings);
	free(output->indexes);
	samplings_free(output->samplings);
	free(output);
}
OWNED_POINTER(struct gang_output, gang_output_free)

struct gang_output *gang_output_new(struct log_reader *reader,
				    struct gang *gang, struct error *err)
{
	owned(gang_output_free) struct gang_output *output =
		calloc(1, sizeof(*output));

	if (!output)
		return error_null(error_nomem(err, "output"));
	output->reader = reader;
	output->gang = gang;
	output->is_new = true;
	output->indexes = calloc(gang_nodes(gang), sizeof(*output->indexes));
	output->samplings =
		samplings_new(reader->effects, job_id(gang_job(gang)),
			      job_attempt(gang_job(gang)), gang_nodes(gang));
	if (!output->indexes || !output->samplings)
		return error_null(error_nomem(err, "output"));
	return take(output);
}

static void gang_output_list(struct gang_output *output)
{
	struct log_reader *reader = output->reader;

	if (!output->listed)
		TAILQ_INSERT_TAIL(&reader->behind, output, by_reader);
	output->listed = true;
	reader->effects->read_soon(reader->effects->arg);
}

void log_reader_wake(const struct task *task, const char *stream)
{
	struct gang_output *output = gang_output(task_gang(task));

	output->indexes[task_rank(task)].is_new |=
		stream_index_is_index(stream);
	output->is_new |= task_stream_is_output(task, stream);
	samplings_wake(output->samplings, task_rank(task));
	gang_output_list(output);
}

/* Which formats. */

const struct log_reading *log_reader_first(const struct gang *gang)
{
	return gang_output(gang)->count ? gang_output(gang)->readings[0] : NULL;
}

/* The formats of the catalog; NULL: ENOMEM. */
static struct log_formats *formats_of(struct log_reader *reader)
{
	if (!reader->formats)
		reader->formats = log_formats_new(reader->catalog, NULL);
	return reader->formats;
}

/* Must the format of the job's log be detected? */
static bool is_auto(const struct gang *gang)
{
	const struct measure_spec *measure = &gang_spec(gang)->measure;

	return measure->log ? !strcmp(measure->log, "auto")
			    : !measure->framework;
}

bool log_reader_named(const struct gang *gang)
{
	const struct measure_spec *measure = &gang_spec(gang)->measure;

	return measure->log || measure->framework;
}

/* The rules of the format that the job names; NULL: none. */
static struct extract_rules *named_rules(struct log_reader *reader,
					 const struct gang *gang)
{
	const struct framework *framework =
		is_auto(gang) ? NULL : log_reader_format(gang);
	struct log_formats *formats = formats_of(reader);
	struct extract_rules *own;

	if (gang_own_rules(gang, &own))
		return own;
	return formats && framework && framework->log
		       ? log_formats_rules(formats, framework)
		       : NULL;
}

bool log_reader_reads(struct log_reader *reader, const struct gang *gang)
{
	const struct log_formats *formats = formats_of(reader);

	return is_auto(gang) ? formats && log_formats_tried(formats, 0) != NULL
			     : named_rules(reader, gang) != NULL;
}

const struct framework *log_reader_format(const struct gang *gang)
{
	const struct measure_spec *measure = &gang_spec(gang)->measure;
	const char *name = measure->log ? measure->log : measure->framework;
	const struct log_reading *first;

	first = log_reader_first(gang);
	if (first && log_reading_format(first))
		return log_reading_format(first);
	return is_auto(gang) ? NULL
			     : catalog_framework(gang_catalog(gang), name);
}

/* Which streams. */

static int output_add_reading(struct gang_output *output,
			      struct extract_rules *rules, const char *stream)
{
	struct log_reader *reader = output->reader;
	const struct log_source source = {
		.effects = reader->effects,
		.job = job_id(gang_job(output->gang)),
		.attempt = job_attempt(gang_job(output->gang)),
		.rules = rules,
		.formats = formats_of(reader),
	};
	struct log_reading **added =
		LIST_ADD(output->readings, output->count, NULL);

	if (!added)
		return -1;
	*added = log_reading_new(&source, stream);
	output->count -= !*added;
	return *added ? 0 : -1;
}

/* The tasks whose output is read, first to last. */
static void reading_tasks(const struct gang *gang,
			  const struct extract_rules *rules, uint32_t *first,
			  uint32_t *last)
{
	enum extract_read read =
		rules ? extract_rules_read(rules) : EXTRACT_FIRST;

	*first = read == EXTRACT_LAST ? gang_nodes(gang) - 1 : 0;
	*last = read == EXTRACT_FIRST ? 0 : gang_nodes(gang) - 1;
}

/* If the rules name no file, the log may be the ranks' own output or one of the
 * followed files: all are read, and the best is kept.
 */
static bool chooses(const struct extract_rules *rules)
{
	return !rules || !extract_rules_names_files(rules);
}

/* Begin to read the streams that the framework names. */
static int begin_ranks(struct gang_output *output, struct extract_rules *rules)
{
	const struct gang *gang = output->gang;
	uint32_t streams = task_stream_count(gang_task(gang, 0));
	uint32_t first, last, task, i;
	enum extract_read read =
		rules ? extract_rules_read(rules) : EXTRACT_FIRST;
	char name[TASK_STREAM_SIZE];

	reading_tasks(gang, rules, &first, &last);
	for (task = first; task <= last; task++) {
		output->indexes[task].is_new = true;
		for (i = 0; i < streams; i++) {
			if ((read == EXTRACT_FIRST && i > 0) ||
			    (read == EXTRACT_LAST && i < streams - 1))
				continue;
			task_stream_name(gang_task(gang, task), i, name);
			if (output_add_reading(output, rules, name) < 0)
				return -1;
		}
	}
	if (!is_auto(gang) || (gang_nodes(gang) == 1 && streams == 1))
		return 0;
	/* Some formats are printed by the last rank. */
	task = gang_nodes(gang) - 1;
	output->indexes[task].is_new = true;
	task_stream_name(gang_task(gang, task), streams - 1, name);
	return output_add_reading(output, rules, name);
}

static int gang_output_begin_reading(struct gang_output *output,
				     struct extract_rules *rules)
{
	if (begin_ranks(output, rules) < 0)
		return -1;
	output->ranks = output->count;
	return 0;
}

static bool takes_file(const struct gang_output *output,
		       const struct extract_rules *rules, const char *path)
{
	return chooses(rules) ? output->count - output->ranks < CHOICE_MAX
			      : extract_rules_file(rules, path) &&
					output->count < READINGS_MAX;
}

/* Reads new lines of an index. */
struct finding {
	struct gang_output *output;
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
	    file.path &&
	    takes_file(finding->output, finding->rules, file.path) &&
	    output_add_reading(finding->output, finding->rules, file.stream) <
		    0)
		finding->failed = true;
}

/* Begin to read the files that a rank's index lists by now. */
static int read_index(struct gang_output *output, uint32_t rank,
		      struct finding *finding)
{
	const struct job_effects *effects = output->reader->effects;
	const struct job *job = gang_job(output->gang);
	struct index *index = &output->indexes[rank];
	char name[STREAM_INDEX_NAME_MAX + 1], text[INDEX_PIECE];
	size_t got = 0, done = 0;

	finding->rank = rank;
	stream_index_index(rank, name);
	do {
		index->read += done;
		if (effects->log_read(effects->arg, job_id(job),
				      job_attempt(job), name, index->read, text,
				      INDEX_PIECE, &got, NULL) < 0)
			break; /* nothing is followed, or not yet */
		done = stream_index_lines(text, got, find_file, finding);
		if (!done && got == INDEX_PIECE)
			done = got; /* a valid line is not so long */
	} while (done && !finding->failed);
	index->is_new = false;
	return finding->failed ? -1 : 0;
}

/* Begin to read the streams that exist by now. */
static int find_streams(struct gang_output *output)
{
	struct log_reader *reader = output->reader;
	const struct gang *gang = output->gang;
	struct finding finding = {
		.output = output,
		.rules = named_rules(reader, gang),
	};
	uint32_t first, last;

	if (!log_reader_reads(reader, gang))
		return 0;
	if (!output->readings &&
	    gang_output_begin_reading(output, finding.rules) < 0)
		return -1;
	reading_tasks(gang, finding.rules, &first, &last);
	for (uint32_t i = first; i <= last; i++)
		if (output->indexes[i].is_new &&
		    read_index(output, i, &finding) < 0)
			return -1;
	return 0;
}

/* Reading. */

bool log_reader_tells_life(struct log_reader *reader, const struct gang *gang)
{
	struct extract_rules *rules = named_rules(reader, gang);

	return rules && extract_rules_life(rules);
}

/* Is there a new sign of life? */
static bool life_read(struct gang_output *output)
{
	uint64_t lives = 0, before = output->lives;

	if (!log_reader_tells_life(output->reader, output->gang))
		return false;
	for (size_t i = 0; i < output->count; i++) {
		const struct extract *extract =
			log_reading_extract(output->readings[i]);

		lives += extract ? extract_lives(extract) : 0;
	}
	output->lives = lives;
	return lives > before;
}

static size_t steps_read(const struct log_reading *reading)
{
	const struct extract *extract = log_reading_extract(reading);
	size_t count = 0;

	if (extract)
		extract_records(extract, &count);
	return count;
}

/* Some, at least. */
static size_t figures_bytes(const struct log_reading *reading)
{
	size_t count = steps_read(reading);

	return count ? count * (sizeof(struct record) +
				extract_latest(log_reading_extract(reading))
						->metric_room *
					sizeof(double))
		     : 0;
}

/* The smallest of the files that were read, if there are others; NULL: none. */
static struct log_reading *weigh_files(struct gang_output *output)
{
	size_t sum = 0, least = SIZE_MAX, files = 0, smallest = 0;

	for (size_t i = output->ranks; i < output->count; i++) {
		size_t bytes = figures_bytes(output->readings[i]);

		if (!bytes)
			continue;
		sum += bytes;
		files++;
		if (bytes < least) {
			least = bytes;
			smallest = i;
		}
	}
	output->reader->file_bytes += sum - output->file_bytes;
	output->file_bytes = sum;
	return files > 1 ? output->readings[smallest] : NULL;
}

static void limit_files(struct gang_output *output)
{
	struct log_reading *smallest;

	while ((smallest = weigh_files(output)) &&
	       (output->file_bytes > FILES_BYTES ||
		output->reader->file_bytes > FILES_BYTES_ALL)) {
		log_reading_give_up(smallest);
		output->given_up++;
	}
}

/* Read everything but the samples. True: there is more. */
static bool gang_output_read_streams(struct gang_output *output,
				     struct log_read *read)
{
	char *piece = output->reader->piece;
	bool more = false, changed = false;

	if (find_streams(output) < 0)
		return false;
	for (size_t i = 0; i < output->count; i++)
		more |= log_reading_some(output->readings[i], piece, READ_BYTES,
					 &changed);
	if (output->count > output->ranks)
		limit_files(output);
	read->alive = life_read(output);
	if (changed)
		changes_progress(output->reader->changes);
	return more;
}

/* Samples arrive every second; other output is read only if it is new. */
static bool gang_output_read_some(struct gang_output *output,
				  struct log_read *read)
{
	bool more = samplings_read(output->samplings, output->reader->piece,
				   READ_BYTES);

	if (output->is_new)
		output->is_new = gang_output_read_streams(output, read);
	return more || output->is_new;
}

bool log_reader_next(struct log_reader *reader, struct log_read *read)
{
	struct gang_output *output = TAILQ_FIRST(&reader->behind);

	if (!output)
		return false;
	*read = (struct log_read){ .gang = output->gang };
	TAILQ_REMOVE(&reader->behind, output, by_reader);
	output->listed = gang_output_read_some(output, read);
	if (output->listed)
		TAILQ_INSERT_TAIL(&reader->behind, output, by_reader);
	read->whole = !output->listed;
	return true;
}

void log_reader_rest(struct log_reader *reader)
{
	if (!TAILQ_EMPTY(&reader->behind))
		reader->effects->read_soon(reader->effects->arg);
}

/* Is the one reading better than the other? It has more steps, or as many as
 * another file, and an earlier name, such as that of a lower rank.
 */
static bool gang_output_is_better(const struct gang_output *output, size_t one,
				  size_t other)
{
	size_t steps = steps_read(output->readings[one]);
	size_t others = steps_read(output->readings[other]);

	if (steps != others)
		return steps > others;
	return other >= output->ranks &&
	       strverscmp(log_reading_stream(output->readings[one]),
			  log_reading_stream(output->readings[other])) < 0;
}

/* Keep the reading with the most steps: the first one, which has the figures of
 * all ranks, or one of the others, which may be of another format.
 */
static void keep_best(struct gang_output *output, size_t first)
{
	struct log_reading *own = output->readings[0];
	size_t best = 0;

	for (size_t i = first; i < output->count; i++)
		if (gang_output_is_better(output, i, best))
			best = i;
	if (!best) {
		drop_readings(output, first);
		return;
	}
	output->readings[0] = output->readings[best];
	output->readings[best] = own;
	drop_readings(output, 1);
}

/* All figures of one log into the first reading. */
static void gang_output_merge(struct gang_output *output)
{
	const struct extract_rules *rules =
		named_rules(output->reader, output->gang);
	size_t own = is_auto(output->gang) || output->detected ? 1
		     : chooses(rules)                          ? output->ranks
							       : output->count;

	if (output->merged || !output->count)
		return;
	for (size_t i = 1; i < own; i++)
		if (log_reading_extract(output->readings[i]))
			extract_merge(log_reading_extract(output->readings[0]),
				      log_reading_extract(output->readings[i]),
				      NULL);
	keep_best(output, own);
	output->merged = true;
}

static bool all_read(struct gang_output *output)
{
	if (!samplings_done(output->samplings))
		return false;
	for (size_t i = 0; i < output->count; i++)
		if (!log_reading_done(output->readings[i]))
			return false;
	return true;
}

/* A framework says how a program starts; its log may be of any format. If the
 * framework's own rules read nothing, the others are tried, once.
 */
static bool detect_instead(struct gang_output *output)
{
	const struct measure_spec *measure = &gang_spec(output->gang)->measure;
	struct extract_rules *own;

	if (output->detected || output->merged || measure->log ||
	    !measure->framework || gang_own_rules(output->gang, &own))
		return false;
	for (size_t i = 0; i < output->count; i++)
		if (log_reading_extract(output->readings[i]) &&
		    !extract_empty(log_reading_extract(output->readings[i])))
			return false;
	for (size_t i = 0; i < output->count; i++)
		log_reading_detect(output->readings[i]);
	output->detected = true;
	return output->count > 0;
}

bool log_reader_done(const struct gang *gang)
{
	struct gang_output *output = gang_output(gang);

	if (find_streams(output) < 0)
		return false;
	if (!all_read(output) || detect_instead(output)) {
		output->is_new = true;
		gang_output_list(output);
		return false;
	}
	for (size_t i = 0; i < output->count; i++)
		log_reading_finish(output->readings[i]);
	gang_output_merge(output);
	return true;
}

/* The rank's own output, or the file that has the figures. */
const struct record *log_reader_latest(const struct gang *gang)
{
	const struct gang_output *output = gang ? gang_output(gang) : NULL;
	const struct record *latest = NULL;

	for (size_t i = 0; output && i < output->count; i++) {
		const struct extract *extract =
			log_reading_extract(output->readings[i]);
		const struct record *record =
			extract ? extract_latest(extract) : NULL;

		if (record && (!latest || (!latest->has && record->has)))
			latest = record;
	}
	return latest;
}

const struct extract *log_reader_extract(const struct gang *gang)
{
	const struct log_reading *first = log_reader_first(gang);

	return first ? log_reading_extract(first) : NULL;
}

size_t log_reader_given_up(const struct gang *gang)
{
	return gang_output(gang)->given_up;
}

const char *log_reader_stream(const struct gang *gang, size_t number)
{
	return number < gang_output(gang)->count
		       ? log_reading_stream(gang_output(gang)->readings[number])
		       : NULL;
}

bool log_reader_device(const struct gang *gang, uint32_t rank, size_t device,
		       struct device_metrics *latest)
{
	const struct gang_output *output = gang ? gang_output(gang) : NULL;
	const struct usage *usage =
		output ? samplings_usage(output->samplings, rank) : NULL;

	if (!usage || !usage_latest(usage, device, latest))
		return false;
	latest->job = job_id(gang_job(gang));
	return true;
}

const struct samplings *log_reader_samplings(const struct gang *gang)
{
	return gang_output(gang)->samplings;
}
