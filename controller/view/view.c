/* view.c - shows lists of structs as tables: on a terminal, on a page, as JSON.
 */
#include "controller/view/view.h"
#include "controller/view/render.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef unsigned long long ull;

static bool column_given(const struct view_column *column)
{
	return column->title || column->head;
}

/* The column of the next cell; NULL: the medium lacks it. */
static const struct view_column *view_next(struct view_row *row)
{
	const struct view_column *column = row->column++;

	return (row->table ? column->title : column->head) ? column : NULL;
}

static void page_cell(struct writer *to, bool right,
		      const struct view_mark *mark, const char *text)
{
	const char *class = right                   ? "n"
			    : mark->class           ? mark->class
			    : mark->colour == RED   ? "bad"
			    : mark->colour == FAINT ? "mute"
						    : NULL;

	writer_printf(to, class ? "<td class=\"%s\">" : "<td>", class);
	if (mark->all)
		writer_printf(to,
			      "<progress max=\"%llu\" value=\"%llu\">"
			      "</progress> ",
			      (ull)mark->all, (ull)mark->done);
	if (mark->path)
		writer_printf(to, "<a href=\"/%s/%llu\">%s</a>", mark->path,
			      (ull)mark->number, text);
	else
		writer_printf(to, "%s", text);
	if (mark->warning && *mark->warning)
		writer_printf(to, "%s<span class=\"bad\">%s</span>",
			      *text ? ", " : "", mark->warning);
	writer_raw(to, "</td>");
}

void view_cell(struct view_row *row, const struct view_mark *mark,
	       const char *fmt, ...)
{
	const struct view_column *column = view_next(row);
	char text[VIEW_TEXT_MAX];
	va_list args;

	if (!column)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	mark = mark ? mark : MARK(.colour = PLAIN);
	if (row->table)
		table_cell(row->table, mark->colour, "%s", text);
	else
		page_cell(row->page, column->right, mark, text);
}

void view_text(struct view_row *row, const char *text)
{
	view_cell(row, NULL, "%s", text ? text : "");
}

void view_count(struct view_row *row, uint64_t count)
{
	view_cell(row, NULL, "%llu", (ull)count);
}

void view_number(struct view_row *row, const char *fmt, double number)
{
	char text[64];

	snprintf(text, sizeof(text), fmt, number);
	view_text(row, isnan(number) ? "" : text);
}

void view_clock(struct view_row *row, int64_t wall_ms)
{
	view_cell(row, MARK(.class = "time"), "%s",
		  row->table ? human_clock(wall_ms).text
			     : human_utc(wall_ms).text);
}

void view_job_links(struct view_row *row, const struct numbers *jobs)
{
	char text[200] = "";

	for (size_t i = 0; i < jobs->count && row->table; i++) {
		if (strlen(text) + 40 > sizeof(text)) {
			text_append(text, sizeof(text), ", ...");
			break;
		}
		text_append(text, sizeof(text), "%s%llu", i ? "," : "",
			    (ull)jobs->items[i]);
	}
	if (row->table) {
		view_text(row, text);
	} else if (view_next(row)) {
		writer_raw(row->page, "<td>");
		view_page_jobs(row->page, jobs);
		writer_raw(row->page, "</td>");
	}
}

/* The terminal. */

/* Columns, and the titles to leave out, in their order. */
static void columns_fill(struct view_table *to, const struct view *view)
{
	const struct view_column *column = view->columns;
	size_t columns = 0, count = 0;

	for (; column_given(column) && columns < VIEW_COLUMNS_MAX; column++)
		if (column->title)
			to->columns[columns++] =
				(struct column){ column->title, column->right };
	for (unsigned int drop = 1; drop <= VIEW_COLUMNS_MAX; drop++)
		for (column = view->columns; column_given(column); column++)
			if (column->drop == drop)
				to->droppable[count++] = column->title;
	to->table.columns = to->columns;
}

void view_table_fill(struct view_table *to, const struct view *view,
		     const void *of, size_t count, int64_t at_ms)
{
	columns_fill(to, view);
	for (size_t i = 0; i < count; i++) {
		struct view_row row = { .table = &to->table,
					.column = view->columns,
					.at_ms = at_ms };

		view->put(&row, (const char *)of + i * view->size);
	}
}

/* Pages. */

void view_page_begin(const struct view *view, struct writer *to)
{
	const struct view_column *column = view->columns;

	writer_raw(to, "<table><tr>");
	for (; column_given(column); column++)
		if (column->head)
			writer_printf(to,
				      column->right ? "<th class=\"n\">%s</th>"
						    : "<th>%s</th>",
				      column->head);
	writer_raw(to, "</tr>\n");
}

void view_page_row(const struct view *view, const void *of, struct writer *to)
{
	struct view_row row = { .page = to, .column = view->columns };

	view->put(&row, of);
}

void view_page_jobs(struct writer *to, const struct numbers *jobs)
{
	for (size_t i = 0; i < jobs->count; i++)
		writer_printf(to, "<a href=\"/job/%llu\">%llu</a> ",
			      (ull)jobs->items[i], (ull)jobs->items[i]);
}
