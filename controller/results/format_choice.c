/* format_choice.c - finds out which of several formats a log has.
 */
#include "controller/results/format_choice.h"
#include "controller/prefixes/prefixes.h"
#include "controller/results/rules/rule.h"

#include <errno.h>
#include <math.h>
#include <string.h>

bool format_trial_due(uint64_t length, uint64_t tried)
{
	return tried ? length / 2 >= tried : length >= FORMAT_TRIAL_FIRST;
}

static size_t read_part(uint64_t offset, size_t size,
			format_trial_read_fn *read, void *arg, char *text)
{
	size_t done = 0, got;

	while (done < size &&
	       (got = read(arg, offset + done, text + done, size - done)))
		done += got;
	return done;
}

/* The size of the whole lines in the text. */
static size_t whole_lines(const char *text, size_t size)
{
	const char *lf = memrchr(text, '\n', size);

	return lf ? (size_t)(lf - text) + 1 : 0;
}

size_t format_trial_room(uint64_t length)
{
	return length < FORMAT_TRIAL_BYTES ? (size_t)length + 1
					   : FORMAT_TRIAL_BYTES;
}

size_t format_trial_text(uint64_t length, format_trial_read_fn *read, void *arg,
			 char *text)
{
	size_t head, tail;
	const char *lf;

	if (length <= FORMAT_TRIAL_BYTES)
		return read_part(0, (size_t)length, read, arg, text);
	head = read_part(0, FORMAT_TRIAL_PART, read, arg, text);
	head = whole_lines(text, head);
	tail = read_part(length - FORMAT_TRIAL_PART, FORMAT_TRIAL_PART, read,
			 arg, text + head);
	lf = memchr(text + head, '\n', tail);
	if (!lf)
		return head;
	tail -= (size_t)(lf + 1 - (text + head));
	memmove(text + head, lf + 1, tail);
	return head + tail;
}

int format_trial(struct extract_rules *const *rules, size_t count,
		 const char *text, size_t size, struct format_trial *trial,
		 struct error *err)
{
	owned(format_choice_free) struct format_choice *choice =
		format_choice_new(rules, count, err);
	struct format_fit fits[FORMAT_FITS_MAX];
	size_t fitting;

	if (!choice || format_choice_feed(choice, text, size, err) < 0 ||
	    format_choice_finish(choice, err) < 0)
		return -1;
	fitting = format_choice_fits(choice, fits);
	*trial = (struct format_trial){ 0 };
	if (!fitting)
		return 0;
	trial->found = true;
	trial->format = fits[0].format;
	trial->steps = fits[0].steps;
	trial->tied = format_choice_tied(choice, fits, fitting);
	return 0;
}

/* From so many steps and bytes on, formats that read less are dropped. */
#define ENOUGH_STEPS 16
#define ENOUGH_BYTES (1u << 18)
#define SETTLED_BYTES (1u << 20) /* then all but the best are dropped */
#define ROUND_BYTES (1u << 16)   /* between two comparisons */
#define STAMPS_BYTES (1u << 15)  /* of the clocks of these lines */
#define PIECE_BYTES (1u << 15)   /* that all formats read at once */
#define MUCH_MORE 16             /* times the steps */

struct format_choice {
	struct extract *extracts[FORMAT_CHOICE_MAX];
	size_t count;
	struct prefixes *prefixes; /* of the log's lines */
	struct buffer plain;       /* lines without them, to be read */
	struct buffer stamps;      /* struct extract_stamp of its lines */
	uint64_t bytes;
	uint64_t looked; /* bytes at the last comparison */
	bool settled;
};

void format_choice_free(struct format_choice *choice)
{
	if (!choice)
		return;
	for (size_t i = 0; i < choice->count; i++)
		extract_free(choice->extracts[i]);
	prefixes_free(choice->prefixes);
	buffer_clear(&choice->plain);
	buffer_clear(&choice->stamps);
	free(choice);
}

struct extract *format_choice_extract(const struct format_choice *choice,
				      size_t format)
{
	return format < choice->count ? choice->extracts[format] : NULL;
}

/* Fields of a step that are compared. */
static const enum record_field compared[] = {
	RECORD_LOSS,
	RECORD_ITERATION_MS,
	RECORD_TOKENS_PER_SECOND,
	RECORD_SAMPLES_PER_SECOND,
	RECORD_TOKENS_PER_DEVICE,
	RECORD_MEMORY_MIB,
};

#define COMPARED (sizeof(compared) / sizeof(compared[0]))

static bool compared_number(const struct record *record, size_t i,
			    double *number)
{
	*number = record_value(record, compared[i]);
	return isfinite(*number);
}

static uint64_t count_figures(const struct record *records, size_t count)
{
	uint64_t figures = 0;
	double number;

	for (size_t i = 0; i < count; i++)
		for (size_t f = 0; f < COMPARED; f++)
			figures += compared_number(&records[i], f, &number);
	return figures;
}

