/* trend.c - follows the rate of cells over many sweeps and finds regressions.
 */
#include "controller/report/trend.h"

#include "controller/report/labels.h"
#include "controller/report/means.h"
#include "protocol/base/units.h"
#include "protocol/base/list.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
static const struct schema trend_point_schema = SCHEMA(trend_point,
	FIELD(trend_point, sweep),
	FIELD_NULLABLE(trend_point, name),
	FIELD_NULLABLE(trend_point, submitted_utc),
	FIELD(trend_point, n),
	FIELD_FIGURE(trend_point, rate),
	FIELD_FIGURE(trend_point, change_percent),
	FIELD(trend_point, regression));

const struct schema trend_cell_schema = SCHEMA(trend_cell,
	FIELD_NULLABLE(trend_cell, cell),
	FIELD_NULLABLE(trend_cell, vendor),
	FIELD_NULLABLE(trend_cell, chip),
	FIELD_NULLABLE(trend_cell, framework),
	FIELD_NULLABLE(trend_cell, precision),
	FIELD_RATE_UNIT(trend_cell, unit),
	FIELD_ROWS(trend_cell, points, trend_point_schema));
/* clang-format on */

void trend_cells_clear(struct trend_cells *cells)
{
	for (size_t i = 0; i < cells->count; i++)
		codec_clear(&trend_cell_schema, &cells->items[i]);
	free(cells->items);
	*cells = (struct trend_cells){ 0 };
}

/* The cell of a row; its texts are those of the row. */
static struct trend_cell identity_of(const struct report_row *row)
{
	static const struct setup none;
	const struct setup *setup = row->info.setup ? row->info.setup : &none;

	return (struct trend_cell){
		.cell = row->info.cell,
		.vendor = setup->vendor,
		.chip = setup->measure.chip,
		.framework = setup->measure.framework,
		.precision = setup->measure.precision,
		.unit = row_rate(row).unit,
	};
}

static bool is_selected(const struct report_row *row, const char *what)
{
	const struct setup *setup = row->info.setup;
	const char *model = setup ? setup->measure.model : NULL;
	const char *cell = row->info.cell ? row->info.cell : "";
	char words[LABEL_SIZE];

	if ((model && !strcmp(model, what)) || labels_hold(cell, what))
		return true;
	/* A cell has no word of the model where the sweep has one only. */
	snprintf(words, sizeof(words), "model=%s %s", model ? model : "", cell);
	return labels_hold(words, what);
}

static bool texts_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool trend_cell_same(const struct trend_cell *a,
			    const struct trend_cell *b)
{
	return texts_equal(a->cell, b->cell) &&
	       texts_equal(a->vendor, b->vendor) &&
	       texts_equal(a->chip, b->chip) &&
	       texts_equal(a->framework, b->framework) &&
	       texts_equal(a->precision, b->precision) && a->unit == b->unit;
}

/* The cell of the row in the list, which may grow by it; NULL: ENOMEM. */
static struct trend_cell *trend_get_cell(struct trend_cells *cells,
					 const struct report_row *row,
					 struct error *err)
{
	struct trend_cell identity = identity_of(row), *added;

	for (size_t i = 0; i < cells->count; i++)
		if (trend_cell_same(&cells->items[i], &identity))
			return &cells->items[i];
	added = LIST_ADD(cells->items, cells->count, err);
	return added && codec_copy(&trend_cell_schema, &identity, added, err) ==
				       0
		       ? added
		       : NULL;
}

static struct trend_point *point_of(struct trend_cell *cell,
				    const struct report_about *about,
				    struct error *err)
{
	size_t count = cell->points_count;
	struct trend_point *point = cell->points;
	char time[UTC_SIZE];

	if (count && point[count - 1].sweep == about->sweep)
		return &point[count - 1];
	point = LIST_ADD(cell->points, cell->points_count, err);
	if (!point)
		return NULL;
	point->sweep = about->sweep;
	if (string_set(&point->name, about->name, err) < 0 ||
	    string_set(&point->submitted_utc,
		       utc_text(about->submitted_ms, time), err) < 0)
		return NULL;
	return point;
}

static void add_changes(struct trend_cell *cell)
{
	struct mean before = { 0 };

	for (size_t i = 0; i < cell->points_count; i++) {
		struct trend_point *point = &cell->points[i];
		double difference = point->rate - before.value;
		double fall = fmax(before.value * TREND_FALL_PERCENT / 100,
				   2 * mean_deviation(&before));

		point->change_percent =
			before.n ? difference / before.value * 100
				 : (double)NAN;
		point->regression = before.n && -difference > fall;
		mean_add(&before, point->rate);
	}
}

static int trend_add_sweep(struct trend_cells *cells,
			   const struct trend_sweep *sweep, const char *what,
			   struct error *err)
{
	ROWS_EACH(row, &sweep->rows)
	{
		struct trend_cell *cell;
		struct trend_point *point;

		if (!row_rate(row).unit || !is_selected(row, what))
			continue;
		cell = trend_get_cell(cells, row, err);
		point = cell ? point_of(cell, &sweep->about, err) : NULL;
		if (!point)
			return -1;
		point->n++;
		point->rate += (row_rate(row).value - point->rate) / point->n;
	}
	return 0;
}

int trend_cells_find(const struct trend_sweep *sweeps, size_t count,
		     const char *what, struct trend_cells *cells,
		     struct error *err)
{
	for (size_t i = 0; i < count; i++)
		if (trend_add_sweep(cells, &sweeps[i], what, err) < 0)
			return -1;
	for (size_t i = 0; i < cells->count; i++)
		add_changes(&cells->items[i]);
	return 0;
}

static bool has_selected(const struct trend_sweep *sweep, const char *what)
{
	ROWS_EACH(row, &sweep->rows)
	{
		if (row_rate(row).unit && is_selected(row, what))
			return true;
	}
	return false;
}

/* Append copies of the rows, which have room. */
static int trend_copy_rows(const struct trend_sweep *sweep, const char *what,
			   struct report_rows *to, struct error *err)
{
	ROWS_EACH(row, &sweep->rows)
	{
		if (!is_selected(row, what))
			continue;
		if (codec_copy(&report_row_schema, row, &to->items[to->count],
			       err) < 0)
			return -1;
		to->count++;
	}
	return 0;
}

int trend_rows(const struct trend_sweep *sweeps, size_t count, const char *what,
	       struct report_rows *last, struct report_rows *before,
	       const char **name, struct error *err)
{
	size_t all = 0, end = count;

	while (end && !has_selected(&sweeps[end - 1], what))
		end--;
	for (size_t i = 0; i < end; i++)
		all += sweeps[i].rows.count;
	last->items = calloc(all + 1, sizeof(*last->items));
	before->items = calloc(all + 1, sizeof(*before->items));
	if (!last->items || !before->items)
		return error_nomem(err, "trend");
	for (size_t i = 0; i < end; i++)
		if (trend_copy_rows(&sweeps[i], what,
				    i + 1 < end ? before : last, err) < 0)
			return -1;
	*name = end ? sweeps[end - 1].about.name : NULL;
	return rows_gather(before, err);
}
