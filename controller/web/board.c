/* board.c - writes the jobs of a sweep as a matrix of cells. */
#include "controller/web/board.h"
#include "controller/report/labels.h"
#include "protocol/message/rate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SLICE_SQUARES 32
#define AXES_MAX 32 /* keys of a cell; further ones are left out */

struct word {
	const char *text; /* NULL: none */
	size_t size;
};

/* A key of the cells, and its values in the order of their first use. */
struct axis {
	struct word key;
	struct word values[BOARD_COLUMNS_MAX];
	size_t count; /* BOARD_COLUMNS_MAX + 1: there are too many */
	size_t cells; /* that have the key */
};

/* A job and its place. */
struct square {
	const struct job_info *job;
	struct rate rate; /* none of a job that failed */
	size_t row, column;
};

/* A row: the words of its cells, without those that all cells share and that of
 * the column.
 */
struct row {
	char words[LABEL_SIZE];
};

struct board {
	struct axis axes[AXES_MAX];
	size_t axes_count;
	const struct axis *across; /* NULL: one column */
	struct square *squares;
	struct row *rows;
	size_t count, room, rows_count;
	double best[RATE_UNITS];
	size_t placed;   /* squares that have a row and a column */
	bool begun;      /* the table is */
	size_t row, put; /* rows and squares that are written */
};

struct board *board_new(size_t jobs)
{
	struct board *board = calloc(1, sizeof(*board));

	if (!board)
		return NULL;
	board->room = jobs;
	board->squares = calloc(jobs + 1, sizeof(*board->squares));
	board->rows = calloc(jobs + 1, sizeof(*board->rows));
	if (!board->squares || !board->rows) {
		board_free(board);
		return NULL;
	}
	return board;
}

void board_free(struct board *board)
{
	if (!board)
		return;
	free(board->squares);
	free(board->rows);
	free(board);
}

static bool same_word(struct word a, struct word b)
{
	return a.size == b.size && !strncmp(a.text, b.text, a.size);
}

/* The next word of a cell, as its key and value; false: there is none. */
static bool next_word(const char **cell, struct word *key, struct word *value)
{
	const char *text = *cell;
	size_t size = labels_word(text), length;

	if (!size)
		return false;
	length = strcspn(text, "= ");
	if (length >= size || text[length] != '=')
		length = 0;
	*key = (struct word){ text, length };
	*value = (struct word){ text + length + (length > 0),
				size - length - (length > 0) };
	*cell = text + size + (text[size] == ' ');
	return true;
}

static struct axis *axis_of(struct board *board, struct word key)
{
	for (size_t i = 0; i < board->axes_count; i++)
		if (same_word(board->axes[i].key, key))
			return &board->axes[i];
	if (board->axes_count == AXES_MAX)
		return NULL;
	board->axes[board->axes_count].key = key;
	return &board->axes[board->axes_count++];
}

static size_t axis_find_value(const struct axis *axis, struct word value)
{
	size_t i = 0;

	while (i < axis->count && i < BOARD_COLUMNS_MAX &&
	       !same_word(axis->values[i], value))
		i++;
	return i;
}

static void add_values(struct board *board, const char *cell)
{
	struct word key, value;

	while (next_word(&cell, &key, &value)) {
		struct axis *axis = axis_of(board, key);
		size_t place = axis ? axis_find_value(axis, value) : 0;

		if (!axis)
			continue;
		axis->cells++;
		if (place < axis->count)
			continue;
		if (place < BOARD_COLUMNS_MAX)
			axis->values[place] = value;
		axis->count = place + 1;
	}
}

static void choose_columns(struct board *board)
{
	for (size_t i = 0; i < board->axes_count; i++) {
		const struct axis *axis = &board->axes[i];

		if (axis->key.size && axis->count > 1 &&
		    axis->count <= BOARD_COLUMNS_MAX &&
		    (!board->across || axis->count >= board->across->count))
			board->across = axis;
	}
}

