/* compare.c - compares sweeps cell by cell, and losses with a baseline.
 */
#include "controller/report/compare.h"

#include "controller/report/row.h"
#include "controller/results/series.h"
#include "controller/results/t_quantile.h"
#include "protocol/base/owned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rates of the completed repeats of one cell in one sweep. */
struct side {
	bool there; /* the cell is in this sweep */
	unsigned n;
	double mean;
	double squares; /* sum of squared differences to the mean */
	double steps; /* half the interquartile range of the steps, as a rate */
	const cJSON *first; /* completed repeat */
};

/* Half the difference between the rates at the quartiles of the step time. */
static double step_spread(const cJSON *row)
{
	double median = row_double(row, "result.iteration_ms.median");
	double q1 = row_double(row, "result.iteration_ms.q1");
	double q3 = row_double(row, "result.iteration_ms.q3");

	return row_double(row, ROW_RATE) * median * (1 / q1 - 1 / q3) / 2;
}

static void side_add(struct side *side, const cJSON *row)
{
	double rate = row_double(row, ROW_RATE), before = side->mean;

	side->there = true;
	if (!row_completed(row) || !isfinite(rate))
		return;
	side->n++;
	side->mean += (rate - side->mean) / side->n;
	side->squares += (rate - before) * (rate - side->mean);
	if (!side->first) {
		side->first = row;
		side->steps = step_spread(row);
	}
}

static double variance(const struct side *side)
{
	return side->squares / (side->n - 1);
}

/* Student's quantile at 95 % for a sum of two variances, by Welch. The degrees
 * of freedom are rounded down, so that no difference is claimed too early.
 */
static double welch_quantile(double va, unsigned na, double vb, unsigned nb)
{
	double error = va + vb;
	double freedom =
		error * error / (va * va / (na - 1) + vb * vb / (nb - 1));

	return t_quantile(0.95, freedom < 1 ? 1 : (uint32_t)freedom);
}

/* Welch's test: is the difference of the means more than chance? */
static bool welch(const struct side *a, const struct side *b)
{
	double va = variance(a) / a->n, vb = variance(b) / b->n;

	if (va + vb <= 0)
		return a->mean != b->mean;
	return fabs(a->mean - b->mean) >
	       welch_quantile(va, a->n, vb, b->n) * sqrt(va + vb);
}

/* The half width of the 95 % interval of ln(b / a), by the delta method. */
static double ratio_margin(const struct side *a, const struct side *b)
{
	double va = variance(a) / a->n / (a->mean * a->mean);
	double vb = variance(b) / b->n / (b->mean * b->mean);

	return va + vb > 0 ? welch_quantile(va, a->n, vb, b->n) * sqrt(va + vb)
			   : 0;
}

/* The spread is that of the repeats, unless the other side has only one. */
static void add_side(cJSON *to, const char *name, const struct side *side,
		     const struct side *other, bool *failed)
{
	bool repeats = side->n > 1 && other->n != 1;
	cJSON *object = cJSON_CreateNull();

	if (side->there) {
		cJSON_Delete(object);
		object = cJSON_CreateObject();
		json_add_number(object, "n", side->n, failed);
		json_add_number(object, "rate", side->n ? side->mean : NAN,
				failed);
		json_add_number(object, "spread",
				repeats ? sqrt(variance(side)) : side->steps,
				failed);
		json_add_number(object, "loss",
				row_double(side->first, "result.loss.last"),
				failed);
	}
	json_add(to, name, object, failed);
}

static void add_alignment(cJSON *to, const struct alignment *losses,
			  bool *failed)
{
	json_add_number(to, "steps", (double)losses->steps, failed);
	json_add_number(to, "mean_percent", losses->mean * 100, failed);
	json_add_number(to, "largest_percent", losses->largest * 100, failed);
	json_add_number(to, "at_step", (double)losses->at, failed);
}

