/* notation.c - finds the named numbers of a line, in any usual notation.
 */
#include "controller/results/meaning/notation.h"

#include "controller/results/meaning/digit_text.h"
#include "controller/results/rules/fields.h"
#include "controller/results/rules/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STEP_NAME_MAX 16 /* bytes, of a step's that touches its number */

/* Is it a fraction, by its name? */
static bool quantity_is_fraction(const struct quantity *quantity)
{
	return quantity->known &&
	       (quantity->role == ROLE_LOSS || quantity->role == ROLE_LR ||
		quantity->role == ROLE_ACCURACY ||
		quantity->role == ROLE_GRAD_NORM);
}

/* Does it count something, by its name, so that it has no fraction? */
static bool quantity_counts(const struct quantity *quantity)
{
	return quantity->known &&
	       (quantity->role == ROLE_STEP || quantity->role == ROLE_BATCH ||
		quantity->role == ROLE_GLOBAL_BATCH ||
		quantity->role == ROLE_CONSUMED_SAMPLES ||
		quantity->role == ROLE_CONSUMED_TOKENS);
}

/* Is the comma of the number that begins the text its decimal point, "0,532"?
 * The names of a log tell it first by what is always a fraction.
 */
static bool comma_is_point(struct notation *notation,
			   const struct quantity *quantity, const char *text,
			   size_t size)
{
	size_t sign = size && (*text == '-' || *text == '+');
	size_t whole = sign + digits_count(text + sign, size - sign);
	size_t end = whole, part;

	if (whole < size && text[whole] == '.')
		notation->points |= quantity_is_fraction(quantity);
	if (whole == sign || whole >= size || text[whole] != ',' ||
	    quantity_counts(quantity))
		return false;
	part = digits_count(text + whole + 1, size - whole - 1);
	end += 1 + part;
	if (!part || ((end < size && (text[end] == ',' || text[end] == '.')) &&
		      is_digit_at(text, size, end + 1)))
		return false;
	if (part != 3 || (whole == sign + 1 && text[sign] == '0')) {
		/* No group of three digits. */
		notation->commas |= quantity_is_fraction(quantity);
		return quantity->known || notation->commas;
	}
	notation->commas |= quantity_is_fraction(quantity) && !notation->points;
	return notation->commas;
}

static uint32_t text_hash(const char *text, size_t size)
{
	uint32_t hash = (uint32_t)size;

	for (size_t i = 0; i < size; i++)
		hash = hash * 31 + (unsigned char)text[i];
	return hash ^ hash >> 11;
}

static bool gap_is(const struct notation_gap *gap, const char *text,
		   size_t size)
{
	return gap->size == size + 1 && !memcmp(gap->text, text, size);
}

static const struct notation_gap *gap_find(struct notation *notation,
					   const char *text, size_t size)
{
	struct notation_gap *gap, *other;
	uint32_t hash;

	if (size > NOTATION_GAP_MAX) {
		text += size - NOTATION_GAP_MAX;
		size = NOTATION_GAP_MAX;
	}
	hash = text_hash(text, size) % NOTATION_GAPS;
	gap = &notation->gaps[hash];
	/* Each text has two places. */
	other = &notation->gaps[hash ^ 1];
	if (gap_is(gap, text, size))
		return gap;
	if (gap->size && gap_is(other, text, size))
		return other;
	gap = gap->size ? other : gap;
	gap->size = (uint16_t)(size + 1);
	memcpy(gap->text, text, size);
	gap->quantity = quantity_of(notation->lexicon, text, size);
	return gap;
}

struct quantity notation_quantity(struct notation *notation, const char *text,
				  size_t size)
{
	return gap_find(notation, text, size)->quantity;
}

/* Units. */

static bool is_unit_char(char c)
{
	return isalpha((unsigned char)c) || c == '/' || c == '%' || c & 0x80;
}