static bool is_common(const struct board *board, const struct axis *axis)
{
	return axis->count == 1 && axis->cells == board->count;
}

/* Write the words of the cell's row; returns its column. */
static size_t board_name_row(struct board *board, const char *cell,
			     struct row *row)
{
	struct word key, value;
	size_t column = 0, used = 0;

	row->words[0] = 0;
	while (next_word(&cell, &key, &value)) {
		const struct axis *axis = axis_of(board, key);

		if (axis && axis == board->across) {
			column = axis_find_value(axis, value);
			continue;
		}
		if (axis && is_common(board, axis))
			continue;
		snprintf(row->words + used, sizeof(row->words) - used,
			 "%s%.*s%s%.*s", used ? " " : "", (int)key.size,
			 key.text, key.size ? "=" : "", (int)value.size,
			 value.text);
		used = strlen(row->words);
	}
	return column;
}

/* The row with the words behind the last row, which becomes a row if it is new.
 */
static size_t board_find_row(struct board *board)
{
	const char *words = board->rows[board->rows_count].words;

	for (size_t i = board->rows_count; i-- > 0;)
		if (!strcmp(board->rows[i].words, words))
			return i;
	return board->rows_count++;
}

static int squares_compare(const void *left, const void *right)
{
	const struct square *a = left, *b = right;

	if (a->row != b->row)
		return a->row < b->row ? -1 : 1;
	if (a->column != b->column)
		return a->column < b->column ? -1 : 1;
	return (a->job->job > b->job->job) - (a->job->job < b->job->job);
}

static const char *job_info_cell(const struct job_info *job)
{
	return job->cell ? job->cell : "";
}

void board_add(struct board *board, const struct job_info *job)
{
	struct rate rate = job->failure
				   ? rate_of(0, 0, 0, 0)
				   : (struct rate){ job->rate, job->rate_unit };

	if (board->count == board->room)
		return;
	board->squares[board->count++] =
		(struct square){ .job = job, .rate = rate };
	board->best[rate.unit] = fmax(board->best[rate.unit], rate.value);
	add_values(board, job_info_cell(job));
}

static void square_place(struct board *board, struct square *square)
{
	square->column = board_name_row(board, job_info_cell(square->job),
					&board->rows[board->rows_count]);
	square->row = board_find_row(board);
}

/* Three digits: "0.52", "48.1", "2068", "31.2k". */
static void board_put_rate(struct web_page *page, double rate)
{
	if (rate >= 1e6)
		web_html(page, "%.3gM", rate / 1e6);
	else if (rate >= 1e4)
		web_html(page, "%.3gk", rate / 1e3);
	else
		web_html(page, rate >= 1000 ? "%.0f" : "%.3g", rate);
}

/* The text that appears when the pointer is over a job. */
static void square_describe(const struct job_info *job, char *text, size_t size)
{
	uint64_t step = job_step(job);
	double loss = job_loss(job);
	struct human rate = job_rate(job);
	char steps[40] = "", losses[40] = "";

	if (step)
		snprintf(steps, sizeof(steps), ", step %llu", (ull)step);
	if (!isnan(loss))
		snprintf(losses, sizeof(losses), ", loss %.4f", loss);
	snprintf(text, size, "job %llu, %s%s%s%s%s", (ull)job->job, job->state,
		 steps, losses, *rate.text ? ", " : "", rate.text);
}

