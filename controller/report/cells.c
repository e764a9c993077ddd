/* cells.c - makes one row of all repeats of a cell. */
#include "controller/report/cells.h"

#include "controller/report/labels.h"
#include "controller/report/translations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Means of numbers, by the schema. */

/* The structs of the completed repeats; the first is averaged in place. */
struct averaged {
	void **of;
	size_t count;
};

static double averaged_mean(const struct averaged *repeats,
			    const struct field *field)
{
	struct mean mean = { 0 };

	for (size_t i = 0; i < repeats->count; i++) {
		double number =
			*(const double *)(const void *)((const char *)
								repeats->of[i] +
							field->offset);

		if (isfinite(number))
			mean_add(&mean, number);
		else if (field->words)
			return number;
	}
	return mean.n ? mean_rounded(mean.value) : (double)NAN;
}

/* The number of that name in a map; NAN: none. */
static double map_number(const struct field *field, const void *of,
			 const char *name)
{
	const char *base = of;
	const struct named_number *items =
		*(struct named_number *const *)(const void *)(base +
							      field->offset);
	size_t count =
		*(const size_t *)(const void *)(base + field->count_offset);

	for (size_t i = 0; i < count; i++)
		if (!strcmp(items[i].name, name))
			return items[i].number;
	return NAN;
}

static void average_map(const struct averaged *repeats,
			const struct field *field)
{
	char *base = repeats->of[0];
	struct named_number *items =
		*(struct named_number **)(void *)(base + field->offset);
	size_t count = *(size_t *)(void *)(base + field->count_offset);

	for (size_t i = 0; i < count; i++) {
		struct mean mean = { 0 };

		for (size_t k = 0; k < repeats->count; k++) {
			double number = map_number(field, repeats->of[k],
						   items[i].name);

			if (isfinite(number))
				mean_add(&mean, number);
		}
		if (mean.n)
			items[i].number = mean_rounded(mean.value);
	}
}

static int average(const struct schema *schema, const struct averaged *repeats);

/* The structs in, or behind, a member. */
static int average_inner(const struct field *field,
			 const struct averaged *repeats)
{
	struct averaged inner = {
		.of = calloc(repeats->count, sizeof(void *)),
	};
	int rc = inner.of ? 0 : -1;

	for (size_t i = 0; inner.of && i < repeats->count; i++) {
		char *at = (char *)repeats->of[i] + field->offset;

		if (field->kind == FIELD_POINTER)
			at = *(char **)(void *)at;
		if (!at && !i)
			break;
		if (at)
			inner.of[inner.count++] = at;
	}
	if (inner.count)
		rc = average(field->schema, &inner);
	free(inner.of);
	return rc;
}

/* -1: no memory. What a result was computed from stays as it is. */
static int average(const struct schema *schema, const struct averaged *repeats)
{
	for (size_t i = 0; i < schema->count; i++) {
		const struct field *field = &schema->fields[i];

		if (field->kind == FIELD_DOUBLE)
			*(double *)(void *)((char *)repeats->of[0] +
					    field->offset) =
				averaged_mean(repeats, field);
		else if (field->kind == FIELD_MAP)
			average_map(repeats, field);
		else if ((field->kind == FIELD_POINTER ||
			  (field->kind == FIELD_STRUCT &&
			   strcmp(field->name, "inputs") != 0)) &&
			 average_inner(field, repeats) < 0)
			return -1;
	}
	return 0;
}

/* Cells. */

static bool of_one_cell(const struct report_row *a, const struct report_row *b)
{
	return a->info.cell && b->info.cell &&
	       !strcmp(a->info.cell, b->info.cell);
}

/* The run that stands for the cell: the first completed one, with a flag if any
 * has one.
 */
static const struct report_row *cell_base(const struct report_row *runs,
					  size_t count)
{
	const struct report_row *base = NULL;

	for (size_t i = 0; i < count; i++)
		if (row_completed(&runs[i]) &&
		    (!base || (!row_flag(base, 0) && row_flag(&runs[i], 0))))
			base = &runs[i];
	return base ? base : runs;
}

