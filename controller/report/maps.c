/* maps.c - draws many cells by the keys of their matrix. */
#include "controller/report/maps.h"

#include "controller/report/labels.h"
#include "controller/report/translations.h"
#include "protocol/base/owned.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 8    /* axes; further keys are left out */
#define VALUES_MAX 40 /* of a key; keys with more are left out */
#define SHADES 5
#define TEXT 32 /* bytes of a value that are shown */

#define WIDTH 1120
#define TOP 34
#define LEFT 150 /* room for the values of the rows */
#define LINE 22
#define HEIGHT 420 /* of parallel coordinates */

struct map_word {
	const char *text;
	size_t size;
};

struct map_key {
	struct map_word name, values[VALUES_MAX];
	size_t count; /* VALUES_MAX + 1: too many */
};

/* A cell and its places on the axes. */
struct map_cell {
	const struct report_row *row;
	double rate;
	size_t at[KEYS_MAX]; /* VALUES_MAX: it has no such key */
};

struct map {
	struct map_key keys[KEYS_MAX];
	size_t keys_count;
	struct map_cell *cells;
	size_t count;
	double least, best;
	const char *unit;
};

static bool map_word_is(struct map_word a, struct map_word b)
{
	return a.size == b.size && !strncmp(a.text, b.text, a.size);
}

/* The next "key=value" of a cell's words; words without a key are skipped. */
static bool map_next_word(const char **cell, struct map_word *key,
			  struct map_word *value)
{
	const char *word, *equals;
	size_t length;

	while ((length = labels_next(cell, &word))) {
		equals = memchr(word, '=', length);
		if (!equals)
			continue;
		*key = (struct map_word){ word, (size_t)(equals - word) };
		*value =
			(struct map_word){ equals + 1, length - key->size - 1 };
		return true;
	}
	return false;
}

/* The key of that name, which may be new; NULL: there are too many. */
static struct map_key *map_key(struct map *map, struct map_word name)
{
	for (size_t i = 0; i < map->keys_count; i++)
		if (map_word_is(map->keys[i].name, name))
			return &map->keys[i];
	if (map->keys_count == KEYS_MAX)
		return NULL;
	map->keys[map->keys_count] = (struct map_key){ .name = name };
	return &map->keys[map->keys_count++];
}

static size_t map_value(const struct map_key *key, struct map_word value)
{
	size_t i = 0;

	while (i < key->count && i < VALUES_MAX &&
	       !map_word_is(key->values[i], value))
		i++;
	return i;
}

static void map_add_values(struct map *map, const char *cell)
{
	struct map_word name, value;

	while (map_next_word(&cell, &name, &value)) {
		struct map_key *key = map_key(map, name);
		size_t at = key ? map_value(key, value) : 0;

		if (!key || at < key->count)
			continue;
		if (at < VALUES_MAX)
			key->values[at] = value;
		key->count = at + 1;
	}
}

/* Numbers by size, before and behind words as they came. */
static int map_words_compare(const void *a, const void *b)
{
	const struct map_word *x = a, *y = b;
	char *x_end, *y_end;
	double p = strtod(x->text, &x_end), q = strtod(y->text, &y_end);

	if (x_end == x->text + x->size && y_end == y->text + y->size)
		return (p > q) - (p < q);
	return (x->text > y->text) - (x->text < y->text);
}

/* Keep the keys that tell cells apart. */
static void map_choose_keys(struct map *map)
{
	size_t kept = 0;

	for (size_t i = 0; i < map->keys_count; i++)
		if (map->keys[i].count > 1 &&
		    map->keys[i].count <= VALUES_MAX) {
			map->keys[kept] = map->keys[i];
			qsort(map->keys[kept].values, map->keys[kept].count,
			      sizeof(struct map_word), map_words_compare);
			kept++;
		}
	map->keys_count = kept;
}

static void map_place(struct map *map, struct map_cell *cell)
{
	const char *words = row_cell(cell->row);
	struct map_word name, value;

	for (size_t i = 0; i < map->keys_count; i++)
		cell->at[i] = VALUES_MAX;
	while (map_next_word(&words, &name, &value))
		for (size_t i = 0; i < map->keys_count; i++)
			if (map_word_is(map->keys[i].name, name))
				cell->at[i] = map_value(&map->keys[i], value);
}

/* 0 (slow) .. SHADES - 1 (fast). */
static int map_shade(const struct map *map, double rate)
{
	double part = map->best > map->least
			      ? (rate - map->least) / (map->best - map->least)
			      : 1;

	return (int)fmin(part * SHADES, SHADES - 1);
}

static void map_begin(struct writer *to, const char *title, size_t width,
		      size_t height)
{
	writer_printf(to,
		      "<figure class=\"map\"><svg class=\"chart\" "
		      "viewBox=\"0 0 %zu %zu\" role=\"img\">\n"
		      "<text class=\"name\" x=\"8\" y=\"16\">%s</text>\n",
		      width, height, title);
}

