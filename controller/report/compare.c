/* compare.c - compares sweeps cell by cell, and losses with a baseline.
 */
#include "controller/report/compare.h"

#include "controller/report/figures.h"
#include "controller/report/means.h"
#include "controller/results/json_object.h"
#include "controller/results/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct schema compare_side_schema = SCHEMA(compare_side,
	FIELD(compare_side, n),
	FIELD_FIGURE(compare_side, rate),
	FIELD_RATE_UNIT(compare_side, unit),
	FIELD_FIGURE(compare_side, spread),
	FIELD_FIGURE(compare_side, loss));

static const struct schema compare_loss_schema = SCHEMA(compare_loss,
	FIELD(compare_loss, steps),
	FIELD_FIGURE(compare_loss, mean_percent),
	FIELD_FIGURE(compare_loss, largest_percent),
	FIELD(compare_loss, at_step));

#define DIFFERENCE_FIELDS                                                      \
	FIELD_MAYBE(compare_difference, b, compare_side_schema),               \
	FIELD_FIGURE(compare_difference, ratio),                               \
	FIELD_FIGURE(compare_difference, ratio_low),                           \
	FIELD_FIGURE(compare_difference, ratio_high),                          \
	FIELD_KNOWN_TRUTH(compare_difference, significant),                    \
	FIELD_NULLABLE(compare_difference, by),                                \
	FIELD_FIGURE(compare_difference, resolution_percent),                  \
	FIELD_MAYBE(compare_difference, loss, compare_loss_schema)

static const struct schema compare_difference_schema =
	SCHEMA(compare_difference, DIFFERENCE_FIELDS);

_Static_assert(offsetof(struct compare_cell, second) == 0,
	       "the fields of the difference are those of the cell");
const struct schema compare_cell_schema = SCHEMA(compare_cell,
	FIELD_NULLABLE(compare_cell, cell),
	FIELD_MAYBE(compare_cell, a, compare_side_schema),
	DIFFERENCE_FIELDS,
	FIELD_MANY(compare_cell, more, compare_difference_schema));
/* clang-format on */

void compare_cells_clear(struct compare_cells *cells)
{
	for (size_t i = 0; i < cells->count; i++)
		codec_clear(&compare_cell_schema, &cells->items[i]);
	free(cells->items);
	*cells = (struct compare_cells){ 0 };
}

/* The rates of the completed repeats of one cell in one sweep. */
struct side {
	bool there; /* the cell is in this sweep */
	struct mean rate;
	uint32_t unit; /* of their rates */
	double steps; /* half the interquartile range of the steps, as a rate */
	const struct report_row *first; /* completed repeat */
};

/* Half the difference between the rates at the quartiles of the step time. */
static double step_spread(const struct report_row *row)
{
	const struct step_spread *steps = row->info.result->iteration_ms;

	return steps ? row_rate(row).value * steps->median *
			       (1 / steps->q1 - 1 / steps->q3) / 2
		     : (double)NAN;
}

static void side_add(struct side *side, const struct report_row *row)
{
	struct rate rate = row_rate(row);

	side->there = true;
	if (!rate.unit || (side->rate.n && side->unit != rate.unit))
		return;
	side->unit = rate.unit;
	mean_add(&side->rate, rate.value);
	if (!side->first) {
		side->first = row;
		side->steps = step_spread(row);
	}
}

/* A figure that the schema can write. */
static double known_figure(double number)
{
	return isfinite(number) ? number : (double)NAN;
}

/* The spread is that of the repeats, unless the other side has only one. */
static int set_side(struct compare_side **to, const struct side *side,
		    const struct side *other, struct error *err)
{
	bool repeats = side->rate.n > 1 && other->rate.n != 1;
	const struct result *first =
		side->first ? side->first->info.result : NULL;

	if (!side->there)
		return 0;
	*to = malloc(sizeof(**to));
	if (!*to)
		return error_nomem(err, "compare");
	**to = (struct compare_side){
		.n = (uint32_t)side->rate.n,
		.rate = side->rate.n ? side->rate.value : (double)NAN,
		.unit = side->unit,
		.spread = known_figure(repeats ? mean_margin(&side->rate)
					       : side->steps),
		.loss = first && first->loss ? known_figure(first->loss->last)
					     : (double)NAN,
	};
	return 0;
}

