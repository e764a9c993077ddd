/* extract.c - reads the metrics of a training log, by the rules of log_rules.h.
 */
#include "controller/results/extract.h"

#include "controller/prefixes/prefixes.h"
#include "controller/results/meaning/line.h"
#include "controller/results/meaning/meaning.h"
#include "controller/results/open_figures.h"
#include "controller/results/steps.h"
#include "protocol/base/buffer.h"

#include <math.h>
#include <string.h>

#define TITLE_MAX 120 /* bytes of a line that may be a title */

/* First bytes of a log whose lines are read by meaning, with a mark or not. */
#define UNMARKED_BYTES (1u << 20)

struct extract {
	struct extract_rules *rules; /* borrowed, shared */
	struct prefixes *prefixes;   /* of its lines; NULL: all are plain */
	struct buffer partial;       /* of a record that is not complete */
	bool unmarked;               /* the current line has no mark */
	bool all; /* such a line is a record: all lines are read */
	bool file_ends;
	/* The value that stands last in a line that matched, and of the last
	 * line, if it has no end, where that is.
	 */
	struct last_value {
		uint16_t field;
		size_t digits;
	} last_value;
	const char *open_end;
	bool cut;      /* its last number may be */
	bool skipping; /* the rest of the record, which is too long */
	bool titles;   /* rules ask for what stands above a dict */
	char title[TITLE_MAX + sizeof(" {")]; /* "" : the line above is none */
	struct steps steps;
	struct meaning *meaning; /* of a log without rules; or NULL */
	struct extract_losses losses;
	uint64_t fed;      /* bytes of the log before the current piece */
	uint64_t line_end; /* offset of the end of the current record */
	extract_clock_fn *clock;
	void *clock_arg;
	struct remark *remarks;
	size_t remark_count;
	const struct extract_stamp *stamps; /* of the piece, borrowed */
	size_t stamp_count;                 /* still to come */
	struct extract_stamp stamp;         /* of the current line */
	uint64_t lives;
	bool out_of_memory;
};

void extract_free(struct extract *extract)
{
	if (!extract)
		return;
	prefixes_free(extract->prefixes);
	buffer_clear(&extract->partial);
	steps_clear(&extract->steps);
	meaning_free(extract->meaning);
	for (size_t i = 0; i < extract->remark_count; i++)
		codec_clear(&remark_schema, &extract->remarks[i]);
	free(extract->remarks);
	free(extract);
}

void extract_clock(struct extract *extract, extract_clock_fn *fn, void *arg)
{
	extract->clock = fn;
	extract->clock_arg = arg;
}

/* Digits behind the point of a number, or all of them. */
static size_t digits_behind(const char *text, size_t size)
{
	const char *dot = memchr(text, '.', size);

	return dot ? size - (size_t)(dot - text) : size;
}

/* Note which value stands last in the line. If the line ends with it, and has
 * no end, more digits may have followed, unless it has as many as before.
 */
static void note_last_value(struct extract *extract,
			    const struct captured *captured)
{
	const struct captured_value *last = NULL;
	struct last_value found;

	for (size_t i = 0; i < captured->count; i++)
		if (captured->values[i].kind == CAPTURED_NUMBER &&
		    captured->values[i].size &&
		    (!last || captured->values[i].text > last->text))
			last = &captured->values[i];
	if (!last)
		return;
	found = (struct last_value){ last->field,
				     digits_behind(last->text, last->size) };
	extract->cut |= extract->open_end == last->text + last->size &&
			(found.field != extract->last_value.field ||
			 found.digits < extract->last_value.digits);
	extract->last_value = found;
}

static int take_captured(const struct captured *captured, void *arg)
{
	struct extract *extract = arg;
	uint64_t made;

	note_last_value(extract, captured);
	extract->lives++;
	extract->all |= extract->unmarked;
	if (captured->rule->life && !captured->count)
		return 0;
	if (!steps_counts(&extract->steps, captured))
		return 0;
	made = extract->steps.made;
	if (steps_take(&extract->steps, captured) < 0)
		return -1;
	if (extract->clock && extract->steps.made > made)
		extract->steps.latest.came_ms =
			extract->steps.records[extract->steps.current].came_ms =
				extract->clock(extract->clock_arg,
					       extract->line_end);
	return 0;
}