static void count_runs(const struct report_row *runs, size_t count,
		       uint32_t unit, struct repeats_info *to)
{
	struct mean mean = { 0 };

	for (size_t i = 0; i < count; i++) {
		struct rate rate = row_rate(&runs[i]);

		to->failed += row_failed(&runs[i]);
		to->completed += row_completed(&runs[i]);
		if (rate.unit && rate.unit == unit)
			mean_add(&mean, rate.value);
	}
	to->runs = count;
	to->n = mean.n;
	to->mean = mean.n ? mean_rounded(mean.value) : (double)NAN;
	to->stdev = mean_rounded(mean_deviation(&mean));
	to->cv_percent = mean_rounded(mean_cv_percent(&mean));
	to->margin = mean_rounded(mean_margin(&mean));
	to->min = mean.n ? mean.min : (double)NAN;
	to->max = mean.n ? mean.max : (double)NAN;
	to->relative = to->relative_margin = (double)NAN;
}

/* The completed runs' results, of which the first is the cell's own. */
static int cell_average(struct report_row *cell, const struct report_row *base,
			const struct report_row *runs, size_t count,
			struct error *err)
{
	struct averaged repeats = { .of = calloc(count + 1, sizeof(void *)) };
	int rc = repeats.of ? 0 : -1;

	if (repeats.of && cell->info.result && row_completed(cell)) {
		repeats.of[repeats.count++] = cell->info.result;
		for (size_t i = 0; i < count; i++)
			if (&runs[i] != base && row_completed(&runs[i]) &&
			    runs[i].info.result)
				repeats.of[repeats.count++] =
					runs[i].info.result;
		rc = average(&result_schema, &repeats);
	}
	free(repeats.of);
	return rc < 0 ? error_nomem(err, "report") : 0;
}

static int cell_make(struct report_row *cell, const struct report_row *runs,
		     size_t count, struct error *err)
{
	const struct report_row *base = cell_base(runs, count);
	struct report_row bare = *base;

	bare.series = NULL;
	bare.tail = NULL;
	bare.info.repeat = 0;
	if (codec_copy(&report_row_schema, &bare, cell, err) < 0)
		return -1;
	if (!cell->repeats)
		cell->repeats = malloc(sizeof(*cell->repeats));
	if (!cell->repeats)
		return error_nomem(err, "report");
	*cell->repeats = (struct repeats_info){ 0 };
	if (cell_average(cell, base, runs, count, err) < 0)
		return -1;
	count_runs(runs, count, row_rate(base).unit, cell->repeats);
	if (cell->info.published && isfinite(cell->info.published->percent))
		cell->info.published->percent =
			mean_rounded(row_rate(cell).value /
				     cell->info.published->rate * 100);
	return 0;
}

/* The rates of the repeats. */
static struct mean cell_mean(const struct report_row *cell)
{
	const struct repeats_info *of = cell->repeats;

	if (!of || !of->n)
		return (struct mean){ 0 };
	return (struct mean){
		.n = of->n,
		.value = of->mean,
		.squares = of->n > 1
				   ? of->stdev * of->stdev * (double)(of->n - 1)
				   : 0,
		.min = of->min,
		.max = of->max,
	};
}

/* Against the best cell, or a baseline. */

static void cell_relate(struct report_row *cell, const struct report_row *to,
			bool best)
{
	struct repeats_info *of = cell->repeats;
	struct mean own = cell_mean(cell),
		    other = to ? cell_mean(to) : (struct mean){ 0 };
	bool slower = own.value < other.value;
	struct ratio ratio;

	if (!own.n || !other.n || row_rate(cell).unit != row_rate(to).unit)
		return;
	if (cell == to) {
		of->relation = best ? RELATION_BEST : RELATION_BASELINE;
		return;
	}
	ratio = slower ? mean_ratio(&other, &own) : mean_ratio(&own, &other);
	of->relative = mean_rounded(ratio.value);
	of->relative_margin = mean_rounded((ratio.high - ratio.low) / 2);
	/* Of single runs no interval is known. */
	of->relation = ratio.value == 1 || ratio.low <= 1 ? RELATION_SAME
		       : slower                           ? RELATION_SLOWER
							  : RELATION_FASTER;
}

