/* view.h - shows lists of structs as tables: on a terminal, on a page, as JSON.
 *
 * A view has columns and a function that writes the cells of a row, one for
 * each column. The cells of columns that a medium lacks are dropped there, so
 * the function is the same for all. Commands and pages have no tables of their
 * own. Texts need not be escaped.
 */
#pragma once

#include "controller/report/table.h"
#include "controller/report/writer.h"
#include "protocol/message/codec.h"

#define VIEW_COLUMNS_MAX 24
#define VIEW_TEXT_MAX 1000 /* bytes of a cell */

struct view_column {
	const char *title;  /* on a terminal; NULL: not there */
	const char *head;   /* on a page; NULL: not there */
	bool right;         /* numbers */
	unsigned char drop; /* a narrow terminal lacks 1 first; 0: none does */
};

/* Where the cells of a row go. */
struct view_row {
	struct table *table; /* of a terminal; NULL: to the page */
	struct writer *page;
	const struct view_column *column; /* of the next cell */
	int64_t at_ms; /* from or to which durations count, mostly now */
};

struct view {
	const char *name; /* of the list in JSON: {"NAME": [...]}; NULL: [...]
			   */
	size_t size;      /* of a struct */
	const struct view_column *columns; /* one without titles ends them */
	void (*put)(struct view_row *row, const void *of);
	const char *none; /* what to say where there are no rows, or NULL */
	bool narrows;     /* to the width of a terminal */
};

/* What a cell has beside its text. */
struct view_mark {
	enum colour colour;  /* on a page only RED and FAINT */
	const char *class;   /* on a page instead of it, of style.css */
	const char *path;    /* on a page the text leads to /PATH/NUMBER; */
	uint64_t number;     /* NULL: nowhere */
	uint64_t done, all;  /* on a page a bar before it; all 0: none */
	const char *warning; /* behind it */
};
#define MARK(...) (&(const struct view_mark){ __VA_ARGS__ })

/* Write the next cell. mark NULL: only a text. */
void view_cell(struct view_row *row, const struct view_mark *mark,
	       const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void view_text(struct view_row *row, const char *text); /* NULL: empty */
void view_count(struct view_row *row, uint64_t count);
void view_number(struct view_row *row, const char *fmt, double number);
/* A time: local on a terminal, UTC on a page. */
void view_clock(struct view_row *row, int64_t wall_ms);
/* Numbers of jobs, which lead to their pages. */
void view_job_links(struct view_row *row, const struct numbers *jobs);

/* The rows as a table for a terminal. */
struct view_table {
	struct table table;
	struct column columns[VIEW_COLUMNS_MAX + 1];
	const char *droppable[VIEW_COLUMNS_MAX + 1]; /* for table_narrow() */
};
/* *to is all zero, and stays at its place until table_clear(&to->table). */
void view_table_fill(struct view_table *to, const struct view *view,
		     const void *of, size_t count, int64_t at_ms);

/* On a page: "<table><tr>" with the heads; then the cells of each row, which
 * the caller puts into its "<tr>".
 */
void view_page_begin(const struct view *view, struct writer *to);
void view_page_row(const struct view *view, const void *of, struct writer *to);
void view_page_jobs(struct writer *to, const struct numbers *jobs);