/* "slow ■■■■■ fast, 12.1 to 80.5 token/p/s" */
static void map_end(struct writer *to, const struct map *map, const char *more)
{
	writer_printf(to, "</svg>\n<figcaption><span>%.4g</span>", map->least);
	for (int i = 0; i < SHADES; i++)
		writer_printf(to,
			      "<svg width=\"14\" height=\"10\"><rect "
			      "class=\"v%d\" width=\"14\" "
			      "height=\"10\"/></svg>",
			      i);
	writer_printf(to, "<span> %.4g %s</span>", map->best, map->unit);
	writer_printf(to,
		      "<span class=\"mute\">%s</span></figcaption></figure>\n",
		      more);
}

static void map_put_text(struct writer *to, const char *class, double x,
			 double y, const char *anchor, struct map_word word)
{
	char text[TEXT];

	snprintf(text, sizeof(text), "%.*s", (int)word.size, word.text);
	writer_printf(to,
		      "<text class=\"%s\" x=\"%.0f\" y=\"%.0f\" "
		      "text-anchor=\"%s\">%s</text>\n",
		      class, x, y, anchor, text);
}

/* The heat map. */

/* The best cell at a place of two axes; NULL: none. */
static const struct map_cell *map_best_at(const struct map *map, size_t across,
					  size_t column, size_t down,
					  size_t row)
{
	const struct map_cell *best = NULL;

	for (size_t i = 0; i < map->count; i++) {
		const struct map_cell *cell = &map->cells[i];

		if (cell->at[across] == column && cell->at[down] == row &&
		    (!best || cell->rate > best->rate))
			best = cell;
	}
	return best;
}

/* The two keys with the most values. */
static void map_choose_two(const struct map *map, size_t *across, size_t *down)
{
	*across = 0;
	*down = 1;
	for (size_t i = 1; i < map->keys_count; i++)
		if (map->keys[i].count > map->keys[*across].count) {
			*down = *across;
			*across = i;
		} else if (i > 1 &&
			   map->keys[i].count > map->keys[*down].count) {
			*down = i;
		}
}

static void map_put_square(struct writer *to, const struct map *map,
			   const struct map_cell *cell, double x, double y,
			   double width)
{
	writer_printf(to,
		      "<rect class=\"v%d\" x=\"%.1f\" y=\"%.1f\" "
		      "width=\"%.1f\" height=\"%d\"><title>%s: %.4g %s"
		      "</title></rect>\n",
		      map_shade(map, cell->rate), x, y, width - 2, LINE - 2,
		      row_cell(cell->row), cell->rate, map->unit);
	if (width >= 44)
		writer_printf(to,
			      "<text class=\"on%d\" x=\"%.1f\" y=\"%.1f\" "
			      "text-anchor=\"middle\">%.4g</text>\n",
			      map_shade(map, cell->rate), x + width / 2 - 1,
			      y + 14, cell->rate);
}

static void put_heat_map(struct writer *to, const struct map *map)
{
	size_t across, down;
	const struct map_key *columns, *rows;
	char title[160];
	double width;

	map_choose_two(map, &across, &down);
	columns = &map->keys[across];
	rows = &map->keys[down];
	width = fmin(80, (double)(WIDTH - LEFT) / (double)columns->count);
	snprintf(title, sizeof(title),
		 phrase(to->language, "%s by %.*s (down) and %.*s (across)"),
		 phrase(to->language,
			map->keys_count > 2 ? "Best rate" : "Rate"),
		 (int)(rows->name.size < TEXT ? rows->name.size : TEXT),
		 rows->name.text,
		 (int)(columns->name.size < TEXT ? columns->name.size : TEXT),
		 columns->name.text);
	map_begin(to, title, WIDTH, TOP + (rows->count + 1) * LINE);
	for (size_t c = 0; c < columns->count; c++)
		map_put_text(to, "axis", LEFT + ((double)c + 0.5) * width,
			     TOP + 8, "middle", columns->values[c]);
	for (size_t r = 0; r < rows->count; r++) {
		double y = (double)(TOP + 14 + r * LINE);

		map_put_text(to, "axis", LEFT - 8, y + 14, "end",
			     rows->values[r]);
		for (size_t c = 0; c < columns->count; c++) {
			const struct map_cell *cell =
				map_best_at(map, across, c, down, r);

			if (cell)
				map_put_square(to, map, cell,
					       LEFT + (double)c * width, y,
					       width);
		}
	}
	map_end(to, map, "");
}

/* Parallel coordinates. */

static double axis_x(const struct map *map, size_t axis)
{
	return 60 + (double)axis * (WIDTH - 140) / (double)map->keys_count;
}

static double axis_y(const struct map_key *key, size_t value)
{
	return TOP + 30 +
	       (double)value * (HEIGHT - TOP - 50) / (double)(key->count - 1);
}

