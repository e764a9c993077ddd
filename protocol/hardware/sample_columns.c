/* sample_columns.c - monitor output in columns that a header names.
 */
#include "protocol/hardware/sample_internal.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define CELLS_MAX 128
#define UNIT_SIZE 16 /* of a unit in brackets; longer ones are none */

struct cells {
	struct sample_text list[CELLS_MAX];
	size_t count;
};

struct columns {
	struct run *run;
	bool known; /* the header was seen */
	bool closed;
	struct cells header;
	/* The rank of a header's cell for a field, from 1; 0: it is not for it.
	 */
	uint8_t rank[FIELDS][CELLS_MAX];
	/* "(GB)" of a line of units; "": the header may say it. */
	char units[CELLS_MAX][UNIT_SIZE];
};

static void sample_columns_add_cell(struct cells *cells, const char *from,
				    const char *to)
{
	if (cells->count < CELLS_MAX)
		cells->list[cells->count++] =
			text_trim((struct sample_text){ from,
							(size_t)(to - from) },
				  " \t");
}

/* Commas within quotes do not count. */
static void split_at(struct sample_text line, char mark, struct cells *cells)
{
	const char *start = line.data;
	const char *end = line.data + line.size;
	bool quoted = false;

	for (const char *p = start; p < end; p++) {
		if (*p == '"')
			quoted = !quoted;
		if (*p != mark || quoted)
			continue;
		sample_columns_add_cell(cells, start, p);
		start = p + 1;
	}
	sample_columns_add_cell(cells, start, end);
}

static void split_at_blanks(struct sample_text line, size_t least,
			    struct cells *cells)
{
	const char *start = line.data;
	const char *end = line.data + line.size;
	const char *p = start;

	while (p < end) {
		const char *blank = p;

		while (p < end && isblank((unsigned char)*p))
			p++;
		if ((size_t)(p - blank) >= least ||
		    (p > blank && *blank == '\t')) {
			sample_columns_add_cell(cells, start, blank);
			start = p;
		}
		while (p < end && !isblank((unsigned char)*p))
			p++;
	}
	sample_columns_add_cell(cells, start, end);
}

/* count: how many are expected, or 0. */
static void sample_columns_split(const struct columns *columns,
				 struct sample_text line, size_t count,
				 struct cells *cells)
{
	cells->count = 0;
	switch (columns->run->layout->separator) {
	case SEPARATOR_COMMA:
		split_at(line, ',', cells);
		return;
	case SEPARATOR_BAR:
		if (line.size && line.data[0] == '|') {
			line.data++;
			line.size--;
		}
		if (line.size && line.data[line.size - 1] == '|')
			line.size--;
		split_at(line, '|', cells);
		return;
	case SEPARATOR_BLANKS:
		split_at_blanks(line, 2, cells);
		if (!count || cells->count == count)
			return;
		cells->count = 0;
		split_at_blanks(line, 1, cells);
	}
}

/* What each column is for. */
static int read_header(struct columns *columns, struct sample_text line,
		       struct error *err)
{
	while (line.size && strchr("# ", *line.data)) {
		line.data++;
		line.size--;
	}
	memset(columns->rank, 0, sizeof(columns->rank));
	memset(columns->units, 0, sizeof(columns->units));
	sample_columns_split(columns, line, 0, &columns->header);
	for (unsigned field = 0; field < FIELDS; field++) {
		const struct expressions *names =
			&columns->run->layout->fields[field];

		for (size_t c = 0; c < columns->header.count; c++) {
			size_t index;
			int rc = run_match_any(columns->run, names,
					       columns->header.list[c],
					       EXPRESSION_WHOLE, &index, err);

			if (rc < 0)
				return -1;
			if (rc)
				columns->rank[field][c] = (uint8_t)(index + 1);
		}
	}
	columns->known = true;
	return 0;
}

/* The cell is a number, with a word before it at most: "0", "card0". */
static bool is_index(struct sample_text cell)
{
	size_t at = 0;

	while (at < cell.size && isalpha((unsigned char)cell.data[at]))
		at++;
	while (at < cell.size && cell.data[at] == ' ')
		at++;
	if (at == cell.size)
		return false;
	while (at < cell.size && isdigit((unsigned char)cell.data[at]))
		at++;
	return at == cell.size;
}

