/* extract.c - a training log in, its metrics out: rules that are data.
 */
#include "controller/results/extract.h"

#include "controller/results/rules.h"
#include "protocol/buffer.h"

#include <errno.h>
#include <string.h>

struct extract {
	struct extract_rules *rules; /* borrowed, shared */
	struct buffer partial;       /* of a record whose end has not come */
	bool skipping;               /* the rest of a record too long */
	struct record *records;      /* by step */
	size_t count;
	size_t capacity;
	size_t current; /* the record that was touched last */
	struct record summary;
	struct record latest;
	struct extract_losses losses;
	bool out_of_memory;
};

struct extract *extract_new(struct extract_rules *rules, struct error *err)
{
	struct extract *extract = calloc(1, sizeof(*extract));

	if (!extract) {
		error_nomem(err, "extract");
		return NULL;
	}
	extract->rules = rules;
	buffer_init(&extract->partial, EXTRACT_LINE_MAX);
	return extract;
}

void extract_free(struct extract *extract)
{
	if (!extract)
		return;
	buffer_clear(&extract->partial);
	free(extract->records);
	free(extract);
}

double *record_number(struct record *record, enum record_field field)
{
	switch (field) {
	case RECORD_LOSS:
		return &record->loss;
	case RECORD_ITERATION_MS:
		return &record->iteration_ms;
	case RECORD_TOKENS_PER_SECOND:
		return &record->tokens_per_second;
	case RECORD_SAMPLES_PER_SECOND:
		return &record->samples_per_second;
	case RECORD_MEMORY_MIB:
		return &record->memory_mib;
	default:
		return NULL;
	}
}

/* Take over the fields of `from` that `mask` allows. */
static void merge_fields(struct record *to, const struct record *from,
			 unsigned mask)
{
	struct record copy = *from;
	unsigned has = from->has & mask;

	for (int field = 0; field < RECORD_FIELDS; field++) {
		double *number = record_number(to, (enum record_field)field);

		if ((has & 1u << field) && number)
			*number =
				*record_number(&copy, (enum record_field)field);
	}
	if (has & 1u << RECORD_STEP)
		to->step = from->step;
	if (has & 1u << RECORD_STEPS)
		to->steps_total = from->steps_total;
	if (has & 1u << RECORD_FINISHED)
		to->finished = from->finished;
	to->has |= has;
}

