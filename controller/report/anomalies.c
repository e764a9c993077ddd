/* anomalies.c - finds repeats that differ too much, and rates that differ too
 * much from those of neighbouring cells.
 */
#include "controller/report/anomalies.h"

#include "controller/report/labels.h"
#include "controller/report/means.h"
#include "controller/results/remarks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define JUMP 5           /* how many times a neighbour's rate is an anomaly */
#define SPREAD_PERCENT 5 /* of repeats; a sweep can set another */
#define AXES_MAX 32      /* words of a cell that are compared */
#define NAME_SHOWN 80    /* bytes of a value in a sentence */

/* A cell with its completed repeats, compared with its neighbours. */
struct cell_figures {
	const char *words;
	struct report_row **rows; /* the cell's own; they are part of a list by
				     cell */
	size_t count;
	struct mean rate;
	double mfu; /* mean; NaN: a repeat has none */
	unsigned neighbours;
	unsigned above,
		below; /* neighbours from which it differs by more than JUMP */
	double ratio; /* of the rates, nearest to 1; `nearest` is that neighbour
		       */
	char nearest[NAME_SHOWN];
};

/* A cell's place on one axis: one of its words. */
struct cell_place {
	struct cell_figures *cell;
	const char *value; /* "nodes=2", in the cell's words */
	size_t length;
	size_t name; /* bytes before the '=' */
	bool numeric;
	double number;
};

static int add_anomaly(const struct cell_figures *cell,
		       const struct remark_said *said, struct error *err)
{
	for (size_t i = 0; i < cell->count; i++)
		if (remark_add(&cell->rows[i]->anomalies,
			       &cell->rows[i]->anomalies_count, said, err) < 0)
			return -1;
	return 0;
}

/* Repeats. */

static void figures_sum_up(struct cell_figures *cell)
{
	cell->mfu = 0;
	for (size_t i = 0; i < cell->count; i++) {
		mean_add(&cell->rate, row_rate(cell->rows[i]).value);
		cell->mfu += row_mfu(cell->rows[i]) / (double)cell->count;
	}
}

static int add_repeats(const struct cell_figures *cell, struct error *err)
{
	const struct setup *setup = cell->rows[0]->info.setup;
	double limit = setup ? setup->measure.spread_percent : 0;
	const struct repeats_info repeats = {
		.n = cell->count,
		.mean = mean_rounded(cell->rate.value),
		.stdev = mean_rounded(mean_deviation(&cell->rate)),
		.cv_percent = mean_rounded(mean_cv_percent(&cell->rate)),
		.margin = mean_rounded(mean_margin(&cell->rate)),
		.min = cell->rate.min,
		.max = cell->rate.max,
		.relative = (double)NAN,
		.relative_margin = (double)NAN,
	};

	if (cell->count < 2)
		return 0;
	for (size_t i = 0; i < cell->count; i++) {
		struct repeats_info *copy = malloc(sizeof(*copy));

		if (!copy)
			return error_nomem(err, "report");
		*copy = repeats;
		cell->rows[i]->repeats = copy;
	}
	if (!(limit > 0))
		limit = SPREAD_PERCENT;
	if (repeats.cv_percent <= limit)
		return 0;
	return add_anomaly(cell,
			   &(struct remark_said){
				   .code = REMARK_REPEATS_DIFFER,
				   .numbers = { (double)cell->count,
						repeats.cv_percent, limit },
			   },
			   err);
}

/* One seed in all repeats hides how much the result depends on it. */
static int add_equal_seeds(const struct cell_figures *cell, struct error *err)
{
	const char *seed = cell->rows[0]->info.seed;

	if (cell->count < 2 || !seed || strstr(seed, "${"))
		return 0;
	for (size_t i = 1; i < cell->count; i++)
		if (!cell->rows[i]->info.seed ||
		    strcmp(cell->rows[i]->info.seed, seed) != 0)
			return 0;
	return add_anomaly(cell,
			   &(struct remark_said){
				   .code = REMARK_SEEDS_EQUAL,
				   .numbers = { (double)cell->count },
				   .words = { seed },
			   },
			   err);
}

/* Neighbours. */

/* The n-th value in the words; false: there are fewer. */
static bool neighbour_value_at(const char *words, size_t n,
			       struct cell_place *place)
{
	const char *equals;

	do
		place->length = labels_next(&words, &place->value);
	while (place->length && n--);
	if (!place->length)
		return false;
	equals = memchr(place->value, '=', place->length);
	place->name = equals ? (size_t)(equals - place->value) : place->length;
	return equals != NULL;
}

static void place_read_number(struct cell_place *place)
{
	const char *text = place->value + place->name + 1;
	char *end;

	place->number = strtod(text, &end);
	place->numeric = end > text && end == place->value + place->length &&
			 isfinite(place->number);
}

static int compare_bytes(const char *a, size_t a_size, const char *b,
			 size_t b_size)
{
	int order = memcmp(a, b, a_size < b_size ? a_size : b_size);

	return order ? order : (a_size > b_size) - (a_size < b_size);
}

/* Compare all words but the value: the text before it, its name, the text after
 * it.
 */
static int by_line(const struct cell_place *a, const struct cell_place *b)
{
	const char *a_end = a->value + a->length, *b_end = b->value + b->length;
	int order =
		compare_bytes(a->cell->words,
			      (size_t)(a->value - a->cell->words) + a->name,
			      b->cell->words,
			      (size_t)(b->value - b->cell->words) + b->name);

	return order ? order : strcmp(a_end, b_end);
}