static int set_loss(struct compare_loss **to, const struct side *a,
		    const struct side *b, uint64_t from_step, struct error *err)
{
	struct alignment losses;

	series_align(b->first ? b->first->series : NULL,
		     a->first ? a->first->series : NULL, from_step, &losses);
	if (!losses.steps)
		return 0;
	*to = malloc(sizeof(**to));
	if (!*to)
		return error_nomem(err, "compare");
	**to = (struct compare_loss){
		.steps = losses.steps,
		.mean_percent = known_figure(losses.mean * 100),
		.largest_percent = known_figure(losses.largest * 100),
		.at_step = losses.at,
	};
	return 0;
}

/* A cell of any sweep. */
struct aligned {
	const char *cell;
	struct side sides[COMPARE_SWEEPS_MAX];
};

/* In percent, of two sides with repeats. */
static double side_resolution(const struct side *a, const struct side *b)
{
	double cv =
		hypot(mean_cv_percent(&a->rate), mean_cv_percent(&b->rate)) /
		sqrt(2);

	return mean_resolution(cv,
			       a->rate.n < b->rate.n ? a->rate.n : b->rate.n);
}

/* How b differs from a. */
static int set_difference(struct compare_difference *to, const struct side *a,
			  const struct side *b, uint64_t from_step,
			  struct error *err)
{
	bool both = a->rate.n && b->rate.n && a->unit == b->unit;
	bool repeats = both && a->rate.n > 1 && b->rate.n > 1;
	bool steps = both && isfinite(a->steps) && isfinite(b->steps);
	struct ratio ratio = { (double)NAN, (double)NAN, (double)NAN };
	bool significant = repeats ? mean_differs(&a->rate, &b->rate)
				   : fabs(a->rate.value - b->rate.value) >
					     a->steps + b->steps;
	const char *by = repeats ? "repeats" : steps ? "steps" : NULL;

	if (both)
		ratio = mean_ratio(&b->rate, &a->rate);
	to->resolution_percent = repeats ? side_resolution(a, b) : (double)NAN;
	to->ratio = known_figure(ratio.value);
	to->ratio_low = known_figure(ratio.low);
	to->ratio_high = known_figure(ratio.high);
	to->significant = !by           ? TRUTH_UNKNOWN
			  : significant ? TRUTH_YES
					: TRUTH_NO;
	if (string_set(&to->by, by, err) < 0 || set_side(&to->b, b, a, err) < 0)
		return -1;
	return set_loss(&to->loss, a, b, from_step, err);
}

static int set_cell(struct compare_cell *to, const struct aligned *aligned,
		    size_t sweeps, uint64_t from_step, struct error *err)
{
	const struct side *sides = aligned->sides;

	if (string_set(&to->cell, aligned->cell, err) < 0 ||
	    set_side(&to->a, &sides[0], &sides[1], err) < 0 ||
	    set_difference(&to->second, &sides[0], &sides[1], from_step, err) <
		    0)
		return -1;
	if (sweeps == 2)
		return 0;
	to->more = calloc(sweeps - 2, sizeof(*to->more));
	if (!to->more)
		return error_nomem(err, "compare");
	while (to->more_count < sweeps - 2) {
		size_t i = to->more_count++;

		if (set_difference(&to->more[i], &sides[0], &sides[i + 2],
				   from_step, err) < 0)
			return -1;
	}
	return 0;
}