/* Where the step stands, or has to stand, among the records. */
static size_t place_of(const struct extract *extract, uint64_t step)
{
	size_t low = 0, high = extract->count;

	if (high && extract->records[high - 1].step < step)
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (extract->records[middle].step < step)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Make room for a new record at its place. 1: done, 0: there are too many. */
static int insert(struct extract *extract, size_t place)
{
	struct record *records = extract->records;

	if (extract->count == EXTRACT_RECORDS_MAX) {
		extract->losses.steps++;
		return 0;
	}
	if (extract->count == extract->capacity) {
		size_t capacity =
			extract->capacity ? extract->capacity * 2 : 16;

		records = realloc(records, capacity * sizeof(*records));
		if (!records)
			return -1;
		extract->records = records;
		extract->capacity = capacity;
	}
	memmove(records + place + 1, records + place,
		(extract->count - place) * sizeof(*records));
	records[place] = (struct record){ 0 };
	extract->count++;
	return 1;
}

/* Find or make the record of a step: 1, *record is it; 0: no room; -1. */
static int record_of(struct extract *extract, uint64_t step,
		     struct record **record)
{
	size_t place = place_of(extract, step);
	int rc = 1;

	if (place == extract->count || extract->records[place].step != step)
		rc = insert(extract, place);
	if (rc == 1) {
		extract->current = place;
		*record = &extract->records[place];
	}
	return rc;
}

static int take_caught(const struct record *caught, void *arg)
{
	struct extract *extract = arg;
	struct record *record = NULL;
	int rc;

	merge_fields(&extract->latest, caught, ~0u);
	if (record_has(caught, RECORD_FINISHED)) {
		merge_fields(&extract->summary, caught, ~0u);
		return 0;
	}
	if (!record_has(caught, RECORD_STEP)) {
		if (extract->count)
			merge_fields(&extract->records[extract->current],
				     caught, ~0u);
		return 0;
	}
	rc = record_of(extract, caught->step, &record);
	if (rc == 1)
		merge_fields(record, caught, ~0u);
	return rc < 0 ? -1 : 0;
}

static int read_record(struct extract *extract, const char *text, size_t size)
{
	if (size > EXTRACT_LINE_MAX) {
		extract->losses.long_lines++;
		return 0;
	}
	if (!size)
		return 0;
	text = rules_plain(extract->rules, text, &size);
	return rules_match(extract->rules, text, size, take_caught, extract,
			   &extract->losses.match_limits);
}

/* The end of a record whose first part came before. */
static int end_partial(struct extract *extract, const char *text, size_t size)
{
	int rc = 0;

	if (extract->skipping ||
	    size > EXTRACT_LINE_MAX - extract->partial.size)
		extract->losses.long_lines++;
	else if (buffer_append(&extract->partial, text, size, NULL) < 0)
		rc = -1;
	else
		rc = read_record(extract, extract->partial.data,
				 extract->partial.size);
	extract->skipping = false;
	buffer_consume(&extract->partial, extract->partial.size);
	return rc;
}

/* The first part of a record, or more of it. */
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

/* The next LF or CR of the data. The place of each is looked for only when
 * the last one is passed, so a piece that has none of one kind is searched for
 * it once.
 */
struct ends {
	const char *lf;
	const char *cr;
};

static const char *next_of(const char *known, char c, const char *at,
			   const char *end)
{
	if (known >= at)
		return known;
	known = memchr(at, c, (size_t)(end - at));
	return known ? known : end;
}

static int feed(struct extract *extract, const char *at, const char *end)
{
	struct ends ends = { NULL, NULL };

	while (at < end) {
		const char *stop;
		int rc;

		ends.lf = next_of(ends.lf, '\n', at, end);
		ends.cr = next_of(ends.cr, '\r', at, end);
		stop = ends.lf < ends.cr ? ends.lf : ends.cr;
		if (stop == end)
			return keep_partial(extract, at, (size_t)(end - at));
		if (extract->partial.size || extract->skipping)
			rc = end_partial(extract, at, (size_t)(stop - at));
		else
			rc = read_record(extract, at, (size_t)(stop - at));
		if (rc < 0)
			return -1;
		at = stop + 1;
	}
	return 0;
}

int extract_feed(struct extract *extract, const void *data, size_t size,
		 struct error *err)
{
	if (!size)
		return 0;
	if (!extract->out_of_memory &&
	    feed(extract, data, (const char *)data + size) == 0)
		return 0;
	extract->out_of_memory = true;
	return error_nomem(err, "extract");
}

/* Does the text close its last field itself? */
static bool closes_itself(const char *text, size_t size)
{
	while (size && (text[size - 1] == ' ' || text[size - 1] == '\t'))
		size--;
	return size && (text[size - 1] == '|' || text[size - 1] == '}');
}

int extract_finish(struct extract *extract, struct error *err)
{
	size_t size = extract->partial.size;
	const char *text;
	int rc = 0;

	if (extract->out_of_memory)
		return error_nomem(err, "extract");
	extract->losses.long_lines += extract->skipping;
	text = rules_plain(extract->rules, extract->partial.data, &size);
	if (closes_itself(text, size))
		rc = rules_match(extract->rules, text, size, take_caught,
				 extract, &extract->losses.match_limits);
	extract->skipping = false;
	buffer_clear(&extract->partial);
	return rc < 0 ? error_nomem(err, "extract") : 0;
}

int extract_merge(struct extract *to, const struct extract *from,
		  struct error *err)
{
	for (size_t i = 0; i < from->count; i++) {
		const struct record *other = &from->records[i];
		struct record *record = NULL;
		int rc = record_of(to, other->step, &record);

		if (rc < 0)
			return error_nomem(err, "extract");
		if (rc == 1)
			merge_fields(record, other, ~record->has);
	}
	merge_fields(&to->summary, &from->summary, ~to->summary.has);
	merge_fields(&to->latest, &from->latest, ~to->latest.has);
	to->losses.long_lines += from->losses.long_lines;
	to->losses.match_limits += from->losses.match_limits;
	to->losses.steps += from->losses.steps;
	return 0;
}

const struct record *extract_records(const struct extract *extract,
				     size_t *count)
{
	*count = extract->count;
	return extract->records;
}

const struct record *extract_summary(const struct extract *extract)
{
	return &extract->summary;
}

const struct record *extract_latest(const struct extract *extract)
{
	return &extract->latest;
}

const struct extract_losses *extract_losses(const struct extract *extract)
{
	return &extract->losses;
}