static void add_loss(cJSON *to, const struct side *a, const struct side *b,
		     uint64_t from_step, bool *failed)
{
	struct alignment losses;

	series_align(row_at(b->first, "series"), row_at(a->first, "series"),
		     from_step, &losses);
	if (losses.steps)
		add_alignment(cJSON_AddObjectToObject(to, "loss"), &losses,
			      failed);
	else
		json_add(to, "loss", cJSON_CreateNull(), failed);
}

/* A cell of any sweep. */
struct aligned {
	const char *cell;
	struct side sides[COMPARE_SWEEPS_MAX];
};

/* How b differs from a, added to the object. */
static void add_difference(cJSON *to, const struct side *a,
			   const struct side *b, uint64_t from_step,
			   bool *failed)
{
	bool repeats = a->n > 1 && b->n > 1, both = a->n && b->n;
	bool steps = both && isfinite(a->steps) && isfinite(b->steps);
	double ratio = both ? b->mean / a->mean : NAN;
	double margin = repeats ? ratio_margin(a, b) : NAN;
	bool significant =
		repeats ? welch(a, b)
			: fabs(a->mean - b->mean) > a->steps + b->steps;

	add_side(to, "b", b, a, failed);
	json_add_number(to, "ratio", ratio, failed);
	json_add_number(to, "ratio_low", ratio * exp(-margin), failed);
	json_add_number(to, "ratio_high", ratio * exp(margin), failed);
	json_add(to, "significant",
		 repeats || steps ? cJSON_CreateBool(significant)
				  : cJSON_CreateNull(),
		 failed);
	json_add_text(to, "by",
		      repeats ? "repeats"
		      : steps ? "steps"
			      : NULL,
		      failed);
	add_loss(to, a, b, from_step, failed);
}

static cJSON *aligned_json(const struct aligned *aligned, size_t sweeps,
			   uint64_t from_step, bool *failed)
{
	const struct side *sides = aligned->sides;
	cJSON *to = cJSON_CreateObject();
	cJSON *more;

	json_add_text(to, "cell", aligned->cell, failed);
	add_side(to, "a", &sides[0], &sides[1], failed);
	add_difference(to, &sides[0], &sides[1], from_step, failed);
	if (sweeps == 2)
		return to;
	more = cJSON_AddArrayToObject(to, "more");
	for (size_t i = 2; i < sweeps; i++) {
		cJSON *other = cJSON_CreateObject();

		add_difference(other, &sides[0], &sides[i], from_step, failed);
		json_add(more, NULL, other, failed);
	}
	return to;
}

/* The rows of a sweep that have a cell, ordered by the sweep. */
static size_t list_rows(const cJSON *rows, size_t sweep,
			struct grouped_row *list, size_t count)
{
	cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const char *cell = row_text(row, "cell");