/* The rows of a sweep that have a cell, ordered by the sweep. */
static size_t list_rows(const struct report_rows *rows, size_t sweep,
			struct grouped_row *list, size_t count)
{
	ROWS_EACH(row, rows)
	{
		if (row->info.cell)
			list[count++] =
				(struct grouped_row){ .key = row->info.cell,
						      .order = (double)sweep,
						      .row = row };
	}
	return count;
}

/* Fill cells, in the order of their first rows; return their number. */
static size_t align_cells(struct grouped_row *list, size_t count,
			  struct aligned *cells)
{
	size_t n = 0;

	rows_group(list, count);
	for (size_t i = 0; i < count; i++) {
		if (!i || list[i].first != list[i - 1].first) {
			cells[n].cell = list[i].key;
			for (size_t s = 0; s < COMPARE_SWEEPS_MAX; s++)
				cells[n].sides[s].steps = NAN;
			n++;
		}
		side_add(&cells[n - 1].sides[(size_t)list[i].order],
			 list[i].row);
	}
	return n;
}

int compare_rows(const struct report_rows *const *sweeps, size_t sweeps_count,
		 uint64_t from_step, struct compare_cells *cells,
		 struct error *err)
{
	owned_free struct grouped_row *all = NULL;
	owned_free struct aligned *aligned = NULL;
	size_t count = 0, used = 0;

	for (size_t i = 0; i < sweeps_count; i++)
		count += sweeps[i]->count;
	all = calloc(count + 1, sizeof(*all));
	aligned = calloc(count + 1, sizeof(*aligned));
	cells->items = calloc(count + 1, sizeof(*cells->items));
	if (!all || !aligned || !cells->items)
		return error_nomem(err, "compare");
	for (size_t i = 0; i < sweeps_count; i++)
		used = list_rows(sweeps[i], i, all, used);
	count = align_cells(all, used, aligned);
	while (cells->count < count) {
		size_t i = cells->count++;

		if (set_cell(&cells->items[i], &aligned[i], sweeps_count,
			     from_step, err) < 0)
			return -1;
	}
	return 0;
}

const struct compare_difference *compare_with(const struct compare_cell *cell,
					      size_t sweep)
{
	return sweep == 1 ? &cell->second : &cell->more[sweep - 2];
}

static bool same_unit(const struct compare_side *side, enum rate_unit *unit)
{
	if (!side || !side->unit)
		return true;
	if (*unit && *unit != side->unit)
		return false;
	*unit = side->unit;
	return true;
}

enum rate_unit compare_unit(const struct compare_cells *cells)
{
	enum rate_unit unit = RATE_NONE;

	for (size_t i = 0; i < cells->count; i++) {
		const struct compare_cell *cell = &cells->items[i];

		for (size_t s = 0; s < cell->more_count + 2; s++)
			if (!same_unit(s ? compare_with(cell, s)->b : cell->a,
				       &unit))
				return RATE_NONE;
	}
	return unit;
}

bool compare_shared(const struct compare_cells *cells)
{
	for (size_t i = 0; i < cells->count; i++) {
		const struct compare_cell *cell = &cells->items[i];

		for (size_t s = 1; cell->a && s < cell->more_count + 2; s++)
			if (compare_with(cell, s)->b)
				return true;
	}
	return false;
}

/* Alignment. */

/* The member of the setup, at a path like "layout.tp". */
static struct datum setup_datum(const struct report_row *row, const char *path)
{
	struct member member = { .of = OF_SETUP };
	const struct schema *schema = &setup_schema;
	size_t offset = 0;

	while (schema) {
		size_t size = strcspn(path, ".");
		char name[64];
		const struct field *field;

		snprintf(name, sizeof(name), "%.*s", (int)size, path);
		field = codec_field(schema, name);
		if (!field)
			break;
		path += size;
		if (*path && field->kind == FIELD_STRUCT) {
			schema = field->schema;
			offset += field->offset;
			path++;
			continue;
		}
		member.field = *field;
		member.field.offset += offset;
		member.key = *path ? path + 1 : "";
		return row_datum(row, &member);
	}
	return (struct datum){ .kind = DATUM_NONE };
}

