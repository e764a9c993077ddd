/* log_reading.c - reads metrics from one stream of stored output.
 */
#include "controller/logs/log_reading.h"
#include "controller/results/format_choice.h"
#include "protocol/base/list.h"
#include "protocol/base/log.h"
#include "protocol/message/stream_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define COMPILED_AT_ONCE 4 /* formats in a call; each takes some ms */

struct compiled {
	const struct framework *framework;
	struct extract_rules *rules; /* NULL: they do not compile */
};

struct log_formats {
	const struct catalog *catalog;
	struct compiled *compiled;
	size_t compiled_count;
	const struct framework *tried[FORMAT_CHOICE_MAX];
	struct extract_rules *rules[FORMAT_CHOICE_MAX]; /* of `tried` */
	size_t tried_count;
	size_t ready; /* of `rules` */
};

struct log_formats *log_formats_new(const struct catalog *catalog,
				    struct error *err)
{
	struct log_formats *formats = calloc(1, sizeof(*formats));
	const struct framework *framework;

	if (!formats)
		return error_null(error_nomem(err, "log formats"));
	formats->catalog = catalog;
	for (size_t i = 0;
	     catalog && formats->tried_count < FORMAT_CHOICE_MAX &&
	     (framework = catalog_framework_at(catalog, i));
	     i++)
		if (framework->log && value_get(framework->log, "rules"))
			formats->tried[formats->tried_count++] = framework;
	return formats;
}

void log_formats_free(struct log_formats *formats)
{
	if (!formats)
		return;
	for (size_t i = 0; i < formats->compiled_count; i++)
		extract_rules_free(formats->compiled[i].rules);
	free(formats->compiled);
	free(formats);
}

struct extract_rules *log_formats_compile(const struct catalog *catalog,
					  const struct framework *framework)
{
	const struct value *logs[CATALOG_LOGS_MAX];
	struct extract_rules *rules = NULL;
	struct error err;
	size_t count = 0;

	if (catalog_logs(catalog, framework, logs, &count, &err) == 0)
		rules = extract_rules_new(logs, count, &err);
	if (!rules)
		log_error("framework=%s: %s", framework->name, err.text);
	return rules;
}

struct extract_rules *log_formats_rules(struct log_formats *formats,
					const struct framework *framework)
{
	struct compiled *compiled;

	for (size_t i = 0; i < formats->compiled_count; i++)
		if (formats->compiled[i].framework == framework)
			return formats->compiled[i].rules;
	compiled = LIST_ADD(formats->compiled, formats->compiled_count, NULL);
	if (!compiled)
		return NULL;
	compiled->framework = framework;
	compiled->rules = log_formats_compile(formats->catalog, framework);
	return compiled->rules;
}

const struct framework *log_formats_tried(const struct log_formats *formats,
					  size_t number)
{
	return number < formats->tried_count ? formats->tried[number] : NULL;
}

/* Its rules do not compile. */
static void drop_tried(struct log_formats *formats, size_t number)
{
	formats->tried_count--;
	for (size_t i = number; i < formats->tried_count; i++)
		formats->tried[i] = formats->tried[i + 1];
}

/* The compiled rules of these formats, by number; *count: how many. Compiling
 * takes long, so each call compiles a few. NULL: call again.
 */
static struct extract_rules *const *log_formats_all(struct log_formats *formats,
						    size_t *count)
{
	for (int i = 0;
	     i < COMPILED_AT_ONCE && formats->ready < formats->tried_count;
	     i++) {
		struct extract_rules *rules =
			log_formats_rules(formats,
					  formats->tried[formats->ready]);

		if (rules)
			formats->rules[formats->ready++] = rules;
		else
			drop_tried(formats, formats->ready);
	}
	*count = formats->tried_count;
	return formats->ready < formats->tried_count ? NULL : formats->rules;
}

struct log_reading {
	struct log_source source;
	char stream[STREAM_INDEX_NAME_MAX + 1];
	struct extract *extract; /* NULL: the format is not known yet */
	uint64_t offset;
	bool finished;
	bool broken; /* the stored output cannot be read */
	/* If the format must be detected: */
	const struct framework *format; /* NULL: none fits so far */
	uint64_t tried; /* length of the stream at the last trial */
	bool sure;
	bool tied;
	char (*likely)[LIKELY_LINE_BYTES]; /* if no format reads anything */
	size_t likely_count;
};

/* extract_clock_fn */
static int64_t time_of(void *arg, uint64_t offset)
{
	const struct log_reading *reading = arg;
	const struct log_source *source = &reading->source;

	return source->effects->log_time(source->effects->arg, source->job,
					 source->attempt, reading->stream,
					 offset);
}

static struct extract *new_extract(struct log_reading *reading,
				   struct extract_rules *rules)
{
	struct extract *extract = extract_new(rules, NULL);

	if (extract)
		extract_clock(extract, time_of, reading);
	return extract;
}

struct log_reading *log_reading_new(const struct log_source *source,
				    const char *stream)
{
	owned(log_reading_free) struct log_reading *reading =
		calloc(1, sizeof(*reading));

	if (!reading)
		return NULL;
	reading->source = *source;
	snprintf(reading->stream, sizeof(reading->stream), "%s", stream);
	if (source->rules &&
	    !(reading->extract = new_extract(reading, source->rules)))
		return NULL;
	return take(reading);
}

void log_reading_free(struct log_reading *reading)
{
	if (!reading)
		return;
	extract_free(reading->extract);
	free(reading->likely);
	free(reading);
}