static double rate_y(const struct map *map, double rate)
{
	double span = map->best - map->least;

	return HEIGHT - 20 -
	       (span > 0 ? (rate - map->least) / span : 1) *
		       (HEIGHT - TOP - 50);
}

static void put_map_axes(struct writer *to, const struct map *map)
{
	struct map_word name = { map->unit, strlen(map->unit) };

	for (size_t i = 0; i <= map->keys_count; i++) {
		const struct map_key *key =
			i < map->keys_count ? &map->keys[i] : NULL;
		double x = axis_x(map, i);

		writer_printf(to,
			      "<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" "
			      "y1=\"%d\" y2=\"%d\"/>",
			      x, x, TOP + 30, HEIGHT - 20);
		map_put_text(to, "name", x, TOP + 14, "middle",
			     key ? key->name : name);
		for (size_t v = 0; key && v < key->count; v++) {
			writer_printf(to,
				      "<g class=\"pick\" data-v=\"%zu-%zu\">",
				      i, v);
			map_put_text(to, "axis", x + 6, axis_y(key, v) + 4,
				     "start", key->values[v]);
			writer_raw(to, "</g>");
		}
	}
}

static void put_map_line(struct writer *to, const struct map *map,
			 const struct map_cell *cell)
{
	bool pen = false;

	writer_printf(to, "<path class=\"s%d\" fill=\"none\" data-v=\"",
		      map_shade(map, cell->rate));
	for (size_t i = 0; i < map->keys_count; i++)
		if (cell->at[i] < VALUES_MAX)
			writer_printf(to, "%zu-%zu ", i, cell->at[i]);
	writer_raw(to, "\" d=\"");
	for (size_t i = 0; i < map->keys_count; i++) {
		if (cell->at[i] >= VALUES_MAX)
			continue;
		writer_printf(to, pen ? "L%.1f %.1f" : "M%.1f %.1f",
			      axis_x(map, i),
			      axis_y(&map->keys[i], cell->at[i]));
		pen = true;
	}
	writer_printf(to, pen ? "L%.1f %.1f" : "M%.1f %.1f",
		      axis_x(map, map->keys_count), rate_y(map, cell->rate));
	writer_printf(to, "\"><title>%s: %.4g %s</title></path>\n",
		      row_cell(cell->row), cell->rate, map->unit);
}

/* A click on a value fades the cells that have another one. */
static const char pick_script[] =
	"<script>document.querySelectorAll('.pick').forEach(function (pick) {\n"
	"pick.onclick = function () {\n"
	"	var map = pick.closest('svg'), by = {};\n"
	"	pick.classList.toggle('on');\n"
	"	map.querySelectorAll('.pick.on').forEach(function (on) {\n"
	"		var v = on.dataset.v, axis = v.split('-')[0];\n"
	"		(by[axis] = by[axis] || []).push(v); });\n"
	"	map.querySelectorAll('path').forEach(function (line) {\n"
	"		var has = line.dataset.v.split(' ');\n"
	"		line.classList.toggle('faded', "
	"Object.values(by).some(\n"
	"			function (any) { return !any.some(function (v) "
	"{\n"
	"				return has.includes(v); }); })); });\n"
	"}; });</script>\n";

static void put_coordinates(struct writer *to, const struct map *map)
{
	map_begin(to,
		  phrase(to->language, "Each cell by its keys and its rate"),
		  WIDTH, HEIGHT);
	for (size_t i = 0; i < map->count; i++)
		put_map_line(to, map, &map->cells[i]);
	put_map_axes(to, map);
	map_end(to, map,
		phrase(to->language,
		       "A click on a value shows the cells that have it."));
	writer_raw(to, pick_script);
}

static int map_cells_compare(const void *a, const void *b)
{
	const struct map_cell *x = a, *y = b;

	return (x->rate > y->rate) - (x->rate < y->rate);
}

void maps_svg(struct writer *to, const struct report_rows *cells,
	      enum rate_unit unit)
{
	owned_free struct map *map = calloc(1, sizeof(*map));
	owned_free struct map_cell *list =
		calloc(cells->count + 1, sizeof(*list));

	if (!map || !list) {
		error_nomem(&to->failure, "report");
		return;
	}
	map->cells = list;
	map->unit = rate_units[unit];
	ROWS_EACH(row, cells)
	{
		struct rate rate = row_rate(row);

		if (rate.unit != unit)
			continue;
		map->least =
			map->count ? fmin(map->least, rate.value) : rate.value;
		map->best = fmax(map->best, rate.value);
		list[map->count++] =
			(struct map_cell){ .row = row, .rate = rate.value };
		map_add_values(map, row_cell(row));
	}
	map_choose_keys(map);
	if (map->count < MAPS_CELLS_MIN || map->keys_count < 2)
		return;
	for (size_t i = 0; i < map->count; i++)
		map_place(map, &list[i]);
	/* The fast ones are drawn last, above the others. */
	qsort(list, map->count, sizeof(*list), map_cells_compare);
	put_heat_map(to, map);
	put_coordinates(to, map);
}