/* Does the row have the value in its cell or its setup? Numbers are compared by
 * their text.
 */
static bool has_value(const struct report_row *row, const cJSON *want)
{
	const cJSON *value = row_at(row->info.values, want->string);
	const char *text = cJSON_GetStringValue(value);
	double number = cJSON_GetNumberValue(value);
	char digits[64];

	if (!value) {
		struct datum datum = setup_datum(row, want->string);

		text = datum.text;
		number =
			datum.kind == DATUM_NUMBER ? datum.number : (double)NAN;
	}
	if (isfinite(number)) {
		snprintf(digits, sizeof(digits), "%.15g", number);
		text = digits;
	}
	return text && !strcmp(text, want->valuestring);
}

static bool row_has_values(const struct report_row *row, const cJSON *values)
{
	const cJSON *want;

	cJSON_ArrayForEach(want, values)
		if (!want->string || !cJSON_IsString(want) ||
		    !has_value(row, want))
			return false;
	return true;
}

static unsigned common_values(const struct report_row *a,
			      const struct report_row *b)
{
	const cJSON *value;
	unsigned same = 0;

	cJSON_ArrayForEach(value, a->info.values)
		same += cJSON_Compare(value,
				      cJSON_GetObjectItemCaseSensitive(
					      b->info.values, value->string),
				      true);
	return same;
}

/* The completed baseline row that has most values in common with this row. */
static const struct report_row *find_baseline(const struct report_rows *rows,
					      const struct report_row *row,
					      const cJSON *values)
{
	const struct report_row *best = NULL;

	ROWS_EACH(other, rows)
	{
		if (row_completed(other) && row_has_values(other, values) &&
		    (!best ||
		     common_values(row, other) > common_values(row, best)))
			best = other;
	}
	return best;
}

static int align_row(struct report_row *row, const struct report_rows *rows,
		     const cJSON *align, const cJSON *job_series,
		     struct error *err)
{
	const cJSON *values = row_at(align, "values");
	double job = row_double(align, "job"),
	       from = row_double(align, "from_step");
	double tolerance = row_double(align, "tolerance");
	const struct report_row *base =
		values ? find_baseline(rows, row, values) : NULL;
	bool self = base == row || (double)row->info.job == job;
	struct alignment_info *to = calloc(1, sizeof(*to));
	struct alignment losses;
	char name[64];

	row->alignment = to;
	if (!to)
		return error_nomem(err, "alignment");
	if (values)
		job = base ? (double)base->info.job : 0;
	series_align(row->series,
		     !values ? job_series
		     : base  ? base->series
			     : NULL,
		     from > 0 ? (uint64_t)from : 0, &losses);
	to->steps = losses.steps;
	to->mean_percent = known_figure(losses.mean * 100);
	to->largest_percent = known_figure(losses.largest * 100);
	to->at_step = losses.at;
	to->tolerance_percent = known_figure(tolerance * 100);
	snprintf(name, sizeof(name), "job %.0f", isfinite(job) ? job : 0);
	if (string_set(&to->baseline, name, err) < 0)
		return -1;
	return string_set(&to->verdict,
			  self ? "baseline"
			  : losses.steps && !losses.broken &&
					  losses.mean <= tolerance
				  ? "True"
				  : "False",
			  err);
}

int align_rows(struct report_rows *rows, const cJSON *job_series,
	       struct error *err)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct report_row *row = &rows->items[i];
		const cJSON *align =
			row_at(row->info.setup ? row->info.setup->about : NULL,
			       "align");

		if (cJSON_IsObject(align) && row_completed(row) &&
		    row_has_values(row, row_at(align, "cells")) &&
		    align_row(row, rows, align, job_series, err) < 0)
			return -1;
	}
	return 0;
}
