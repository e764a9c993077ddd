/* figures.h - the table of what reports can show of a row.
 *
 * Tables for people (terminal, Markdown, HTML), the flat table (CSV, JSON), the
 * charts and the facts of a page, and the page of published results choose from
 * it. A new figure is a line of figures.c, what computes it, and its line in
 * regatta-protocol(7).
 */
#pragma once

#include "controller/report/row.h"

/* Where a member of a row is: a struct, which may not be there. */
enum member_of {
	OF_ROW,
	OF_SETUP,
	OF_RESULT,
	OF_STEPS,
	OF_SLOW_STEPS,
	OF_LOSS,
	OF_USAGE,
	OF_ORIGIN,
	OF_REPEATS,
	OF_ALIGNMENT,
	OF_STORE,
	OF_PUBLISHED,
};

/* A member of a row, by its place. */
struct member {
	enum member_of of;
	struct field field;
	const char *key; /* FIELD_JSON: the member of the object */
};

/* clang-format off */
/* The member m of struct t, which is at `of`: a constant. */
#define MEMBER(of, t, m) { (of), FIELD(t, m), NULL }
/* A list m of remarks. */
#define MEMBER_REMARKS(of, t, m) { (of), FIELD_MANY(t, m, remark_schema), NULL }
/* A number that may be none: then it is a word. */
#define MEMBER_WORDS(of, t, m) { (of), FIELD_WORDS(t, m), NULL }
/* A member of the JSON object m. */
#define MEMBER_KEY(of, t, m, key) { (of), FIELD(t, m), (key) }
/* clang-format on */

enum datum_kind {
	DATUM_NONE,
	DATUM_NUMBER,
	DATUM_TEXT,
	DATUM_LIST,
	DATUM_REMARKS
};

/* What a row has there. All is borrowed. */
struct datum {
	enum datum_kind kind;
	double number; /* finite */
	const char *text;
	const struct strings *list;
	const struct remark *remarks;
	size_t count; /* of remarks */
};
struct datum row_datum(const struct report_row *row,
		       const struct member *member);

/* The number there, else NAN; the text there, else NULL. */
double row_number(const struct report_row *row, const struct member *member);
const char *row_string(const struct report_row *row,
		       const struct member *member);

/* Each use has its own order: the places of its figures, from 1 on. */
enum figure_use {
	IN_TABLE,   /* a column for people */
	DROPPED,    /* which a narrow terminal leaves out, least important 1 */
	IN_CHART,   /* bars of all cells */
	AS_SUBJECT, /* what was run: above a table */
	AS_FACT,    /* on what it ran: the same */
	FIGURE_USES
};

/* How the page of published results writes a figure. */
enum published_style {
	PUBLISHED_PLAIN,
	PUBLISHED_RATE,    /* from 1000 on rounded down, else two digits */
	PUBLISHED_LOSS,    /* five digits, of these two behind the point */
	PUBLISHED_PERCENT, /* "16.31%" */
	PUBLISHED_VERDICT, /* "True (baseline)" */
};

/* What a column says: the number, something of a cell's row (cells.h), or more
 * than a number.
 */
enum cell_text {
	CELL_NUMBER,
	CELL_RUNS,
	CELL_RANGE,
	CELL_RELATION,
	SAYS_STORE,
	SAYS_PUBLISHED,
};

struct report_figure {
	const char *name; /* in CSV and JSON, which never changes; NULL: not
			     there */
	struct member member;
	/* Instead of a member: its value, or with is_unit its unit. */
	struct rate (*rate)(const struct report_row *row);
	bool is_unit;
	bool measured; /* only of completed rows */
	bool time;     /* milliseconds since 1970; 0: unknown */
	bool counted;  /* 0: unknown */
	bool indexed;  /* from 0, but shown from 1 */
	bool optional; /* a column only if a row has it */
	bool flagged;  /* marked when the row has flags */
	bool labelled; /* left out when labels say it */
	bool spread;   /* on a chart: with the spread of the steps */

	uint8_t place[FIGURE_USES]; /* 0: not used there */
	const char *title;          /* of a column */
	const char *format;         /* of a number; NULL: a text */
	double scale;               /* shown = value * scale; 0: as it is */
	const char *label;          /* as subject or fact */

	const char *chart;   /* title */
	const char *unit;    /* of the chart */
	struct member limit; /* marked on the bars; no field: none */
	double limit_scale;
	const char *limited; /* title of a chart with marks */

	const char *published; /* name of the column there; NULL: none */
	enum published_style style;
	enum cell_text says;
};

/* All figures in the order of CSV; NULL past the last. */
const struct report_figure *figure_at(size_t index);

/* The figures of a use, in its order; NULL past the last. */
const struct report_figure *figure_used(enum figure_use use, size_t index);

/* The figure that published pages call by this name; NULL: none. */
const struct report_figure *figure_published(const char *name);

/* What the row shows of the figure: nothing if it is measured, and the row is
 * not completed.
 */
struct datum figure_datum(const struct report_figure *figure,
			  const struct report_row *row);

/* The state of a row is with its class of failure. */
bool figure_is_state(const struct report_figure *figure);
