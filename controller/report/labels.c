/* labels.c - makes short names for rows, and finds the words that all rows
 * share.
 */
#include "controller/report/labels.h"

#include "protocol/base/strings.h"
#include "protocol/base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS_MAX 32
#define CELLS_MAX 100 /* with more cells, no word is left out */
#define VALUES_MAX 4
#define LIST_MAX 12
#define FACT_BYTES 200 /* a reference with its digest is whole */
#define VALUE_BYTES 60 /* of one value */

size_t labels_word(const char *text)
{
	size_t length = 0;

	for (;;) {
		const char *next;
		size_t key;

		length += strcspn(text + length, " ");
		if (!text[length])
			return length;
		next = text + length + 1;
		key = strcspn(next, " =");
		if (next[key] == '=')
			return length;
		length++;
	}
}

size_t labels_next(const char **name, const char **word)
{
	size_t length;

	*word = *name + strspn(*name, " ");
	length = labels_word(*word);
	*name = *word + length;
	return length;
}

static bool label_has_word(const char *name, const char *word, size_t size)
{
	const char *other;
	size_t length;

	while ((length = labels_next(&name, &other)))
		if (length == size && !strncmp(other, word, size))
			return true;
	return false;
}

/* Append a word; false: there is no room for all of it. */
static bool label_add_word(char *to, size_t size, const char *word,
			   size_t length)
{
	if (strlen(to) + (*to != 0) + length >= size)
		return false;
	text_append(to, size, "%s%.*s", *to ? " " : "", (int)length, word);
	return true;
}

/* The number of bytes of the text that fit: for "%.*s". */
static int cut_at(const char *text, size_t size)
{
	size_t length = strlen(text);

	return (int)(length <= size ? length : utf8_cut(text, size));
}

static void keep_shared(const char *cell, char common[LABEL_SIZE])
{
	char kept[LABEL_SIZE] = "";
	const char *name = common, *word;
	size_t length;

	while ((length = labels_next(&name, &word)))
		if (label_has_word(cell, word, length))
			label_add_word(kept, sizeof(kept), word, length);
	memcpy(common, kept, sizeof(kept));
}

/* Is the word's key in this list, separated by blanks? */
static bool has_key(const char *keys, const char *word)
{
	size_t size = strcspn(word, "= ");

	while (*keys) {
		size_t length = strcspn(keys, " ");

		if (length == size && !strncmp(keys, word, size))
			return true;
		keys += length;
		keys += *keys == ' ';
	}
	return false;
}

/* The words of the cell that are neither common nor implied. */
static void remaining(const struct labels *labels, const char *cell,
		      char text[LABEL_SIZE])
{
	const char *word;
	size_t length;

	text[0] = 0;
	while ((length = labels_next(&cell, &word)))
		if (!label_has_word(labels->common, word, length) &&
		    !has_key(labels->implied, word))
			label_add_word(text, LABEL_SIZE, word, length);
}

struct named {
	const char *cell;
	char left[LABEL_SIZE];
};

static int by_left(const void *left, const void *right)
{
	const struct named *a = left, *b = right;

	return strcmp(a->left, b->left);
}

/* Do different cells still have different names? */
static bool tells_apart(const struct labels *labels, struct named *cells,
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		remaining(labels, cells[i].cell, cells[i].left);
	qsort(cells, count, sizeof(*cells), by_left);
	for (size_t i = 1; i < count; i++)
		if (!strcmp(cells[i - 1].left, cells[i].left) &&
		    strcmp(cells[i - 1].cell, cells[i].cell) != 0)
			return false;
	return true;
}

struct key {
	const char *word;
	size_t size; /* of the word */
};

static int longest_first(const void *left, const void *right)
{
	const struct key *a = left, *b = right;

	return (b->size > a->size) - (b->size < a->size);
}

/* Keys such as the model identify a row and are never left out, and so does a
 * name that is no "key=value".
 */
static bool is_subject(const char *word, size_t length)
{
	size_t size = strcspn(word, "= ");
	const struct report_figure *figure;

	if (!memchr(word, '=', length))
		return true;
	for (size_t i = 0; (figure = figure_used(AS_SUBJECT, i)); i++)
		if (strlen(figure->label) == size &&
		    !strncmp(figure->label, word, size))
			return true;
	return false;
}

