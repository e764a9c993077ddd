/* table_rows.c - reads tables in a log.
 */
#include "controller/results/meaning/table_rows.h"

#include <string.h>

struct cell {
	const char *text;
	size_t size;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static struct cell cell_trim(const char *text, size_t size)
{
	while (size && (is_blank(*text) || *text == '"')) {
		text++;
		size--;
	}
	while (size && (is_blank(text[size - 1]) || text[size - 1] == '"'))
		size--;
	return (struct cell){ text, size };
}

static char table_mark(const char *text, size_t size)
{
	if (memchr(text, '|', size))
		return '|';
	if (memchr(text, ',', size))
		return ',';
	if (memchr(text, '\t', size))
		return '\t';
	return ' ';
}

/* The end of the cell at text: of a column of blanks two blanks, unless there
 * are none.
 */
static size_t cell_size(const char *text, size_t size, char mark, bool wide)
{
	for (size_t i = 0; i < size; i++) {
		if (mark != ' ' && text[i] == mark)
			return i;
		if (mark == ' ' && is_blank(text[i]) &&
		    (!wide || (i + 1 < size && is_blank(text[i + 1]))))
			return i;
	}
	return size;
}

/* The cells of a line; TABLE_COLUMNS_MAX + 1: too many. */
static size_t cells_split(const char *text, size_t size, char mark, bool wide,
			  struct cell cells[TABLE_COLUMNS_MAX])
{
	struct cell line = cell_trim(text, size);
	size_t count = 0;

	if (mark == '|' && line.size && *line.text == '|') {
		line.text++;
		line.size--;
	}
	while (line.size) {
		size_t n = cell_size(line.text, line.size, mark, wide);

		if (count == TABLE_COLUMNS_MAX)
			return TABLE_COLUMNS_MAX + 1;
		cells[count++] = cell_trim(line.text, n);
		n += n < line.size;
		line.text += n;
		line.size -= n;
		if (mark == ' ')
			line = cell_trim(line.text, line.size);
	}
	return count;
}

static bool has_digits(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (text[i] >= '0' && text[i] <= '9')
			return true;
	return false;
}

static bool has_two_blanks(const char *text, size_t size)
{
	struct cell line = cell_trim(text, size);

	return memmem(line.text, line.size, "  ", 2);
}

bool table_rows_header(struct table_rows *table, struct notation *notation,
		       const char *text, size_t size)
{
	struct cell cells[TABLE_COLUMNS_MAX];
	char mark = table_mark(text, size);
	size_t count;
	bool step = false, figure = false;

	if (has_digits(text, size))
		return false;
	count = cells_split(text, size, mark, has_two_blanks(text, size),
			    cells);
	if (count < 2 || count > TABLE_COLUMNS_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct quantity quantity;

		if (cells[i].size >= TABLE_NAME_MAX)
			return false;
		quantity = notation_quantity(notation, cells[i].text,
					     cells[i].size);
		if (!quantity.known || quantity.other)
			continue;
		step |= quantity.role <= ROLE_EPOCH;
		figure |= quantity.role == ROLE_LOSS ||
			  (quantity.role >= ROLE_RATE &&
			   quantity.role <= ROLE_STEPS);
	}
	if (!step || !figure)
		return false;
	table->mark = mark;
	table->count = count;
	for (size_t i = 0; i < count; i++) {
		memcpy(table->names[i], cells[i].text, cells[i].size);
		table->names[i][cells[i].size] = 0;
	}
	return true;
}

bool table_rows_read(const struct table_rows *table, struct notation *notation,
		     const char *text, size_t size, notation_fn *fn, void *arg)
{
	struct cell cells[TABLE_COLUMNS_MAX];
	double number;
	size_t count;

	if (!size || (table->mark != ' ' && !memchr(text, table->mark, size)))
		return false;
	count = cells_split(text, size, table->mark, false, cells);
	if (!count || count != table->count)
		return false;
	if (!notation_number(cells[0].text, cells[0].size, &number))
		return false;
	for (size_t i = 0; i < count; i++)
		notation_value(notation, table->names[i],
			       strlen(table->names[i]), cells[i].text,
			       cells[i].size, fn, arg);
	return true;
}