static uint64_t score(const struct format_fit *fit)
{
	uint64_t lost = 2 * fit->contradictions;

	return fit->steps > lost ? fit->steps - lost : 0;
}

/* Is the reading by meaning, a, better than that by a format's own rules? It
 * reads much more, or also losses, or what a format leaves out or mixes up that
 * takes any dict, or the steps that the log names where that format counts
 * lines, or more where it is in doubt of its epochs. A single step that was
 * counted may be the sum of a run.
 */
static bool meaning_is_better(const struct format_fit *a,
			      const struct format_fit *b)
{
	if (a->takes_any)
		return !b->steps && a->steps > 1;
	return (score(a) && a->steps > MUCH_MORE * b->steps) ||
	       (!b->losses && a->losses && score(a) >= score(b)) ||
	       (b->late && a->named && score(a) > score(b)) ||
	       (b->takes_any && score(a) >= score(b) &&
		(a->figures > b->figures ||
		 a->contradictions < b->contradictions ||
		 (a->named && b->counted)));
}

static bool format_fit_better(const struct format_fit *a,
			      const struct format_fit *b)
{
	if (a->by_meaning != b->by_meaning)
		return a->by_meaning ? meaning_is_better(a, b)
				     : !meaning_is_better(b, a);
	/* What is counted is counted again after a restart. */
	if (a->named && b->counted)
		return score(b) <= MUCH_MORE * score(a);
	if (a->counted && b->named)
		return score(a) > MUCH_MORE * score(b);
	if (score(a) != score(b))
		return score(a) > score(b);
	return a->figures > b->figures;
}

/* Of two equal formats, the one with fewer rules comes first. */
static bool comes_first(const struct format_fit *a, const struct format_fit *b)
{
	return format_fit_better(a, b) ||
	       (!format_fit_better(b, a) && a->rules < b->rules);
}

static struct format_fit fit_of(const struct format_choice *choice,
				size_t format, bool figures)
{
	struct format_fit fit = {
		.format = format,
		.rules = extract_rules_of(choice->extracts[format])->count,
		.by_meaning =
			extract_rules_of(choice->extracts[format])->lexicon,
		.takes_any = extract_takes_any(choice->extracts[format]),
		.counted = extract_counts(choice->extracts[format]),
		.late = extract_begins_late(choice->extracts[format]),
	};
	size_t count;
	const struct record *records =
		extract_records(choice->extracts[format], &count);

	fit.steps = count;
	fit.named =
		count && !fit.counted && record_has(&records[0], RECORD_LOSS);
	fit.contradictions = extract_contradictions(choice->extracts[format]);
	for (size_t i = 0; figures && i < count; i++)
		fit.losses += record_has(&records[i], RECORD_LOSS);
	if (figures)
		fit.figures = count_figures(records, count);
	return fit;
}

static void format_drop(struct format_choice *choice, size_t format)
{
	extract_free(choice->extracts[format]);
	choice->extracts[format] = NULL;
}

/* Keep the best format, and one that ties with it. */
static void format_choice_settle(struct format_choice *choice)
{
	struct format_fit fits[FORMAT_FITS_MAX] = { 0 };
	size_t count = format_choice_fits(choice, fits);
	bool tied = format_choice_tied(choice, fits, count);

	for (size_t i = 0; i < choice->count; i++)
		if (choice->extracts[i] && i != fits[0].format &&
		    !(tied && i == fits[1].format))
			format_drop(choice, i);
	choice->settled = true;
}

/* Drop formats that read less, once one has read enough. */
static void drop_losers(struct format_choice *choice)
{
	uint64_t scores[FORMAT_CHOICE_MAX] = { 0 }, most = 0;

	for (size_t i = 0; i < choice->count; i++)
		if (choice->extracts[i]) {
			struct format_fit fit = fit_of(choice, i, false);

			scores[i] = score(&fit);
			most = scores[i] > most ? scores[i] : most;
		}
	if (most < ENOUGH_STEPS)
		return;
	if (choice->bytes >= SETTLED_BYTES) {
		format_choice_settle(choice);
		return;
	}
	for (size_t i = 0; i < choice->count; i++)
		if (scores[i] * 2 <= most)
			format_drop(choice, i);
}

/* All formats read the next lines. */
static int choice_read(struct format_choice *choice, const char *text,
		       size_t size)
{
	const void *stamps = choice->stamps.data;
	size_t count = choice->stamps.size / sizeof(struct extract_stamp);

	for (size_t i = 0; i < choice->count; i++) {
		if (!choice->extracts[i])
			continue;
		extract_stamps(choice->extracts[i], stamps, count);
		if (extract_feed_plain(choice->extracts[i], text, size, NULL) <
		    0)
			return -1;
	}
	choice->stamps.size = 0;
	choice->bytes += size;
	if (choice->settled || choice->bytes < ENOUGH_BYTES ||
	    choice->bytes - choice->looked < ROUND_BYTES)
		return 0;
	choice->looked = choice->bytes;
	drop_losers(choice);
	return 0;
}