static int places_compare(const void *a, const void *b)
{
	const struct cell_place *x = a, *y = b;
	int order = by_line(x, y);

	if (order)
		return order;
	if (x->numeric && y->numeric)
		return (x->number > y->number) - (x->number < y->number);
	return compare_bytes(x->value, x->length, y->value, y->length);
}

/* Cells that differ in these words are compared by MFU only. */
static bool changes_work(const struct cell_place *place)
{
	static const char *const names[] = { "model", "chip", "vendor",
					     "precision" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == place->name &&
		    !strncmp(names[i], place->value, place->name))
			return true;
	return false;
}

static void add_neighbour(struct cell_figures *cell,
			  const struct cell_place *neighbour, double ratio)
{
	cell->neighbours++;
	cell->above += ratio > JUMP;
	cell->below += ratio < 1.0 / JUMP;
	if (cell->neighbours > 1 && fabs(log(ratio)) >= fabs(log(cell->ratio)))
		return;
	cell->ratio = ratio;
	snprintf(cell->nearest, sizeof(cell->nearest), "%.*s",
		 (int)neighbour->length, neighbour->value);
}

static void compare_pair(const struct cell_place *a, const struct cell_place *b)
{
	bool shares = a->cell->mfu > 0 && b->cell->mfu > 0;
	double ratio = shares ? a->cell->mfu / b->cell->mfu
			      : a->cell->rate.value / b->cell->rate.value;

	if (!shares &&
	    (changes_work(a) || row_rate(a->cell->rows[0]).unit !=
					row_rate(b->cell->rows[0]).unit))
		return;
	add_neighbour(a->cell, b, ratio);
	add_neighbour(b->cell, a, 1 / ratio);
}

/* places[0..count) differ in one value. A number is compared with the next one,
 * a word with the next AXES_MAX words.
 */
static void compare_line(const struct cell_place *places, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = i + 1; k < count && k < i + 1 + AXES_MAX; k++) {
			compare_pair(&places[i], &places[k]);
			if (places[i].numeric && places[k].numeric)
				break;
		}
}

static int find_jumps(struct cell_figures *cells, size_t count)
{
	owned_free struct cell_place *places =
		calloc(count + 1, sizeof(*places));

	if (!places)
		return -1;
	for (size_t axis = 0; axis < AXES_MAX; axis++) {
		size_t n = 0;

		for (size_t i = 0; i < count; i++) {
			places[n].cell = &cells[i];
			if (!neighbour_value_at(cells[i].words, axis,
						&places[n]))
				continue;
			place_read_number(&places[n++]);
		}
		qsort(places, n, sizeof(*places), places_compare);
		for (size_t i = 0, end; i < n; i = end) {
			for (end = i + 1;
			     end < n && !by_line(&places[i], &places[end]);)
				end++;
			compare_line(places + i, end - i);
		}
	}
	return 0;
}

static int add_jump(const struct cell_figures *cell, struct error *err)
{
	struct remark_said said = { .words = { cell->nearest } };

	if (cell->neighbours && cell->above == cell->neighbours) {
		said.code = REMARK_RATE_ABOVE;
		said.numbers[0] = cell->ratio;
	} else if (cell->neighbours && cell->below == cell->neighbours) {
		said.code = REMARK_RATE_BELOW;
		said.numbers[0] = 1 / cell->ratio;
	} else {
		return 0;
	}
	return add_anomaly(cell, &said, err);
}

/* Cells. */

/* By cell, then by the unit of the rate: others are no repeats. */
static int rows_compare_cell(const void *a, const void *b)
{
	const struct report_row *x = *(struct report_row *const *)a;
	const struct report_row *y = *(struct report_row *const *)b;
	int order = strcmp(x->info.cell, y->info.cell);

	return order ? order : (int)row_rate(x).unit - (int)row_rate(y).unit;
}

static void row_forget(struct report_row *row)
{
	free(take(row->repeats));
	for (size_t i = 0; i < row->anomalies_count; i++)
		codec_clear(&remark_schema, &row->anomalies[i]);
	free(take(row->anomalies));
	row->anomalies_count = 0;
}

/* The rows that have a rate, by cell. */
static size_t rows_collect(struct report_rows *rows, struct report_row **list)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		struct report_row *row = &rows->items[i];

		row_forget(row);
		if (row_rate(row).unit && row->info.cell && !row_heat(row))
			list[count++] = row;
	}
	qsort(list, count, sizeof(struct report_row *), rows_compare_cell);
	return count;
}

static size_t make_cells(struct report_row **list, size_t count,
			 struct cell_figures *cells)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		if (i && !rows_compare_cell(&list[i - 1], &list[i])) {
			cells[n - 1].count++;
			continue;
		}
		cells[n].rows = &list[i];
		cells[n].words = list[i]->info.cell;
		cells[n++].count = 1;
	}
	return n;
}

int anomalies_add(struct report_rows *rows, struct error *err)
{
	size_t size = rows->count + 1, count;
	owned_free struct report_row **list =
		calloc(size, sizeof(struct report_row *));
	owned_free struct cell_figures *cells = calloc(size, sizeof(*cells));

	if (!list || !cells)
		return error_nomem(err, "report");
	count = make_cells(list, rows_collect(rows, list), cells);
	for (size_t i = 0; i < count; i++)
		figures_sum_up(&cells[i]);
	if (find_jumps(cells, count) < 0)
		return error_nomem(err, "report");
	for (size_t i = 0; i < count; i++)
		if (add_repeats(&cells[i], err) < 0 ||
		    add_equal_seeds(&cells[i], err) < 0 ||
		    add_jump(&cells[i], err) < 0)
			return -1;
	return 0;
}