static void put_square(struct web_page *page, const struct square *square,
		       const double best[RATE_UNITS])
{
	const struct job_info *job = square->job;
	const struct progress_info *progress = job->progress;
	char more[300], title[180], shade[32] = "";

	if (square->rate.unit)
		snprintf(shade, sizeof(shade), " data-rate=\"%.0f\"",
			 ceil(BOARD_SHADES * square->rate.value /
			      best[square->rate.unit]));
	square_describe(job, title, sizeof(title));
	snprintf(more, sizeof(more),
		 " class=\"%s\"%s href=\"/job/%llu\" title=\"%s\"", job->state,
		 shade, (ull)job->job, title);
	web_part(page, "a", more, "c%llu", (ull)job->job);
	if (progress && progress->steps)
		web_html(page, "%.0f %%%s",
			 100.0 * (double)progress->step /
				 (double)progress->steps,
			 square->rate.unit ? " · " : "");
	if (square->rate.unit)
		board_put_rate(page, square->rate.value);
	else if (!progress || !progress->steps)
		web_html(page, "%s", job->failure ? job->failure : job->state);
	if (job->suspect)
		web_html(page, " (!)");
	web_part_end(page, "a");
}

/* "key=value" */
static void board_put_value(struct web_page *page, const struct axis *axis,
			    size_t i)
{
	char text[LABEL_SIZE];

	snprintf(text, sizeof(text), "%.*s=%.*s", (int)axis->key.size,
		 axis->key.text, (int)axis->values[i].size,
		 axis->values[i].text);
	web_html(page, "%s", text);
}

/* The values that all cells share, above the table. */
static void put_common(struct web_page *page, const struct board *board)
{
	const char *before = "All cells: ";

	for (size_t i = 0; i < board->axes_count; i++) {
		const struct axis *axis = &board->axes[i];

		if (!is_common(board, axis) || !axis->key.size)
			continue;
		web_html(page, "%s", before);
		board_put_value(page, axis, 0);
		before = ", ";
	}
}

static size_t board_count_columns(const struct board *board)
{
	return board->across ? board->across->count : 1;
}

static void board_put_heads(struct web_page *page, const struct board *board)
{
	web_html(page, "<tr><td></td>");
	for (size_t i = 0; board->across && i < board->across->count; i++) {
		web_html(page, "<th scope=\"col\">");
		board_put_value(page, board->across, i);
		web_html(page, "</th>");
	}
	web_html(page, "</tr>\n");
}

static void board_begin(struct board *board, struct web_page *page)
{
	qsort(board->squares, board->count, sizeof(*board->squares),
	      squares_compare);
	web_html(page, "<p class=\"mute\">");
	put_common(page, board);
	web_html(page, "</p>\n<div class=\"wide\"><table class=\"board\">\n");
	board_put_heads(page, board);
}

static void board_put_row(struct board *board, struct web_page *page)
{
	web_html(page, "<tr><th scope=\"row\">%s</th>",
		 board->rows[board->row].words);
	for (size_t column = 0; column < board_count_columns(board); column++) {
		const struct square *at = &board->squares[board->put];

		web_html(page, "<td>");
		for (; board->put < board->count && at->row == board->row &&
		       at->column == column;
		     at++, board->put++)
			put_square(page, at, board->best);
		web_html(page, "</td>");
	}
	web_html(page, "</tr>\n");
}

static void board_put_legend(const struct board *board, struct web_page *page)
{
	const char *before = ", its rate in ";
	bool rated = false;

	web_html(page, "</table></div>\n<p class=\"mute\">A square shows the "
		       "progress of a job");
	for (size_t unit = RATE_NONE + 1; unit < RATE_UNITS; unit++)
		if (board->best[unit] > 0) {
			web_html(page, "%s%s", before, rate_units[unit]);
			before = " or ";
			rated = true;
		}
	web_html(page, ", or how it failed.%s</p>\n",
		 rated ? " Stronger colours are closer to the best rate." : "");
}

int board_next(struct board *board, struct web_page *page)
{
	if (!board->placed)
		choose_columns(board);
	for (size_t i = 0; i < SLICE_SQUARES && board->placed < board->count;
	     i++)
		square_place(board, &board->squares[board->placed++]);
	if (board->placed < board->count)
		return 1;
	if (!board->begun) {
		board_begin(board, page);
		board->begun = true;
		return 1;
	}
	if (board->row < board->rows_count) {
		board_put_row(board, page);
		board->row++;
		return 1;
	}
	board_put_legend(board, page);
	return 0;
}