static int choice_read_plain(struct format_choice *choice)
{
	int rc = choice_read(choice, choice->plain.data, choice->plain.size);

	choice->plain.size = 0;
	return rc;
}

/* prefix_fn: short runs are gathered. */
static int choice_take_run(const struct prefix_run *run, void *arg)
{
	struct format_choice *choice = arg;
	struct extract_stamp stamp;

	if (choice->plain.size &&
	    (choice->plain.size + run->size > PIECE_BYTES ||
	     choice->stamps.size + sizeof(stamp) > STAMPS_BYTES) &&
	    choice_read_plain(choice) < 0)
		return -1;
	if (extract_stamp(run, choice->plain.size, &stamp) &&
	    buffer_append(&choice->stamps, &stamp, sizeof(stamp), NULL) < 0)
		return -1;
	return run->size > PIECE_BYTES / 2 && !choice->plain.size
		       ? choice_read(choice, run->text, run->size)
		       : buffer_append(&choice->plain, run->text, run->size,
				       NULL);
}

struct format_choice *format_choice_new(struct extract_rules *const *rules,
					size_t count, struct error *err)
{
	owned(format_choice_free) struct format_choice *choice =
		calloc(1, sizeof(*choice));

	if (!choice)
		return error_null(error_nomem(err, "formats"));
	if (count > FORMAT_CHOICE_MAX)
		return error_null(error_set(err, E2BIG,
					    "%zu formats; expected at most %d",
					    count, FORMAT_CHOICE_MAX));
	for (; choice->count < count; choice->count++) {
		choice->extracts[choice->count] =
			extract_new(rules[choice->count], err);
		if (!choice->extracts[choice->count])
			return NULL;
	}
	buffer_init(&choice->plain, 2 * (size_t)PIECE_BYTES);
	buffer_init(&choice->stamps, STAMPS_BYTES);
	choice->prefixes = prefixes_new(choice_take_run, choice, err);
	return choice->prefixes ? take(choice) : NULL;
}

int format_choice_feed(struct format_choice *choice, const void *data,
		       size_t size, struct error *err)
{
	return prefixes_feed(choice->prefixes, data, size) < 0
		       ? error_nomem(err, "formats")
		       : 0;
}

void format_choice_file_ends(struct format_choice *choice)
{
	for (size_t i = 0; i < choice->count; i++)
		if (choice->extracts[i])
			extract_file_ends(choice->extracts[i]);
}

int format_choice_finish(struct format_choice *choice, struct error *err)
{
	if (prefixes_finish(choice->prefixes) < 0 ||
	    choice_read_plain(choice) < 0)
		return error_nomem(err, "formats");
	for (size_t i = 0; i < choice->count; i++)
		if (choice->extracts[i] &&
		    extract_finish(choice->extracts[i], err) < 0)
			return -1;
	return 0;
}

size_t format_choice_fits(const struct format_choice *choice,
			  struct format_fit fits[FORMAT_FITS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < choice->count; i++) {
		struct format_fit fit;
		size_t at;

		if (!choice->extracts[i])
			continue;
		fit = fit_of(choice, i, true);
		if (!fit.steps && extract_empty(choice->extracts[i]))
			continue;
		for (at = count; at && comes_first(&fit, &fits[at - 1]);)
			at--;
		if (at == FORMAT_FITS_MAX)
			continue;
		if (count < FORMAT_FITS_MAX)
			count++;
		memmove(fits + at + 1, fits + at,
			(count - at - 1) * sizeof(*fits));
		fits[at] = fit;
	}
	return count;
}

/* Do two records differ in a field? */
static bool differs(const struct record *a, const struct record *b)
{
	if (a->step != b->step)
		return true;
	for (size_t f = 0; f < COMPARED; f++) {
		double one, other;
		bool has = compared_number(a, f, &one);

		if (has != compared_number(b, f, &other) ||
		    (has && fabs(one - other) > 1e-6 * fabs(one)))
			return true;
	}
	return false;
}

bool format_choice_tied(const struct format_choice *choice,
			const struct format_fit *fits, size_t count)
{
	const struct record *a, *b;
	size_t size[2];

	if (count < 2 || format_fit_better(&fits[0], &fits[1]))
		return false;
	a = extract_records(choice->extracts[fits[0].format], &size[0]);
	b = extract_records(choice->extracts[fits[1].format], &size[1]);
	if (size[0] != size[1])
		return true;
	for (size_t i = 0; i < size[0]; i++)
		if (differs(&a[i], &b[i]))
			return true;
	return false;
}