static uint64_t length_of(const struct log_reading *reading)
{
	const struct log_source *source = &reading->source;
	uint64_t length = 0;

	source->effects->log_length(source->effects->arg, source->job,
				    source->attempt, reading->stream, &length,
				    NULL);
	return length;
}

/* format_trial_read_fn */
static size_t read_bytes(void *arg, uint64_t offset, char *data, size_t size)
{
	struct log_reading *reading = arg;
	const struct log_source *source = &reading->source;
	struct error err = { 0 };
	size_t got = 0;

	if (source->effects->log_read(source->effects->arg, source->job,
				      source->attempt, reading->stream, offset,
				      data, size, &got, &err) < 0 &&
	    err.code == EIO) {
		/* Trying again cannot help. */
		log_error("job=%" PRIu64 ": %s", source->job, err.text);
		reading->broken = true;
	}
	return got;
}

/* Detecting the format. */

/* Read the stream with this format, from its first byte on. */
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

static int try_text(struct log_reading *reading,
		    struct extract_rules *const *rules, size_t count,
		    const char *text, size_t size)
{
	struct format_trial trial;

	if (format_trial(rules, count, text, size, &trial, NULL) < 0)
		return -1;
	reading->sure = trial.steps >= FORMAT_TRIAL_SURE;
	reading->tied = trial.tied;
	if (trial.found)
		return take_format(reading,
				   log_formats_tried(reading->source.formats,
						     trial.format),
				   rules[trial.format]);
	/* A format that was found before stays. */
	if (!reading->format)
		keep_likely(reading, text, size);
	return 0;
}

/* Detect the format, or check it again, if that is due; true: call again. */
static bool find_format(struct log_reading *reading, bool complete)
{
	owned_free char *text = NULL;
	struct extract_rules *const *rules;
	uint64_t length;
	size_t count;

	if (reading->source.rules || reading->broken)
		return false;
	length = length_of(reading);
	if (length == reading->tried ||
	    (!complete &&
	     (reading->sure || !format_trial_due(length, reading->tried))))
		return false;
	rules = log_formats_all(reading->source.formats, &count);
	if (!rules)
		return true;
	text = malloc(format_trial_room(length));
	if (!text)
		return false;
	reading->tried = length;
	try_text(reading, rules, count, text,
		 format_trial_text(length, read_bytes, reading, text));
	return false;
}

/* Reading. */

/* NaN is the same as NaN here. */
static bool figure_matches(double a, double b)
{
	return a == b || (a != a && b != b);
}

/* Compares all but metrics that rules define. */
static bool same_figures(const struct record *a, const struct record *b)
{
	return a->has == b->has && a->step == b->step &&
	       a->steps_total == b->steps_total && a->rank == b->rank &&
	       a->finished == b->finished && figure_matches(a->loss, b->loss) &&
	       figure_matches(a->iteration_ms, b->iteration_ms) &&
	       figure_matches(a->tokens_per_second, b->tokens_per_second) &&
	       figure_matches(a->samples_per_second, b->samples_per_second) &&
	       figure_matches(a->tokens_per_device, b->tokens_per_device) &&
	       figure_matches(a->memory_mib, b->memory_mib);
}

bool log_reading_some(struct log_reading *reading, char *piece, size_t size,
		      bool *changed)
{
	const struct record *latest;
	struct record before;
	size_t got;

	if (find_format(reading, false))
		return true;
	if (reading->broken || !reading->extract)
		return false;
	got = read_bytes(reading, reading->offset, piece, size);
	if (!got)
		return false;
	latest = extract_latest(reading->extract);
	before = *latest;
	extract_feed(reading->extract, piece, got, NULL);
	reading->offset += got;
	/* Metrics that rules define are not compared. */
	*changed |= latest->metric_room || !same_figures(&before, latest);
	return true;
}

bool log_reading_done(struct log_reading *reading)
{
	return !find_format(reading, true) &&
	       (reading->broken || !reading->extract ||
		reading->offset >= length_of(reading));
}

/* The named rules read nothing: find lines that look like metrics. */
static void find_likely(struct log_reading *reading)
{
	uint64_t length = length_of(reading);
	owned_free char *text = malloc(format_trial_room(length));
	size_t count;

	extract_records(reading->extract, &count);
	if (text && !count && !extract_summary(reading->extract)->has)
		keep_likely(reading, text,
			    format_trial_text(length, read_bytes, reading,
					      text));
}

void log_reading_detect(struct log_reading *reading)
{
	reading->source.rules = NULL;
	extract_free(take(reading->extract));
	reading->offset = reading->tried = 0;
}

void log_reading_give_up(struct log_reading *reading)
{
	extract_free(take(reading->extract));
	reading->broken = true;
}

void log_reading_finish(struct log_reading *reading)
{
	if (!reading->finished && reading->extract) {
		extract_finish(reading->extract, NULL);
		if (reading->source.rules)
			find_likely(reading);
	}
	reading->finished = true;
}

/* Results. */

const char *log_reading_stream(const struct log_reading *reading)
{
	return reading->stream;
}

struct extract *log_reading_extract(const struct log_reading *reading)
{
	return reading->extract;
}

const struct framework *log_reading_format(const struct log_reading *reading)
{
	return reading->format;
}

bool log_reading_tied(const struct log_reading *reading)
{
	return reading->tied;
}

size_t log_reading_likely(const struct log_reading *reading,
			  const char (**lines)[LIKELY_LINE_BYTES])
{
	*lines = reading->likely;
	return reading->likely_count;
}