/* quantity_unit(); kept. */
static struct quantity_unit unit_known(struct notation *notation,
				       const char *text, size_t size)
{
	struct notation_unit *known =
		&notation->units[text_hash(text, size) % NOTATION_UNITS];

	if (known->size != size || memcmp(known->text, text, size) != 0) {
		known->size = (uint16_t)size;
		memcpy(known->text, text, size);
		known->unit = quantity_unit(notation->lexicon, text, size);
	}
	return known->unit;
}

/* May a number of this kind have the unit? */
static bool unit_suits(const struct quantity *quantity, enum quantity_kind kind)
{
	bool rate = kind == QUANTITY_STEPS_PER_SECOND ||
		    kind == QUANTITY_TOKENS_PER_SECOND ||
		    kind == QUANTITY_SAMPLES_PER_SECOND;

	if (kind == QUANTITY_PERCENT)
		return true;
	if (!quantity->known)
		return quantity->empty &&
		       (rate || kind == QUANTITY_SECONDS_PER_STEP ||
			kind == QUANTITY_STEPS || kind == QUANTITY_EPOCHS ||
			kind == QUANTITY_PER_DEVICE);
	switch (quantity->role) {
	case ROLE_STEP:
	case ROLE_BATCH:
		return kind == QUANTITY_STEPS;
	case ROLE_STEP_TIME:
	case ROLE_TIME:
	case ROLE_DATA_TIME:
		return kind == QUANTITY_SECONDS ||
		       kind == QUANTITY_SECONDS_PER_STEP ||
		       kind == QUANTITY_STEPS_PER_SECOND;
	case ROLE_RATE:
		return rate || kind == QUANTITY_SECONDS_PER_STEP;
	case ROLE_TOKENS:
	case ROLE_TOKENS_PER_DEVICE:
		return kind == QUANTITY_TOKENS_PER_SECOND;
	case ROLE_SAMPLES:
		return kind == QUANTITY_SAMPLES_PER_SECOND;
	case ROLE_STEPS:
		return kind == QUANTITY_STEPS_PER_SECOND;
	case ROLE_MEMORY:
		return kind == QUANTITY_MEBIBYTES;
	default:
		return false;
	}
}

/* The factor of a decimal suffix, which begins the text; 0: none. A memory's G
 * is a unit.
 */
static double si_factor(const struct quantity *quantity, const char *text,
			size_t size)
{
	static const char letters[] = "kKMBGT";
	static const double factors[] = { 1e3, 1e3, 1e6, 1e9, 1e9, 1e12 };
	const char *letter;

	if (!size || (quantity->known && (quantity->role == ROLE_MEMORY ||
					  quantity->role == ROLE_STEP_TIME ||
					  quantity->role == ROLE_TIME)))
		return 0;
	letter = *text ? strchr(letters, *text) : NULL;
	return letter ? factors[letter - letters] : 0;
}

/* 1.1k is 1100. */
static double scaled(double number, double factor)
{
	double whole = round(number * factor);

	return fabs(number * factor - whole) < 1e-6 ? whole : number * factor;
}

/* "| 512.5ms |", and no name behind it as in "12 ms forward" */
static bool is_bare_time(const struct quantity *quantity,
			 const struct quantity_unit *unit, const char *text,
			 size_t size)
{
	if (quantity->known || !quantity->empty ||
	    unit->kind != QUANTITY_SECONDS || unit->factor >= 1)
		return false;
	while (size && (*text == ' ' || *text == '\t')) {
		text++;
		size--;
	}
	return !size || strchr("|,;)]", *text);
}