static void find_implied(struct labels *labels, struct named *cells,
			 size_t count)
{
	struct key keys[KEYS_MAX] = { 0 };
	size_t keys_count = 0, used = 0, length;
	const char *cell = cells[0].cell, *word;

	while ((length = labels_next(&cell, &word)))
		if (keys_count < KEYS_MAX && !is_subject(word, length) &&
		    !label_has_word(labels->common, word, length))
			keys[keys_count++] = (struct key){ word, length };
	qsort(keys, keys_count, sizeof(*keys), longest_first);
	for (size_t i = 0; i < keys_count; i++) {
		snprintf(labels->implied + used, LABEL_SIZE - used, "%s%.*s",
			 used ? " " : "", (int)strcspn(keys[i].word, "= "),
			 keys[i].word);
		if (!tells_apart(labels, cells, count))
			labels->implied[used] = 0;
		used = strlen(labels->implied);
	}
}

/* Texts of cells, some bytes apart. */
struct label_cells {
	const char *first;
	size_t stride, count;
};

/* NULL: it has none. */
static const char *label_cell(const struct label_cells *cells, size_t index)
{
	return *(const char *const *)(const void *)(cells->first +
						    index * cells->stride);
}

static void leave_out_implied(struct labels *labels,
			      const struct label_cells *cells)
{
	struct named list[CELLS_MAX];
	size_t count = 0;

	if (cells->count > CELLS_MAX)
		return;
	for (size_t i = 0; i < cells->count; i++) {
		list[count].cell = label_cell(cells, i);
		count += list[count].cell != NULL;
	}
	if (count)
		find_implied(labels, list, count);
}

void labels_find(const void *first, size_t stride, size_t count,
		 struct labels *labels)
{
	const struct label_cells cells = { first, stride, count };
	const char *cell = count ? label_cell(&cells, 0) : NULL, *word;
	size_t length;

	labels->common[0] = labels->implied[0] = 0;
	if (!cell || count < 2)
		return;
	while ((length = labels_next(&cell, &word)))
		label_add_word(labels->common, LABEL_SIZE, word, length);
	for (size_t i = 0; i < count; i++) {
		const char *other = label_cell(&cells, i);

		keep_shared(other ? other : "", labels->common);
	}
	leave_out_implied(labels, &cells);
}

void labels_find_rows(const struct report_rows *rows, struct labels *labels)
{
	labels_find(rows->count ? &rows->items->info.cell : NULL,
		    sizeof(*rows->items), rows->count, labels);
}

/* whole: implied words, too. */
static const char *label_name_row(const struct labels *labels, const char *cell,
				  uint32_t repeat, bool whole,
				  char text[LABEL_SIZE])
{
	const char *rest = cell ? cell : "";
	size_t room = LABEL_SIZE - 24, length;
	const char *word;

	text[0] = 0;
	while ((length = labels_next(&rest, &word)))
		if (!label_has_word(labels->common, word, length) &&
		    (whole || !has_key(labels->implied, word)) &&
		    !label_add_word(text, room, word, length)) {
			text_append(text, room, "%s%.*s", *text ? " " : "",
				    cut_at(word, room - strlen(text) - 2),
				    word);
			break;
		}
	if (repeat)
		text_append(text, LABEL_SIZE, "%s#%u", *text ? " " : "",
			    repeat + 1);
	if (!*text)
		snprintf(text, LABEL_SIZE, "%s", cell ? "all" : "-");
	return text;
}

const char *labels_row(const struct labels *labels, const char *cell,
		       uint32_t repeat, char text[LABEL_SIZE])
{
	return label_name_row(labels, cell, repeat, true, text);
}

/* What is kept of each word "batch.micro=4". */
enum part { WITHOUT_GROUP /* "micro=4" */, VALUE, KEY };

static const char *name_parts(const struct labels *labels, const char *cell,
			      uint32_t repeat, enum part part,
			      const char *between, char text[LABEL_SIZE])
{
	char name[LABEL_SIZE];
	const char *rest = label_name_row(labels, cell, repeat, false, name),
		   *word;
	size_t length;

	text[0] = 0;
	while ((length = labels_next(&rest, &word))) {
		const char *equals = memchr(word, '=', length), *dot;
		const char *from = word, *end = word + length;

		if (part == KEY) {
			from = equals ? word : "name";
			end = equals ? equals : from + 4;
		} else if (equals && part == VALUE) {
			from = equals + 1;
		} else if (equals) {
			dot = memrchr(word, '.', (size_t)(equals - word));
			from = dot ? dot + 1 : word;
		}
		text_append(text, LABEL_SIZE, "%s%.*s", *text ? between : "",
			    (int)(end - from), from);
	}
	return text;
}