/* Does the text end its last field itself? */
static bool closes_itself(const char *text, size_t size)
{
	while (size && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	return size && text[size - 1] && strchr("|}])", text[size - 1]);
}

/* whole: the record has its end; else it is read if it closes itself. */
static int extract_read_record(struct extract *extract, const char *text,
			       size_t size, bool whole)
{
	if (size > EXTRACT_LINE_MAX) {
		extract->losses.long_lines++;
		return 0;
	}
	if (!size)
		return 0;
	text = rules_plain(extract->rules, text, &size);
	if (!whole && !extract->file_ends && !closes_itself(text, size))
		return 0;
	if (!whole)
		extract->open_end = text + size;
	if (extract->meaning)
		return meaning_read(extract->meaning, &extract->steps.names,
				    text, size, extract->stamp.seconds,
				    extract->stamp.rank, extract->stamp.bare,
				    take_captured, extract);
	return rules_match(extract->rules, &extract->steps.names, text, size,
			   extract->title, take_captured, extract,
			   &extract->losses.match_limits);
}

/* "***** eval metrics *****", "Evaluation:", or one with a Chinese colon, above
 * a dict is as if it stood before it. Blank lines may be between them.
 */
static void keep_title(struct extract *extract, const char *text, size_t size)
{
	if (!extract->titles || !size)
		return;
	*extract->title = 0;
	if (size <= TITLE_MAX && text[size - 1] &&
	    strchr(":*=-#\x9a", text[size - 1]))
		snprintf(extract->title, sizeof(extract->title), "%.*s {",
			 (int)size, text);
}

/* Complete a record whose first part was kept. */
static int end_partial(struct extract *extract, const char *text, size_t size)
{
	int rc = 0;

	if (extract->skipping ||
	    size > EXTRACT_LINE_MAX - extract->partial.size)
		extract->losses.long_lines++;
	else if (buffer_append(&extract->partial, text, size, NULL) < 0)
		rc = -1;
	else
		rc = extract_read_record(extract, extract->partial.data,
					 extract->partial.size, true);
	keep_title(extract, extract->partial.data, extract->partial.size);
	extract->skipping = false;
	buffer_consume(&extract->partial, extract->partial.size);
	return rc;
}

/* Keep a part of a record that has not ended. */
static int keep_partial(struct extract *extract, const char *text, size_t size)
{
	if (extract->skipping)
		return 0;
	if (size > EXTRACT_LINE_MAX - extract->partial.size) {
		extract->skipping = true;
		buffer_clear(&extract->partial);
		return 0;
	}
	return buffer_append(&extract->partial, text, size, NULL);
}

/* The next position of each kind of mark. A kind is searched again only after
 * its position is passed, so a piece without one is searched once.
 */
struct line_marks {
	const char *lf;
	const char *cr;
	const char *escape; /* a record with it is read without it */
	const char *match;  /* a text that a rule may match */
};

static const char *next_of(const char *known, char c, const char *at,
			   const char *end)
{
	if (known >= at)
		return known;
	known = memchr(at, c, (size_t)(end - at));
	return known ? known : end;
}

/* May a rule match in the record from at to stop? */
static bool worth_reading(struct extract *extract, struct line_marks *marks,
			  const char *at, const char *stop, const char *end)
{
	if (extract->meaning && meaning_reads_all(extract->meaning))
		return true;
	if (marks->match < at)
		marks->match = rules_next(extract->rules, at, end);
	extract->unmarked = marks->match >= stop;
	if (!extract->unmarked ||
	    (extract->meaning &&
	     (extract->all || extract->line_end < UNMARKED_BYTES)))
		return true;
	marks->escape = next_of(marks->escape, '\033', at, end);
	return marks->escape < stop || (size_t)(stop - at) > EXTRACT_LINE_MAX;
}

static void take_stamp(struct extract *extract,
		       const struct extract_stamp *stamp)
{
	extract->stamp.rank = stamp->rank;
	extract->stamp.bare = stamp->bare;
	if (isfinite(stamp->seconds))
		extract->stamp.seconds = stamp->seconds;
}

static int extract_feed_lines(struct extract *extract, const char *at,
			      const char *end)
{
	struct line_marks marks = { 0 };
	const char *begin = at;

	while (at < end) {
		const char *stop;
		int rc = 0;

		/* A rank is that of its line, a clock goes on. */
		if (!extract->partial.size)
			extract->stamp.rank = -1;
		for (; extract->stamp_count &&
		       extract->stamps->at <= (size_t)(at - begin);
		     extract->stamps++, extract->stamp_count--)
			take_stamp(extract, extract->stamps);
		marks.lf = next_of(marks.lf, '\n', at, end);
		marks.cr = next_of(marks.cr, '\r', at, end);
		stop = marks.lf < marks.cr ? marks.lf : marks.cr;
		if (stop == end)
			return keep_partial(extract, at, (size_t)(end - at));
		extract->line_end = extract->fed + (uint64_t)(stop - begin);
		if (extract->partial.size || extract->skipping)
			rc = end_partial(extract, at, (size_t)(stop - at));
		else {
			if (worth_reading(extract, &marks, at, stop, end))
				rc = extract_read_record(extract, at,
							 (size_t)(stop - at),
							 true);
			keep_title(extract, at, (size_t)(stop - at));
		}
		if (rc < 0)
			return -1;
		at = stop + 1;
	}
	return 0;
}

bool extract_stamp(const struct prefix_run *run, size_t at,
		   struct extract_stamp *stamp)
{
	bool fraction;

	*stamp = (struct extract_stamp){
		.at = at,
		.seconds = run->prefix ? line_clock(run->prefix,
						    run->prefix_size, &fraction)
				       : (double)NAN,
		.rank = run->origin.rank,
		.bare = run->origin.bare,
	};
	return isfinite(stamp->seconds) || stamp->rank >= 0;
}

void extract_stamps(struct extract *extract, const struct extract_stamp *stamps,
		    size_t count)
{
	extract->stamps = stamps;
	extract->stamp_count = count;
}

/* prefix_fn */
static int extract_take_run(const struct prefix_run *run, void *arg)
{
	struct extract *extract = arg;
	struct extract_stamp stamp;

	extract->fed = run->offset;
	extract_stamps(extract, &stamp, extract_stamp(run, 0, &stamp));
	return extract_feed_plain(extract, run->text, run->size, NULL);
}

struct extract *extract_new(struct extract_rules *rules, struct error *err)
{
	owned(extract_free) struct extract *extract =
		calloc(1, sizeof(*extract));

	if (!extract)
		return error_null(error_nomem(err, "extract"));
	extract->rules = rules;
	extract->stamp = (struct extract_stamp){ .seconds = NAN, .rank = -1 };
	buffer_init(&extract->partial, EXTRACT_LINE_MAX);
	steps_init(&extract->steps, rules);
	extract->titles = rules_ask_above(rules);
	if (rules->lexicon &&
	    !(extract->meaning = meaning_new(rules->lexicon, err)))
		return NULL;
	return take(extract);
}

int extract_feed_plain(struct extract *extract, const void *data, size_t size,
		       struct error *err)
{
	if (!size)
		return 0;
	if (!extract->out_of_memory &&
	    extract_feed_lines(extract, data, (const char *)data + size) == 0) {
		extract->fed += size;
		return 0;
	}
	extract->out_of_memory = true;
	return error_nomem(err, "extract");
}

int extract_feed(struct extract *extract, const void *data, size_t size,
		 struct error *err)
{
	if (!extract->prefixes &&
	    !(extract->prefixes = prefixes_new(extract_take_run, extract, err)))
		return -1;
	return prefixes_feed(extract->prefixes, data, size) < 0
		       ? error_nomem(err, "extract")
		       : 0;
}

void extract_file_ends(struct extract *extract)
{
	extract->file_ends = true;
}

int extract_finish(struct extract *extract, struct error *err)
{
	int rc;

	if ((extract->prefixes && prefixes_finish(extract->prefixes) < 0) ||
	    extract->out_of_memory)
		return error_nomem(err, "extract");
	extract->losses.long_lines += extract->skipping;
	extract->line_end = extract->fed;
	rc = extract_read_record(extract, extract->partial.data,
				 extract->partial.size, false);
	extract->skipping = false;
	buffer_clear(&extract->partial);
	steps_keep_last_run(&extract->steps);
	if (rc == 0)
		rc = step_numbers_samples(&extract->steps);
	steps_check_rates(&extract->steps);
	/* Versions of a program count epochs from 0 or from 1. */
	if (rc == 0 && extract_begins_late(extract) && !extract->remark_count)
		rc = remark_add(&extract->remarks, &extract->remark_count,
				SAID(BEGINS_LATE, ), err);
	if (rc == 0 && extract_rules_given_up(extract->rules))
		rc = remark_add(&extract->remarks, &extract->remark_count,
				SAID(RULES_SLOW, ), err);
	if (rc == 0 && extract->meaning && !extract->remark_count)
		rc = open_figures(meaning_found(extract->meaning),
				  &extract->steps, &extract->remarks,
				  &extract->remark_count, err);
	if (rc == 0 && extract->cut)
		rc = remark_add(&extract->remarks, &extract->remark_count,
				SAID(LAST_LINE_OPEN, ), err);
	if (rc == 0 && extract->steps.coarse)
		rc = remark_add(&extract->remarks, &extract->remark_count,
				SAID(COARSE,
				     .numbers = { (double)(UINT64_C(1)
							   << extract->steps
								      .coarse),
						  (double)extract->steps
							  .count }),
				err);
	return rc < 0 ? error_nomem(err, "extract") : 0;
}

const struct remark *extract_remarks(const struct extract *extract,
				     size_t *count)
{
	*count = extract->remark_count;
	return extract->remarks;
}

int extract_merge(struct extract *to, const struct extract *from,
		  struct error *err)
{
	if (steps_merge(&to->steps, &from->steps) < 0)
		return error_nomem(err, "extract");
	to->losses.long_lines += from->losses.long_lines;
	to->losses.match_limits += from->losses.match_limits;
	return 0;
}

const struct record *extract_records(const struct extract *extract,
				     size_t *count)
{
	*count = extract->steps.count;
	return extract->steps.records;
}

const struct record *extract_summary(const struct extract *extract)
{
	return &extract->steps.summary;
}

const struct record *extract_latest(const struct extract *extract)
{
	return &extract->steps.latest;
}

const char *extract_metric_name(const struct extract *extract, size_t metric)
{
	const struct steps *steps = &extract->steps;

	return metric < steps->metric_count
		       ? fields_name(&steps->names, steps->metrics[metric])
		       : NULL;
}

int extract_metric_find(const struct extract *extract, const char *name)
{
	const char *other;

	for (size_t m = 0; (other = extract_metric_name(extract, m)); m++)
		if (!strcmp(name, other))
			return (int)m;
	return -1;
}

double extract_metric_last(const struct extract *extract, int metric)
{
	double number;

	for (size_t i = extract->steps.count; metric >= 0 && i--;)
		if (record_metric(&extract->steps.records[i], (size_t)metric,
				  &number) &&
		    isfinite(number))
			return number;
	return NAN;
}

struct extract_rules *extract_rules_of(const struct extract *extract)
{
	return extract->rules;
}

bool extract_empty(const struct extract *extract)
{
	return !extract->steps.count && !extract->steps.run_count &&
	       !extract->steps.summary.has &&
	       !extract->steps.summary.has_metric;
}

const struct run_metric *extract_run_metrics(const struct extract *extract,
					     size_t *count)
{
	*count = extract->steps.run_count;
	return extract->steps.run;
}

uint64_t extract_lives(const struct extract *extract)
{
	return extract->lives;
}

uint64_t extract_contradictions(const struct extract *extract)
{
	return extract->steps.clashes + extract->steps.back;
}

const struct strings *extract_example(const struct extract *extract)
{
	const struct strings *example =
		extract->meaning ? &meaning_found(extract->meaning)->example
				 : NULL;

	return example && example->count ? example : NULL;
}

bool extract_takes_any(const struct extract *extract)
{
	const struct extract_rules *rules = extract->rules;

	for (size_t i = 0; i < rules->count; i++)
		if (rules->rules[i].counted)
			return true;
	/* By meaning: no step is named (meaning.c). */
	return extract->steps.weak > 1;
}

bool extract_begins_late(const struct extract *extract)
{
	const struct epochs *epochs = &extract->steps.epochs;

	return epochs->late && !epochs->whole;
}

bool extract_counts(const struct extract *extract)
{
	return extract->steps.numbered;
}

enum remark_code extract_steps_remark(const struct extract *extract)
{
	const struct steps *steps = &extract->steps;
	/* By meaning, open_figures.h says what the steps are. */
	enum remark_code code =
		extract->meaning
			? REMARKS
			: share_steps_remark(&steps->shares, steps->total);

	return code == REMARKS && steps->several ? REMARK_RUNS_MIXED : code;
}

const struct extract_losses *extract_losses(struct extract *extract)
{
	extract->losses.steps = extract->steps.lost;
	return &extract->losses;
}