/* Read the unit at text[0..size), behind a number: the bytes it takes. */
static size_t unit_read(struct notation *notation, const char *text,
			size_t size, struct notation_item *item)
{
	size_t blank = size && *text == ' ', n = blank;
	struct quantity_unit unit;
	double si;

	while (n < size && n - blank < NOTATION_UNIT_MAX &&
	       is_unit_char(text[n]) && (n == blank || text[n - 1] != '%') &&
	       !quantity_mark(text + n, size - n) &&
	       !(text[n] == '/' && is_digit_at(text, size, n + 1)))
		n++;
	/* A slash alone is a mark. */
	if (n == blank || (n == blank + 1 && text[blank] == '/'))
		return 0;
	/* It is the name of the next number, or a part of a word. */
	if (n < size &&
	    (text[n] == ':' || text[n] == '=' || text[n] == '_' ||
	     is_digit_at(text, size, n)) &&
	    (blank || text[n] == '_'))
		return 0;
	si = si_factor(&item->quantity, text + blank, n - blank);
	if (si > 0 && n - blank == 1) {
		struct notation_item rest = *item;
		size_t more = unit_read(notation, text + n, size - n, &rest);

		item->number = scaled(item->number, si);
		item->unit = rest.unit;
		return n + more;
	}
	unit = unit_known(notation, text + blank, n - blank);
	if (unit.kind == QUANTITY_OTHER && si > 0 && !blank) {
		struct quantity_unit rest =
			unit_known(notation, text + 1, n - 1);

		if (unit_suits(&item->quantity, rest.kind)) {
			item->number = scaled(item->number, si);
			item->unit = rest;
			return n;
		}
	}
	if (unit_suits(&item->quantity, unit.kind) ||
	    /* "Step: 78ms" is its time. */
	    (!blank && item->quantity.known &&
	     item->quantity.role == ROLE_STEP &&
	     unit.kind == QUANTITY_SECONDS) ||
	    is_bare_time(&item->quantity, &unit, text + n, size - n)) {
		item->unit = unit;
		return n;
	}
	/* "loss: 2.5step: 11" */
	if (!blank && n < size && (text[n] == ':' || text[n] == '=') &&
	    notation_quantity(notation, text, n).known)
		return 0;
	/* "reserved: 50 GB tgs: 2700", "512 ms | 51200 tok/s"; "min" may begin
	 * a name.
	 */
	if (blank && !item->quantity.known &&
	    (unit.kind == QUANTITY_MEBIBYTES ||
	     (unit.kind == QUANTITY_SECONDS && unit.factor <= 1))) {
		item->unit.kind = QUANTITY_OTHER;
		return n;
	}
	/* A word behind a blank is the next name, unless it is a fraction. */
	if (!blank || memchr(text, '/', n)) {
		item->unit.kind = QUANTITY_OTHER;
		return memchr(text, '/', n) && unit.kind != QUANTITY_OTHER &&
				       blank
			       ? (item->unit.kind = QUANTITY_PLAIN, 0)
			       : n;
	}
	return 0;
}

/* Read the name at text[0..size), behind its number, "0.53 loss, ": the bytes
 * it takes; 0: it is that of the next number.
 */
static size_t name_read(struct notation *notation, const char *text,
			size_t size, struct quantity *quantity)
{
	size_t blank = size && *text == ' ', n = blank, end;
	struct quantity found;

	while (n < size && n < NOTATION_UNIT_MAX &&
	       (is_letter_at(text, size, n) || text[n] == '_' ||
		text[n] & 0x80 || (text[n] == ' ' && n > blank)) &&
	       !quantity_mark(text + n, size - n))
		n++;
	end = n;
	while (end > blank && text[end - 1] == ' ')
		end--;
	if (end == blank || (n < size && !strchr(",;|)/-", text[n])))
		return 0;
	found = notation_quantity(notation, text, end);
	if (!quantity_is_fraction(&found))
		return 0;
	*quantity = found;
	return end;
}

/* Numbers of a line. */

struct scanner {
	struct notation *notation;
	const char *text;
	size_t size;
	size_t at;
	size_t gap;   /* end of the number before */
	size_t count; /* of numbers */
	size_t bar;   /* where the bracket of a bar began; 0: it is closed */
	bool glued;   /* it was, and another line has begun */
	struct quantity passed; /* what stood before a date or the like */
	const struct notation_gap *before; /* the text from gap to at */
	notation_fn *fn;
	void *arg;
};