static int is_row(struct columns *columns, struct sample_text line,
		  const struct cells *cells, struct error *err)
{
	const uint8_t *device = columns->rank[FIELD_DEVICE];
	struct expression *row = columns->run->layout->row;
	bool named = false;

	if (row)
		return run_match(columns->run, row, line, EXPRESSION_START,
				 err);
	for (size_t c = 0; c < columns->header.count; c++) {
		named = named || device[c];
		if (device[c] &&
		    (c >= cells->count || !is_index(cells->list[c])))
			return 0;
	}
	/* Without such a column, rows have as many cells as the header. */
	return named || cells->count == columns->header.count;
}

/* A line below the header that says in which units the columns are. */
static int read_units(struct columns *columns, struct sample_text line,
		      struct error *err)
{
	struct expression *units = columns->run->layout->units;
	struct cells cells;
	int rc = units ? run_match(columns->run, units, line, EXPRESSION_START,
				   err)
		       : 0;

	if (rc <= 0)
		return rc;
	sample_columns_split(columns, line, columns->header.count, &cells);
	for (size_t c = 0; c < cells.count; c++)
		if (cells.list[c].size + 3 <= UNIT_SIZE)
			snprintf(columns->units[c], UNIT_SIZE, "(%.*s)",
				 (int)cells.list[c].size, cells.list[c].data);
	return 1;
}

/* The text that holds the unit of a column. */
static struct sample_text
sample_columns_find_unit(const struct columns *columns, size_t column)
{
	const char *unit = columns->units[column];

	return *unit ? (struct sample_text){ unit, strlen(unit) }
		     : columns->header.list[column];
}

static void put_cells(const struct columns *columns, const struct cells *cells,
		      struct row *row)
{
	for (unsigned field = 0; field < FIELDS; field++)
		for (size_t c = 0;
		     c < columns->header.count && c < cells->count; c++) {
			struct sample_text unit =
				sample_columns_find_unit(columns, c);

			if (columns->rank[field][c])
				row_put(columns->run, row, field,
					columns->rank[field][c], cells->list[c],
					&unit);
		}
}

static int sample_columns_read_row(struct columns *columns,
				   struct sample_text line, struct error *err)
{
	struct cells cells;
	struct row *row;
	int rc;

	if (!line.size)
		return 0;
	rc = read_units(columns, line, err);
	if (rc)
		return rc < 0 ? -1 : 0;
	sample_columns_split(columns, line, columns->header.count, &cells);
	rc = is_row(columns, line, &cells, err);
	if (rc <= 0)
		return rc;
	row = run_row(columns->run, NULL, err);
	if (!row)
		return -1;
	put_cells(columns, &cells, row);
	run_row_end(columns->run);
	return 0;
}

static int sample_columns_read_line(struct columns *columns,
				    struct sample_text line, struct error *err)
{
	const struct layout *layout = columns->run->layout;
	int rc = run_match(columns->run, layout->when, line,
			   EXPRESSION_ANYWHERE, err);

	if (rc < 0)
		return -1;
	if (rc) {
		columns->closed = false;
		return read_header(columns, line, err);
	}
	if (layout->until && columns->known && !columns->closed) {
		rc = run_match(columns->run, layout->until, line,
			       EXPRESSION_ANYWHERE, err);
		if (rc < 0)
			return -1;
		columns->closed = rc;
	}
	return columns->known && !columns->closed
		       ? sample_columns_read_row(columns, line, err)
		       : 0;
}

int columns_read(struct run *run, struct error *err)
{
	owned_free struct columns *columns = calloc(1, sizeof(*columns));
	struct line line;
	size_t at = 0;

	if (!columns)
		return error_nomem(err, "samples");
	columns->run = run;
	while (line_next(run->lines, run->lines_size, &at, &line))
		if (sample_columns_read_line(columns, line.text, err) < 0)
			return -1;
	return 0;
}