		if (cell)
			list[count++] = (struct grouped_row){
				.key = cell, .order = (double)sweep, .row = row
			};
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

cJSON *compare_rows(const cJSON *const *sweeps, size_t sweeps_count,
		    uint64_t from_step, struct error *err)
{
	owned_free struct grouped_row *all = NULL;
	owned_free struct aligned *cells = NULL;
	size_t count = 0, used = 0;
	bool failed;
	cJSON *list;

	for (size_t i = 0; i < sweeps_count; i++) {
		if (rows_check(sweeps[i], err) < 0)
			return NULL;
		count += (size_t)cJSON_GetArraySize(sweeps[i]);
	}
	all = calloc(count + 1, sizeof(*all));
	cells = calloc(count + 1, sizeof(*cells));
	list = cJSON_CreateArray();
	failed = !all || !cells || !list;
	for (size_t i = 0; !failed && i < sweeps_count; i++)
		used = list_rows(sweeps[i], i, all, used);
	count = failed ? 0 : align_cells(all, used, cells);
	for (size_t i = 0; i < count; i++)
		json_add(list, NULL,
			 aligned_json(&cells[i], sweeps_count, from_step,
				      &failed),
			 &failed);
	if (!failed)
		return list;
	cJSON_Delete(list);
	return error_null(error_nomem(err, "compare"));
}

bool compare_shared(const cJSON *cells)
{
	const cJSON *cell, *other;

	cJSON_ArrayForEach(cell, cells)
	{
		if (!cJSON_IsObject(row_at(cell, "a")))
			continue;
		if (cJSON_IsObject(row_at(cell, "b")))
			return true;
		cJSON_ArrayForEach(other, row_at(cell, "more"))
		{
			if (cJSON_IsObject(row_at(other, "b")))
				return true;
		}
	}
	return false;
}

/* Alignment. */

/* Does the row have the value in its cell or its setup? Numbers are compared by
 * their text.
 */
static bool has_value(const cJSON *row, const cJSON *want)
{
	char path[300];
	const cJSON *value;

	snprintf(path, sizeof(path), "values.%s", want->string);
	value = row_at(row, path);
	if (!value) {
		snprintf(path, sizeof(path), "setup.%s", want->string);
		value = row_at(row, path);
	}
	if (cJSON_IsNumber(value)) {
		char number[64];

		snprintf(number, sizeof(number), "%.15g", value->valuedouble);
		return !strcmp(number, want->valuestring);
	}
	return cJSON_IsString(value) &&
	       !strcmp(value->valuestring, want->valuestring);
}

static bool has_values(const cJSON *row, const cJSON *values)
{
	const cJSON *want;

	cJSON_ArrayForEach(want, values)
	{
		if (!want->string || !cJSON_IsString(want) ||
		    !has_value(row, want))
			return false;
	}
	return true;
}

static unsigned common_values(const cJSON *a, const cJSON *b)
{
	const cJSON *value;
	unsigned same = 0;

	cJSON_ArrayForEach(value, row_at(a, "values"))
	{
		same += cJSON_Compare(
			value,
			cJSON_GetObjectItemCaseSensitive(row_at(b, "values"),
							 value->string),
			true);
	}
	return same;
}

/* The completed baseline row that has most values in common with this row. */
static const cJSON *find_baseline(const cJSON *rows, const cJSON *row,
				  const cJSON *values)
{
	const cJSON *other, *best = NULL;

	cJSON_ArrayForEach(other, rows)
	{
		if (row_completed(other) && has_values(other, values) &&
		    (!best ||
		     common_values(row, other) > common_values(row, best)))
			best = other;
	}
	return best;
}

static int align_row(cJSON *row, const cJSON *rows, const cJSON *align,
		     const cJSON *job_series, struct error *err)
{
	const cJSON *values = row_at(align, "values");
	double job = row_double(align, "job"),
	       from = row_double(align, "from_step");
	double tolerance = row_double(align, "tolerance");
	const cJSON *base = values ? find_baseline(rows, row, values) : NULL;
	bool self = base == row || row_double(row, "job") == job;
	cJSON *to = cJSON_AddObjectToObject(row, "alignment");
	struct alignment losses;
	bool failed = false;
	char name[64];

	if (values)
		job = row_double(base, "job");
	series_align(row_at(row, "series"),
		     values ? row_at(base, "series") : job_series,
		     from > 0 ? (uint64_t)from : 0, &losses);
	snprintf(name, sizeof(name), "job %.0f", isfinite(job) ? job : 0);
	json_add_text(to, "verdict",
		      self ? "baseline"
		      : losses.steps && !losses.broken &&
				      losses.mean <= tolerance
			      ? "True"
			      : "False",
		      &failed);
	add_alignment(to, &losses, &failed);
	json_add_number(to, "tolerance_percent", tolerance * 100, &failed);
	json_add_text(to, "baseline", name, &failed);
	return failed ? error_nomem(err, "alignment") : 0;
}

int align_rows(cJSON *rows, const cJSON *job_series, struct error *err)
{
	cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *align = row_at(row, "setup.about.align");

		if (cJSON_IsObject(align) && row_completed(row) &&
		    has_values(row, row_at(align, "cells")) &&
		    align_row(row, rows, align, job_series, err) < 0)
			return -1;
	}
	return 0;
}