static size_t skip_spaces(const char *text, size_t size, size_t at)
{
	while (at < size && (text[at] == ' ' || text[at] == '\t'))
		at++;
	return at;
}

/* The total of "3/60", "3 / 60", "3 of 60" and "[3]/[60]", behind the first
 * number: its bytes.
 */
static size_t total_read(const char *text, size_t size, double *total)
{
	size_t at = skip_spaces(text, size, 0), n;
	bool zero;

	if (size > 3 && !memcmp(text, "]/[", 3)) {
		n = number_read(text + 3, size - 3, total);
		return n && 3 + n < size && text[3 + n] == ']' ? 3 + n : 0;
	}
	if (at && size - at > 3 && !memcmp(text + at, "of ", 3))
		at += 2;
	else if (at >= size || text[at] != '/')
		return 0;
	at = skip_spaces(text, size, at + 1);
	if (!is_digit_at(text, size, at))
		return 0;
	zero = text[at] == '0' && is_digit_at(text, size, at + 1);
	n = number_read(text + at, size - at, total);
	/* 11/03, and 11/3/2025 */
	if (!n || zero || (at + n < size && text[at + n] == '/'))
		return 0;
	return at + n;
}

/* The seconds of the clock of a bar, "00:10<", which begins the text; NaN:
 * none.
 */
static double bar_clock(const char *text, size_t size)
{
	struct captured_value clock = { .number = NAN };
	size_t n = 0;

	while (n < size && (is_digit_at(text, size, n) || text[n] == ':'))
		n++;
	value_from(&clock, FORM_CLOCK, text, n);
	return clock.number;
}

static bool is_bar_sign(char c)
{
	return c == '=' || c == '>' || c == '.';
}

/* Is this "[00:10<00:20", "[==>.." or " (1%)]", behind a ratio? */
static void ratio_look_behind(const char *text, size_t size,
			      struct notation_item *item)
{
	size_t at = skip_spaces(text, size, 0), n;

	if (at < size && text[at] == '[') {
		n = digits_count(text + at + 1, size - at - 1);
		item->bar = n && at + 1 + n < size && text[at + 1 + n] == ':';
		if (item->bar)
			item->clock = bar_clock(text + at + 1, size - at - 1);
		item->drawn |= at + 2 < size && is_bar_sign(text[at + 1]) &&
			       is_bar_sign(text[at + 2]);
	} else if (at < size && text[at] == '(') {
		n = strspn(text + at + 1, "0123456789. ");
		item->share = n && at + 1 + n < size && text[at + 1 + n] == '%';
	}
}

/* Is the number the first one, behind marks only? */
static bool begins_line(const char *text, size_t at)
{
	for (size_t i = 0, n; i < at; i += n ? n : 1) {
		n = text[i] & 0x80 ? quantity_mark(text + i, at - i) : 0;
		if (isalnum((unsigned char)text[i]) || (text[i] & 0x80 && !n))
			return false;
	}
	return true;
}

static char mark_before(const char *text, size_t at)
{
	while (at && (text[at - 1] == ' ' || text[at - 1] == '\t'))
		at--;
	return at ? text[at - 1] : 0;
}

/* "loss0.545": the blank between the two is lost. */
static bool begins_behind_loss(const char *text, size_t size, size_t at)
{
	size_t end = at + digits_count(text + at, size - at);

	if (end == at || end >= size || text[end] != '.' || at < 4 ||
	    strncasecmp(text + at - 4, "loss", 4) != 0 ||
	    (at > 4 &&
	     (isalnum((unsigned char)text[at - 5]) || text[at - 5] == '_')))
		return false;
	at = end + 1;
	end = at + digits_count(text + at, size - at);
	return end > at &&
	       (end == size || (!isalpha((unsigned char)text[end]) &&
				!strchr("_./", text[end])));
}

