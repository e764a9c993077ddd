/* trend.c - the same cells over many sweeps.
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

static bool is_meant(const cJSON *row, const char *what)
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

static int set(cJSON *to, const char *name, cJSON *value, struct error *err)
{
	if (value && cJSON_AddItemToObject(to, name, value))
		return 0;
	cJSON_Delete(value);
	return error_nomem(err, "trend");
}

static cJSON *text_json(const char *text)
{
	return text ? cJSON_CreateString(text) : cJSON_CreateNull();
}

/* The cell of the row in the list, which may grow by it. NULL: ENOMEM. */
static cJSON *cell_of(cJSON *cells, const cJSON *row, struct error *err)
{
	cJSON *cell;

	cJSON_ArrayForEach(cell, cells)
	{
		if (is_cell(cell, row))
			return cell;
	}
	cell = cJSON_CreateObject();
	if (!cJSON_AddItemToArray(cells, cell)) {
		error_nomem(err, "trend");
		return NULL;
	}
	for (size_t i = 0; i < IDENTITY; i++)
		if (set(cell, identity[i][0],
			text_json(row_text(row, identity[i][1])), err) < 0)
			return NULL;
	return set(cell, "points", cJSON_CreateArray(), err) < 0 ? NULL : cell;
}

static int add_point(cJSON *cell, const struct report_about *about,
		     struct error *err)
{
	cJSON *point = cJSON_CreateObject();
	char time[UTC_SIZE];

	if (!cJSON_AddItemToArray(cJSON_GetObjectItemCaseSensitive(cell,
								   "points"),
				  point))
		return error_nomem(err, "trend");
	if (set(point, "sweep", cJSON_CreateNumber((double)about->sweep), err) <
		    0 ||
	    set(point, "name", text_json(about->name), err) < 0 ||
	    set(point, "submitted_utc",
		text_json(utc_text(about->submitted_ms, time)), err) < 0 ||
	    set(point, "n", cJSON_CreateNumber(0), err) < 0)
		return -1;
	return set(point, "rate", cJSON_CreateNumber(0), err);
}

/* One more repeat: the point of the sweep is the last one, or new. */
static int add_rate(cJSON *cell, const struct report_about *about, double rate,
		    struct error *err)
{
	cJSON *points = cJSON_GetObjectItemCaseSensitive(cell, "points");
	const cJSON *last = points->child ? points->child->prev : NULL;
	double n;

	if ((!last || number_at(last, "sweep") != (double)about->sweep) &&
	    add_point(cell, about, err) < 0)
		return -1;
	if (!points->child)
		return error_nomem(err, "trend");
	last = points->child->prev;
	n = number_at(last, "n") + 1;
	rate = number_at(last, "rate") + (rate - number_at(last, "rate")) / n;
	cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(last, "n"), n);
	cJSON_SetNumberValue(cJSON_GetObjectItemCaseSensitive(last, "rate"),
			     rate);
	return 0;
}

static int judge(cJSON *cell, struct error *err)
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

		if (set(point, "change_percent",
			n > 0 ? cJSON_CreateNumber(difference / mean * 100)
			      : cJSON_CreateNull(),
			err) < 0 ||
		    set(point, "regression",
			cJSON_CreateBool(n > 0 && -difference > fall), err) < 0)
			return -1;
		n++;
		mean += difference / n;
		squares += difference * (rate - mean);
	}
	return 0;
}

static int fill(cJSON *cells, const struct trend_sweep *sweeps, size_t count,
		const char *what, struct error *err)
{
	cJSON *cell;
	const cJSON *row;

	for (size_t i = 0; i < count; i++)
		cJSON_ArrayForEach(row, sweeps[i].rows)
		{
			double rate = row_double(row, ROW_RATE);

			if (!row_completed(row) || !(rate > 0) ||
			    !is_meant(row, what))
				continue;
			cell = cell_of(cells, row, err);
			if (!cell ||
			    add_rate(cell, &sweeps[i].about, rate, err) < 0)
				return -1;
		}
	cJSON_ArrayForEach(cell, cells)
	{
		if (judge(cell, err) < 0)
			return -1;
	}
	return 0;
}

cJSON *trend_cells(const struct trend_sweep *sweeps, size_t count,
		   const char *what, struct error *err)
{
	cJSON *cells = cJSON_CreateArray();

	if (!cells)
		error_nomem(err, "trend");
	else if (fill(cells, sweeps, count, what, err) == 0)
		return cells;
	cJSON_Delete(cells);
	return NULL;
}