const char *labels_brief(const struct labels *labels, const char *cell,
			 uint32_t repeat, char text[LABEL_SIZE])
{
	return name_parts(labels, cell, repeat, WITHOUT_GROUP, " ", text);
}

const char *labels_short(const struct labels *labels, const char *cell,
			 uint32_t repeat, char text[LABEL_SIZE])
{
	return name_parts(labels, cell, repeat, VALUE, ", ", text);
}

const char *labels_keys(const struct labels *labels, const char *cell,
			uint32_t repeat, char text[LABEL_SIZE])
{
	return name_parts(labels, cell, repeat, KEY, ", ", text);
}

bool labels_hold(const char *cell, const char *words)
{
	const char *word;
	size_t length;

	while ((length = labels_next(&words, &word)))
		if (!label_has_word(cell, word, length))
			return false;
	return true;
}

/* The values so far. */
struct seen_values {
	char of[LIST_MAX][FACT_BYTES + 1];
	size_t count, most;
	const char *between;
};

/* Append the value unless it is there; false: there is no room for it. */
static bool labels_add_value(struct seen_values *seen, const char *value,
			     char text[LABEL_SIZE])
{
	char *own = seen->of[seen->count < LIST_MAX ? seen->count : 0];
	char brief[FACT_BYTES + 1];

	snprintf(brief, sizeof(brief), "%.*s", cut_at(value, FACT_BYTES),
		 value);
	for (size_t i = 0; i < seen->count; i++)
		if (!strcmp(seen->of[i], brief))
			return true;
	if (seen->count == seen->most ||
	    strlen(text) + strlen(brief) >= LABEL_SIZE - 16) {
		text_append(text, LABEL_SIZE, "%s...", seen->between);
		return false;
	}
	memcpy(own, brief, sizeof(brief));
	text_append(text, LABEL_SIZE, "%s%s", *text ? seen->between : "",
		    brief);
	seen->count++;
	return true;
}

/* The first name behind `last` in natural order; NULL: none. last NULL: any. */
static const char *next_name(const struct report_rows *rows,
			     const struct member *member, const char *last)
{
	const char *next = NULL;

	ROWS_EACH(row, rows)
	{
		struct datum datum = row_datum(row, member);

		for (size_t i = 0;
		     datum.kind == DATUM_LIST && i < datum.list->count; i++) {
			const char *name = datum.list->items[i];

			if ((!last || strverscmp(name, last) > 0) &&
			    (!next || strverscmp(name, next) < 0))
				next = name;
		}
	}
	return next;
}

const char *labels_values(const struct report_rows *rows,
			  const struct member *member, char text[LABEL_SIZE])
{
	bool lists = member->field.kind == FIELD_STRINGS;
	struct seen_values seen = { .most = lists ? LIST_MAX : VALUES_MAX,
				    .between = lists ? ", " : " / " };
	char number[32];

	text[0] = 0;
	ROWS_EACH(row, rows)
	{
		struct datum datum = row_datum(row, member);

		if (datum.kind == DATUM_NUMBER && datum.number != 0) {
			snprintf(number, sizeof(number), "%.10g", datum.number);
			datum.text = number;
		}
		if (datum.text && !labels_add_value(&seen, datum.text, text))
			return text;
	}
	for (const char *name = NULL;
	     lists && (name = next_name(rows, member, name));)
		if (!labels_add_value(&seen, name, text))
			break;
	return text;
}

#define SQUEEZE_WORDS 64
#define DOTS ".."

/* A word whose middle may be left out. */
struct squeezed {
	char *text;
	size_t head, tail, size; /* kept: text[0..head) and text[tail..size) */
};

static size_t width_of(const char *text, size_t size)
{
	char copy[LABEL_SIZE];

	snprintf(copy, sizeof(copy), "%.*s", (int)size, text);
	return utf8_width(copy);
}

static size_t squeezed_width(const struct squeezed *word)
{
	return width_of(word->text, word->head) +
	       (word->head < word->tail ? strlen(DOTS) : 0) +
	       width_of(word->text + word->tail, word->size - word->tail);
}