/* "iteration100,": the same of a word that is the name of a step. */
static bool begins_behind_step(struct notation *notation, const char *text,
			       size_t size, size_t at)
{
	size_t begin = at, end = at + digits_count(text + at, size - at);
	struct quantity quantity;

	while (begin && at - begin < STEP_NAME_MAX &&
	       is_letter_at(text, size, begin - 1))
		begin--;
	if (begin == at || end == at ||
	    (begin && !strchr(" \t[(", text[begin - 1])) ||
	    (end < size && !strchr(" \t,:;|)]/", text[end])) ||
	    /* "E0615 10:00:00 " is an error of June. */
	    (at - begin == 1 && (end == size || !strchr("/]", text[end]))))
		return false;
	quantity = notation_quantity(notation, text + begin, at - begin);
	return quantity.known && quantity.role <= ROLE_EPOCH;
}

/* May a number begin here? */
static bool may_begin(struct notation *notation, const char *text, size_t size,
		      size_t at)
{
	char c = text[at], before = at ? text[at - 1] : ' ';

	if (isalnum((unsigned char)before) || before == '_')
		return ((before | ' ') == 's' &&
			begins_behind_loss(text, size, at)) ||
		       (isalpha((unsigned char)before) &&
			begins_behind_step(notation, text, size, at));
	if (before == '@' && at > 1 && isalnum((unsigned char)text[at - 2]))
		return false;
	if (c >= '0' && c <= '9')
		return before != '.' || at < 2 || text[at - 2] == ' ';
	if (c == '.')
		return is_digit_at(text, size, at + 1) && before != '.';
	if (c == '-' || c == '+')
		return (is_digit_at(text, size, at + 1) ||
			(at + 2 < size && text[at + 1] == '.') ||
			is_letter_at(text, size, at + 1)) &&
		       strchr(" \t:=[(,\"'|", before);
	/* "nan", "inf" */
	return size - at >= 3 && is_letter_at(text, size, at + 1) &&
	       (text[at + 2] | ' ') == ((c | ' ') == 'n' ? 'n' : 'f');
}

/* The next place where a number may begin, or the end of the text. Most bytes
 * of a log begin none.
 */
static size_t next_begin(struct notation *notation, const char *text,
			 size_t size, size_t at)
{
	static const bool first[UINT8_MAX + 1] = {
		['0'] = true, ['1'] = true, ['2'] = true, ['3'] = true,
		['4'] = true, ['5'] = true, ['6'] = true, ['7'] = true,
		['8'] = true, ['9'] = true, ['.'] = true, ['-'] = true,
		['+'] = true, ['n'] = true, ['N'] = true, ['i'] = true,
		['I'] = true,
	};

	while (at < size && (!first[(unsigned char)text[at]] ||
			     !may_begin(notation, text, size, at)))
		at++;
	return at;
}

/* Most lines have the same texts between their numbers as the line before. Does
 * the scanner stand before the one that is expected? Then go behind it.
 */
static bool scanner_skip_expected(struct scanner *scanner)
{
	const struct notation_gap *gap =
		scanner->count < NOTATION_EXPECTED
			? scanner->notation->expected[scanner->count]
			: NULL;
	size_t end;

	if (!gap || gap->size < 2)
		return false;
	end = scanner->gap + gap->size - 1;
	/* A dot alone may belong to the number before. */
	if (end >= scanner->size || !is_digit_at(scanner->text, end + 1, end) ||
	    scanner->text[end - 1] == '.' ||
	    memcmp(scanner->text + scanner->gap, gap->text, gap->size - 1) != 0)
		return false;
	scanner->at = end;
	scanner->before = gap;
	return true;
}

/* Go to the next number. False: there is none. */
static bool scanner_next(struct scanner *scanner)
{
	scanner->before = NULL;
	if (scanner->at == scanner->gap && scanner_skip_expected(scanner))
		return true;
	scanner->at = next_begin(scanner->notation, scanner->text,
				 scanner->size, scanner->at);
	return scanner->at < scanner->size;
}