static int cells_compare(const void *a, const void *b)
{
	return strcmp(row_cell(a), row_cell(b));
}

/* The fastest cell of each unit. */
static void cells_best(const struct report_rows *cells,
		       const struct report_row *best[RATE_UNITS])
{
	ROWS_EACH(cell, cells)
	{
		struct rate rate = row_rate(cell);

		if (rate.unit && (!best[rate.unit] ||
				  rate.value > row_rate(best[rate.unit]).value))
			best[rate.unit] = cell;
	}
}

/* Against the same cells of another sweep. */
static int cells_relate_others(struct report_rows *cells,
			       const struct report_rows *baseline,
			       struct error *err)
{
	owned(report_rows_clear) struct report_rows others = { 0 };

	if (cells_make(baseline, &(struct report_about){ 0 }, &others, err) < 0)
		return -1;
	qsort(others.items, others.count, sizeof(*others.items), cells_compare);
	for (size_t i = 0; i < cells->count; i++)
		cell_relate(&cells->items[i],
			    bsearch(&cells->items[i], others.items,
				    others.count, sizeof(*others.items),
				    cells_compare),
			    false);
	return 0;
}

static int cells_relate(struct report_rows *cells,
			const struct report_about *about, struct error *err)
{
	const struct report_row *best[RATE_UNITS] = { NULL }, *named = NULL;

	if (about->baseline)
		return cells_relate_others(cells, about->baseline, err);
	cells_best(cells, best);
	for (size_t i = 0; about->baseline_cell && !named && i < cells->count;
	     i++)
		if (!strcmp(row_cell(&cells->items[i]), about->baseline_cell))
			named = &cells->items[i];
	for (size_t i = 0; i < cells->count; i++)
		cell_relate(&cells->items[i],
			    about->baseline_cell
				    ? named
				    : best[row_rate(&cells->items[i]).unit],
			    !about->baseline_cell);
	return 0;
}

int cells_make(const struct report_rows *runs, const struct report_about *about,
	       struct report_rows *cells, struct error *err)
{
	cells->items = calloc(runs->count + 1, sizeof(*cells->items));
	if (!cells->items)
		return error_nomem(err, "report");
	for (size_t from = 0, end; from < runs->count; from = end) {
		for (end = from + 1;
		     end < runs->count &&
		     of_one_cell(&runs->items[from], &runs->items[end]);)
			end++;
		/* A heat is no repeat of its cell. */
		from += row_heat(&runs->items[from]) && end - from > 1;
		if (cell_make(&cells->items[cells->count++], &runs->items[from],
			      end - from, err) < 0)
			return -1;
	}
	return cells_relate(cells, about, err);
}

/* Has any cell more than one run? */
static bool cells_repeat(const struct report_rows *cells)
{
	ROWS_EACH(cell, cells)
	{
		if (cell->repeats && cell->repeats->runs > 1)
			return true;
	}
	return false;
}

const struct report_rows *cells_shown(const struct report_rows *runs,
				      const struct report_rows *cells,
				      const struct report_about *about)
{
	bool wanted =
		cells_repeat(cells) || about->baseline || about->baseline_cell;

	return wanted && !about->runs ? cells : runs;
}

const char *cells_legend(const struct report_about *about,
			 const struct report_rows *shown,
			 enum language language, char text[CELLS_LEGEND])
{
	bool repeats = false, related = false;

	ROWS_EACH(row, shown)
	{
		const struct repeats_info *of = row->repeats;

		if (!of || !of->runs)
			continue;
		repeats |= of->n > 1;
		related |= of->relation != RELATION_NONE;
	}
	snprintf(text, CELLS_LEGEND, "%s%s%s%.80s%s",
		 repeats ? phrase(language, "Rates are means; ±: half of their "
					    "95 % interval.")
			 : "",
		 repeats && related ? " " : "",
		 related ? phrase(language, "Relative to ") : "",
		 !related               ? ""
		 : about->baseline_name ? about->baseline_name
		 : about->baseline_cell ? about->baseline_cell
					: phrase(language, "the best cell"),
		 related ? phrase(language, ".") : "");
	return text;
}