/* Leave out one more character, of the longer half. */
static bool squeeze_more(struct squeezed *word)
{
	if (squeezed_width(word) <= strlen(DOTS) + 2)
		return false;
	if (word->head >= word->size - word->tail) {
		do
			word->head--;
		while (word->head && (word->text[word->head] & 0xc0) == 0x80);
	} else {
		do
			word->tail++;
		while (word->tail < word->size &&
		       (word->text[word->tail] & 0xc0) == 0x80);
	}
	return true;
}

static struct squeezed whole_word(char *text, size_t size)
{
	size_t middle = size / 2;

	while (middle && (text[middle] & 0xc0) == 0x80)
		middle--;
	return (struct squeezed){ text, middle, middle, size };
}

/* The bytes before the next blank that is not between quotation marks. */
static size_t unit_size(const char *text)
{
	size_t size = 0;

	while (text[size] && text[size] != ' ') {
		const char *end =
			text[size] == '"' ? strchr(text + size + 1, '"') : NULL;

		size = end ? (size_t)(end + 1 - text) : size + 1;
	}
	return size;
}

static size_t squeezed_split(char *text, struct squeezed words[SQUEEZE_WORDS])
{
	size_t count = 0;

	while (*text && count < SQUEEZE_WORDS) {
		size_t size = count + 1 < SQUEEZE_WORDS ? unit_size(text)
							: strlen(text);

		words[count++] = whole_word(text, size);
		text += size;
		text += *text == ' ';
	}
	return count;
}

static bool drop_start(struct squeezed *word, const char *last)
{
	size_t start = last ? (size_t)(last + 1 - word->text) : 0;

	if (!start || start == word->size)
		return false;
	*word = whole_word(word->text + start, word->size - start);
	return true;
}

/* "batch.micro=2" becomes "micro=2". */
static bool drop_group(struct squeezed *word)
{
	const char *is = memchr(word->text, '=', word->size);

	return drop_start(word, is ? memrchr(word->text, '.',
					     (size_t)(is - word->text))
				   : NULL);
}

/* "key=value" becomes "value". */
static bool drop_key(struct squeezed *word)
{
	return drop_start(word, memchr(word->text, '=', word->size));
}

/* Shorten the longest word that step() can shorten; false: there is none. */
static bool squeezed_shorten(struct squeezed *words, size_t count,
			     size_t *total, bool step(struct squeezed *word))
{
	struct squeezed *longest = NULL;
	size_t most = 0, size;

	for (size_t i = 0; i < count; i++) {
		struct squeezed copy = words[i];

		size = squeezed_width(&copy);
		if (size > most && step(&copy)) {
			longest = &words[i];
			most = size;
		}
	}
	if (!longest)
		return false;
	step(longest);
	*total += squeezed_width(longest);
	*total -= most;
	return true;
}

static void squeezed_join(const struct squeezed *words, size_t count,
			  char *text)
{
	char joined[LABEL_SIZE] = "";
	size_t used;

	for (size_t i = 0; i < count; i++) {
		const struct squeezed *word = &words[i];

		text_append(joined, sizeof(joined), "%s%.*s%s%.*s",
			    i ? " " : "", (int)word->head, word->text,
			    word->head < word->tail ? DOTS : "",
			    (int)(word->size - word->tail),
			    word->text + word->tail);
	}
	/* The result must fit in the place of the text. */
	used = strlen(joined) < strlen(text) ? strlen(joined)
					     : utf8_cut(joined, strlen(text));
	memcpy(text, joined, used);
	text[used] = 0;
}

void labels_squeeze(char *text, size_t columns)
{
	struct squeezed words[SQUEEZE_WORDS];
	size_t count = squeezed_split(text, words),
	       total = count ? count - 1 : 0;

	for (size_t i = 0; i < count; i++)
		total += squeezed_width(&words[i]);
	while (total > columns &&
	       squeezed_shorten(words, count, &total, drop_group))
		;
	while (total > columns &&
	       squeezed_shorten(words, count, &total, drop_key))
		;
	while (total > columns &&
	       squeezed_shorten(words, count, &total, squeeze_more))
		;
	squeezed_join(words, count, text);
	while (*text &&
	       (utf8_width(text) > columns || text[strlen(text) - 1] == ' '))
		text[utf8_cut(text, strlen(text) - 1)] = 0;
}