/* What stands before the number; kept for the next line. */
static const struct notation_gap *scanner_before(struct scanner *scanner)
{
	size_t size = scanner->at - scanner->gap;
	const struct notation_gap *gap = scanner->before;

	if (!gap)
		gap = gap_find(scanner->notation, scanner->text + scanner->gap,
			       size);
	if (scanner->count < NOTATION_EXPECTED)
		scanner->notation->expected[scanner->count] =
			size <= NOTATION_GAP_MAX ? gap : NULL;
	scanner->count++;
	return gap;
}

/* "epoch/iter: 52/1367" is two numbers. False: it is none. */
static bool take_both(struct scanner *scanner, const struct notation_item *item)
{
	size_t size = item->quantity.name_size, first;
	const char *slash =
		isfinite(item->total) ? memchr(item->name, '/', size) : NULL;
	struct notation_item one = *item, other = *item;

	if (!slash)
		return false;
	first = (size_t)(slash - item->name);
	one.quantity = notation_quantity(scanner->notation, item->name, first);
	other.quantity = notation_quantity(scanner->notation, slash + 1,
					   size - first - 1);
	if (!one.quantity.known || !other.quantity.known ||
	    one.quantity.role == other.quantity.role)
		return false;
	other.name = slash + 1;
	other.number = item->total;
	one.total = other.total = NAN;
	scanner->fn(&one, scanner->arg);
	scanner->fn(&other, scanner->arg);
	return true;
}

/* Deliver the number of n bytes at the scanner. */
static void scanner_take(struct scanner *scanner, size_t n, double number)
{
	static const struct quantity_unit plain = { .kind = QUANTITY_PLAIN,
						    .factor = 1 };
	const char *text = scanner->text, *gap = text + scanner->gap;
	size_t size = scanner->size, end = scanner->at + n, more;
	const struct notation_gap *known = scanner_before(scanner);
	size_t far = scanner->at - scanner->gap;
	char before = mark_before(text, scanner->at);
	/* All members have a value: zeros for the rest would cost time. */
	struct notation_item item = {
		.quantity = known->quantity,
		.name = gap + known->quantity.name_at +
			(far > NOTATION_GAP_MAX ? far - NOTATION_GAP_MAX : 0),
		.number = number,
		.text = text + scanner->at,
		.size = n,
		.total = NAN,
		.bracket = before == '[' || before == '(' ? before : (char)0,
		.closes = false,
		.heads = false,
		.begins = begins_line(text, scanner->at),
		.bar = false,
		.drawn = false,
		.share = false,
		.glued = scanner->glued,
		.clock = NAN,
		.unit = plain,
	};
	bool behind_slash;

	item.quantity.section |= scanner->passed.section;
	item.quantity.train |= scanner->passed.train;
	scanner->passed.section = scanner->passed.train = false;
	if (!item.bracket && comma_is_point(scanner->notation, &item.quantity,
					    item.text, size - scanner->at)) {
		item.size = number_read_comma(item.text, size - scanner->at,
					      &item.number);
		end = scanner->at + item.size;
	}
	more = total_read(text + end, size - end, &item.total);
	end += more;
	ratio_look_behind(text + end, size - end, &item);
	scanner->bar = item.bar ? end : scanner->bar;
	more = unit_read(scanner->notation, text + end, size - end, &item);
	end += more;
	if (more)
		ratio_look_behind(text + end, size - end, &item);
	else if (item.quantity.empty && item.number != floor(item.number)) {
		more = name_read(scanner->notation, text + end, size - end,
				 &item.quantity);
		item.name =
			more ? text + end + item.quantity.name_at : item.name;
		end += more;
	}
	item.closes = end < size && text[end] == ']';
	item.heads = end < size && text[end] == ':';
	/* The total of "12.5kit/30.0kit". */
	behind_slash =
		scanner->gap && scanner->at - scanner->gap == 1 && *gap == '/';
	if (!behind_slash && !take_both(scanner, &item))
		scanner->fn(&item, scanner->arg);
	scanner->at = scanner->gap = end;
	scanner->glued = false;
}

