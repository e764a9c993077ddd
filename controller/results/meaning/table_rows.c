/* table_rows.c - reads tables in a log.
 */
#include "controller/results/meaning/table_rows.h"

#include "controller/results/rules/number.h"

#include <ctype.h>
#include <string.h>

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct table_cell table_cell_trim(const char *text, size_t size)
{
	while (size && (is_blank(*text) || *text == '"')) {
		text++;
		size--;
	}
	while (size && (is_blank(text[size - 1]) || text[size - 1] == '"'))
		size--;
	return (struct table_cell){ text, size };
}

/* The bytes of a bar between columns that begins the text: "|", or one that
 * draws a box, thin, thick or double; 0: it begins with none.
 */
static size_t bar_size(const char *text, size_t size)
{
	static const char *const bars[] = { "\342\224\202", "\342\224\203",
					    "\342\225\221" };

	if (size && *text == '|')
		return 1;
	for (size_t i = 0; i < sizeof(bars) / sizeof(bars[0]); i++)
		if (size >= 3 && !memcmp(text, bars[i], 3))
			return 3;
	return 0;
}

bool line_has_bar(const char *text, size_t size)
{
	const char *end = text + size, *at = text;

	if (memchr(text, '|', size))
		return true;
	while ((at = memchr(at, 0xe2, (size_t)(end - at))) &&
	       !bar_size(at, (size_t)(end - at)))
		at++;
	return at;
}

static char table_mark(const char *text, size_t size)
{
	if (line_has_bar(text, size))
		return '|';
	if (memchr(text, ';', size))
		return ';';
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
		if (mark == '|' ? bar_size(text + i, size - i) > 0
				: mark != ' ' && text[i] == mark)
			return i;
		if (mark == ' ' && is_blank(text[i]) &&
		    (!wide || (i + 1 < size && is_blank(text[i + 1]))))
			return i;
	}
	return size;
}

/* The cells of a line; TABLE_COLUMNS_MAX + 1: too many. */
static size_t cells_split(const char *text, size_t size, char mark, bool wide,
			  struct table_cell cells[TABLE_COLUMNS_MAX])
{
	struct table_cell line = table_cell_trim(text, size);
	size_t count = 0;

	if (mark == '|') {
		size_t n = bar_size(line.text, line.size);

		line.text += n;
		line.size -= n;
	}
	while (line.size) {
		size_t n = cell_size(line.text, line.size, mark, wide);

		if (count == TABLE_COLUMNS_MAX)
			return TABLE_COLUMNS_MAX + 1;
		cells[count++] = table_cell_trim(line.text, n);
		n += mark == '|' ? bar_size(line.text + n, line.size - n)
				 : n < line.size;
		line.text += n;
		line.size -= n;
		if (mark == ' ')
			line = table_cell_trim(line.text, line.size);
	}
	return count;
}

/* "top1" has none. */
static bool has_numbers(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (isdigit((unsigned char)text[i]) &&
		    (!i || !isalnum((unsigned char)text[i - 1])))
			return true;
	return false;
}

static bool has_two_blanks(const char *text, size_t size)
{
	struct table_cell line = table_cell_trim(text, size);

	return memmem(line.text, line.size, "  ", 2);
}

bool table_rows_header(struct table_rows *table, struct notation *notation,
		       const char *text, size_t size)
{
	struct table_cell cells[TABLE_COLUMNS_MAX];
	size_t count, part = SIZE_MAX;
	bool step = false, figure = false;
	char mark;

	if (has_numbers(text, size))
		return false;
	mark = table_mark(text, size);
	count = cells_split(text, size, mark, has_two_blanks(text, size),
			    cells);
	if (count < 2 || count > TABLE_COLUMNS_MAX)
		return false;
	for (size_t i = 0; i < count; i++) {
		struct quantity quantity;

		if (cells[i].size >= TABLE_NAME_MAX && mark != '|')
			return false;
		if (cells[i].size >= TABLE_NAME_MAX)
			cells[i].size = TABLE_NAME_MAX - 1;
		if (cells[i].size == 1 && *cells[i].text == '#')
			cells[i] = (struct table_cell){ "step", 4 };
		quantity = notation_quantity(notation, cells[i].text,
					     cells[i].size);
		if (!quantity.known || quantity.other)
			continue;
		/* Of losses of parts, the last one is read. */
		if (quantity.role == ROLE_LOSS &&
		    quantity.rank == QUANTITY_GUESS) {
			if (part < count)
				cells[part].size = 0;
			part = i;
		}
		step |= quantity.role <= ROLE_EPOCH;
		figure |= quantity.role == ROLE_LOSS ||
			  quantity.role == ROLE_TIME ||
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
	struct table_cell cells[TABLE_COLUMNS_MAX];
	double number;
	size_t count;

	if (!size ||
	    (table->mark == '|'
		     ? !line_has_bar(text, size)
		     : table->mark != ' ' && !memchr(text, table->mark, size)))
		return false;
	count = cells_split(text, size, table->mark, false, cells);
	if (!count || count != table->count)
		return false;
	if (!number_read(cells[0].text, cells[0].size, &number))
		return false;
	for (size_t i = 0; i < count; i++)
		notation_value(notation, table->names[i],
			       strlen(table->names[i]), cells[i].text,
			       cells[i].size, fn, arg);
	return true;
}

bool table_pair(const char *text, size_t size, struct table_cell pair[2])
{
	struct table_cell cells[TABLE_COLUMNS_MAX];
	struct table_cell line = table_cell_trim(text, size);
	double number;

	if (!bar_size(line.text, line.size) ||
	    cells_split(line.text, line.size, '|', false, cells) != 2 ||
	    !cells[0].size || isdigit((unsigned char)*cells[0].text) ||
	    (cells[1].size && !isdigit((unsigned char)*cells[1].text) &&
	     !number_read(cells[1].text, cells[1].size, &number)))
		return false;
	pair[0] = cells[0];
	pair[1] = cells[1];
	return true;
}
