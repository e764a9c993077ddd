/* trend.c - follows the rate of cells over many sweeps and finds regressions.
 */
#include "controller/report/trend.h"

#include "controller/report/labels.h"
#include "controller/report/row.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const char *const identity[][2] = {
	{ "cell", "cell" },
	{ "vendor", "setup.vendor" },
	{ "chip", "setup.chip" },
	{ "framework", "setup.framework" },
	{ "precision", "setup.precision" },
};

#define IDENTITY (sizeof(identity) / sizeof(identity[0]))

static bool is_selected(const cJSON *row, const char *what)
{
	const char *model = row_text(row, "setup.model");
	const char *cell = row_text(row, "cell");

	return (model && !strcmp(model, what)) ||
	       (cell && labels_hold(cell, what));
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool is_cell(const cJSON *cell, const cJSON *row)
{
	for (size_t i = 0; i < IDENTITY; i++)
		if (!same_text(row_text(cell, identity[i][0]),
			       row_text(row, identity[i][1])))
			return false;
	return true;
}

/* The cell of the row in the list, which may grow by it. */
static cJSON *cell_of(cJSON *cells, const cJSON *row, bool *failed)
{
	cJSON *cell;

	cJSON_ArrayForEach(cell, cells)
	{
		if (is_cell(cell, row))
			return cell;
	}
	cell = cJSON_CreateObject();
	for (size_t i = 0; i < IDENTITY; i++)
		json_add_text(cell, identity[i][0],
			      row_text(row, identity[i][1]), failed);
	json_add(cell, "points", cJSON_CreateArray(), failed);
	json_add(cells, NULL, cell, failed);
	return *failed ? NULL : cell;
}

static void add_point(cJSON *points, const struct report_about *about,
		      bool *failed)
{
	cJSON *point = cJSON_CreateObject();
	char time[UTC_SIZE];

	json_add_number(point, "sweep", (double)about->sweep, failed);
	json_add_text(point, "name", about->name, failed);
	json_add_text(point, "submitted_utc",
		      utc_text(about->submitted_ms, time), failed);
	json_add_number(point, "n", 0, failed);
	json_add_number(point, "rate", 0, failed);
	json_add(points, NULL, point, failed);
}

/* One more repeat: the point of the sweep is the last one, or new. */
static void add_rate(cJSON *cell, const struct report_about *about, double rate,
		     bool *failed)
{
	cJSON *points = cJSON_GetObjectItemCaseSensitive(cell, "points");
	const cJSON *last = points->child ? points->child->prev : NULL;
	double n, mean;

	if (!last || number_at(last, "sweep") != (double)about->sweep)
		add_point(points, about, failed);
	if (*failed)
		return;
	last = points->child->prev;
	n = number_at(last, "n") + 1;
	mean = number_at(last, "rate") + (rate - number_at(last, "rate")) / n;
	cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(last, "n"), n);
	cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(last, "rate"),
			     mean);
}

static void add_changes(cJSON *cell, bool *failed)
{
	double n = 0, mean = 0, squares = 0;
	cJSON *point;

	cJSON_ArrayForEach(point, row_at(cell, "points"))
	{
		double rate = number_at(point, "rate"),
		       difference = rate - mean;
		double deviation = n > 1 ? sqrt(squares / (n - 1)) : 0;
		double fall =
			fmax(mean * TREND_FALL_PERCENT / 100, 2 * deviation);

		json_add_number(point, "change_percent",
				n > 0 ? difference / mean * 100 : NAN, failed);
		json_add(point, "regression",
			 cJSON_CreateBool(n > 0 && -difference > fall), failed);
		n++;
		mean += difference / n;
		squares += difference * (rate - mean);
	}
}

static void fill(cJSON *cells, const struct trend_sweep *sweep,
		 const char *what, bool *failed)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, sweep->rows)
	{
		double rate = row_double(row, ROW_RATE);
		cJSON *cell;

		if (!row_completed(row) || !(rate > 0) ||
		    !is_selected(row, what))
			continue;
		cell = cell_of(cells, row, failed);
		if (cell)
			add_rate(cell, &sweep->about, rate, failed);
	}
}

cJSON *trend_cells(const struct trend_sweep *sweeps, size_t count,
		   const char *what, struct error *err)
{
	cJSON *cells = cJSON_CreateArray(), *cell;
	bool failed = !cells;

	for (size_t i = 0; !failed && i < count; i++)
		fill(cells, &sweeps[i], what, &failed);
	cJSON_ArrayForEach(cell, cells)
	{
		add_changes(cell, &failed);
	}
	if (!failed)
		return cells;
	cJSON_Delete(cells);
	return error_null(error_nomem(err, "trend"));
}