/* "7/40 [00:01<00:02, 28it/s]Epoch 3": did the bar end before the number, and
 * its line had no end?
 */
static void look_for_bar_end(struct scanner *scanner)
{
	const char *text = scanner->text;
	const char *close =
		memchr(text + scanner->gap, ']', scanner->at - scanner->gap);
	size_t end = close ? (size_t)(close - text) : 0;

	if (!close)
		return;
	scanner->glued = isalnum((unsigned char)text[end + 1]) &&
			 memchr(text + scanner->bar, '<', end - scanner->bar);
	scanner->bar = 0;
}

/* Are these bytes two numbers with a dash between them, behind the name of a
 * step?
 */
static bool is_range(struct scanner *scanner, size_t size)
{
	const char *text = scanner->text + scanner->at;
	size_t n = digits_count(text, size);
	struct quantity quantity;

	if (text[n] != '-' ||
	    n + 1 + digits_count(text + n + 1, size - n - 1) != size)
		return false;
	quantity = notation_quantity(scanner->notation,
				     scanner->text + scanner->gap,
				     scanner->at - scanner->gap);
	return quantity.known &&
	       (quantity.role == ROLE_STEP || quantity.role == ROLE_BATCH);
}

/* Go behind a date or the like. What stands before it may say what the numbers
 * behind it are of: "VAL (3/3/1)>> loss: 2.5".
 */
static void scanner_pass(struct scanner *scanner, size_t skip)
{
	size_t size = scanner->at - scanner->gap;
	const char *text = scanner->text + scanner->gap;

	for (size_t i = 0; i < size; i++)
		if (isalpha((unsigned char)text[i])) {
			scanner->passed =
				gap_find(scanner->notation, text, size)
					->quantity;
			break;
		}
	scanner->gap = scanner->at += skip;
}

void notation_read(struct notation *notation, const char *text, size_t size,
		   notation_fn *fn, void *arg)
{
	struct scanner scanner = {
		.notation = notation,
		.text = text,
		.size = size,
		.fn = fn,
		.arg = arg,
	};

	while (scanner_next(&scanner)) {
		size_t n, skip;
		double number;

		if (scanner.bar)
			look_for_bar_end(&scanner);
		n = number_read(text + scanner.at, size - scanner.at, &number);
		if (!n) {
			scanner.at++;
			continue;
		}
		skip = compound_size(text + scanner.at, size - scanner.at);
		if (skip && is_range(&scanner, skip)) {
			/* "Batch [0-50]": the last one is done. */
			skip = n + 1;
			n = number_read(text + scanner.at + skip,
					size - scanner.at - skip, &number);
			scanner_take(&scanner, skip + n, number);
			continue;
		}
		if (skip) {
			scanner_pass(&scanner, skip);
			continue;
		}
		scanner_take(&scanner, n, number);
	}
}

void notation_value(struct notation *notation, const char *key, size_t key_size,
		    const char *text, size_t size, notation_fn *fn, void *arg)
{
	struct notation_item item = {
		.name = key,
		.total = NAN,
		.unit = { .kind = QUANTITY_PLAIN, .factor = 1 },
	};
	size_t n = number_read(text, size, &item.number);

	const char *slash;

	if (!n)
		return;
	item.quantity = notation_quantity(notation, key, key_size);
	if (comma_is_point(notation, &item.quantity, text, size))
		n = number_read_comma(text, size, &item.number);
	item.text = text;
	item.size = n;
	n += total_read(text + n, size - n, &item.total);
	/* "step/max_steps": "5/94" */
	slash = isfinite(item.total) ? memchr(key, '/', key_size) : NULL;
	if (slash)
		item.quantity =
			notation_quantity(notation, key, (size_t)(slash - key));
	item.name = key + item.quantity.name_at;
	n += unit_read(notation, text + n, size - n, &item);
	if (skip_spaces(text, size, n) == size)
		fn(&item, arg);
}
