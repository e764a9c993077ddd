/* words.c - reads by its words whether a line tells of a failure. */
#include "controller/causes/words.h"

#include <ctype.h>

#define ROWS_MAX 64
#define PHRASES_MAX 1024
#define PHRASE_BYTES 64
#define BUCKETS 4096
#define GAP 40         /* characters that `~` stands for */
#define PARTS 4        /* characters between two words */
#define COUNT_REACH 24 /* characters between a word and its count */
#define CLASS_POINTS 3 /* that a class needs */
#define LEVEL_REACH 40 /* where the letter of a level may stand */
#define COUNT_FAULT 3  /* that a line with a count has less */
#define PROSE_FAULT 3  /* the same of prose */
#define PROSE_SIZE 100 /* bytes of a line that may be prose */
#define LEVEL_FAULT 5

struct word_row {
	int fault;
	bool ends;
	enum causes_class class; /* CAUSE_NONE: none */
	int points;
};

struct phrase {
	char text[PHRASE_BYTES];
	bool exact; /* its case counts */
	uint16_t row;
	uint16_t next; /* of the bucket, and one; 0: none */
};

struct words {
	struct word_row rows[ROWS_MAX];
	size_t row_count;
	struct phrase phrases[PHRASES_MAX];
	size_t phrase_count;
	/* Of rows with a fault, and of those with a class; phrase, and one. */
	uint16_t first[2][BUCKETS];
};

void words_free(struct words *words)
{
	free(words);
}

/* What a character is, a bit of each; a word begins with a digit, a letter or a
 * character that is not ASCII.
 */
enum {
	SMALL = 1,
	CAPITAL = 2,
	LETTER = 3,
	DIGIT = 4,
	LEAD = 8,
	TAIL = 16,
};

static const uint8_t kinds[256] = {
	['0' ... '9'] = DIGIT,  ['A' ... 'Z'] = CAPITAL, ['a' ... 'z'] = SMALL,
	[0x80 ... 0xbf] = TAIL, [0xc0 ... 0xff] = LEAD,
};

static inline unsigned byte_kind(char c)
{
	return kinds[(unsigned char)c];
}

static inline bool byte_is_letter(char c)
{
	return byte_kind(c) & LETTER;
}

static inline bool byte_is_capital(char c)
{
	return byte_kind(c) == CAPITAL;
}

static inline bool byte_is_digit(char c)
{
	return byte_kind(c) == DIGIT;
}

static inline char byte_lowered(char c)
{
	return byte_is_capital(c) ? (char)(c | ' ') : c;
}

/* Of the first three letters: most words of a log begin as no phrase does. */
static inline unsigned bucket_of(const char *text, size_t size)
{
	unsigned sum = 0;

	for (size_t i = 0; i < 3 && i < size && byte_kind(text[i]); i++)
		sum = sum * 37 + ((unsigned char)text[i] & 0x5fu);
	return sum % BUCKETS;
}

static int phrase_add(struct words *words, const struct value *value,
		      struct error *err)
{
	struct phrase *phrase = &words->phrases[words->phrase_count];
	const char *text;
	unsigned bucket;
	uint16_t *first;

	if (words->phrase_count == PHRASES_MAX)
		return value_error(value, err, "more than %d phrases",
				   PHRASES_MAX);
	if (value_string(value, PHRASE_BYTES - 1, &text, err) < 0)
		return -1;
	if (strlen(text) < 2)
		return value_error(value, err, "a phrase has two characters");
	snprintf(phrase->text, sizeof(phrase->text), "%s", text);
	for (; *text; text++)
		phrase->exact |= byte_is_capital(*text);
	bucket = bucket_of(phrase->text, strlen(phrase->text));
	phrase->row = (uint16_t)(words->row_count - 1);
	first = &words->first[!words->rows[phrase->row].fault][bucket];
	phrase->next = *first;
	*first = (uint16_t)++words->phrase_count;
	return 0;
}

static int word_row_read(struct words *words, const struct value *value,
			 struct error *err)
{
	static const char *const keys[] = { "fault",  "ends",  "class",
					    "points", "words", NULL };
	const struct value *ends = value_get(value, "ends");
	const struct value *fault = value_get(value, "fault");
	const struct value *class = value_get(value, "class");
	const struct value *points = value_get(value, "points");
	const struct value *list = value_get(value, "words");
	int64_t number = 0;
	struct word_row *row = &words->rows[words->row_count];

	if (words->row_count == ROWS_MAX)
		return value_error(value, err, "more than %d rows", ROWS_MAX);
	if (value_check_keys(value, keys, err) < 0)
		return -1;
	if (!list || !class != !points || !fault == !class)
		return value_error(value, err,
				   "a row needs words, and fault or class "
				   "and points");
	if (value_expect(list, VALUE_LIST, err) < 0 ||
	    (fault && value_i64(fault, -9, 9, &number, err) < 0))
		return -1;
	row->fault = (int)number;
	if (ends && value_bool(ends, &row->ends, err) < 0)
		return -1;
	if (class && (causes_class_read(class, &row->class, err) < 0 ||
		      value_i64(points, 1, 9, &number, err) < 0))
		return -1;
	row->points = (int)number;
	words->row_count++;
	for (size_t i = 0; i < value_count(list); i++)
		if (phrase_add(words, value_at(list, i), err) < 0)
			return -1;
	return 0;
}

struct words *words_new(const struct value *rows, struct error *err)
{
	owned(words_free) struct words *words = calloc(1, sizeof(*words));

	if (!words)
		return error_null(error_nomem(err, "words"));
	if (rows && value_expect(rows, VALUE_LIST, err) < 0)
		return NULL;
	for (size_t i = 0; rows && i < value_count(rows); i++)
		if (word_row_read(words, value_at(rows, i), err) < 0)
			return NULL;
	return take(words);
}

/* Does a word begin here? */
static inline bool word_starts(const char *text, size_t size, size_t at)
{
	unsigned kind = byte_kind(text[at]);
	unsigned before = at ? byte_kind(text[at - 1]) : 0;

	if (kind == CAPITAL && before == CAPITAL)
		return at + 1 < size && byte_kind(text[at + 1]) == SMALL;
	if (kind == SMALL)
		return !(before & LETTER);
	return kind == CAPITAL || kind == LEAD ||
	       (kind == DIGIT && before != DIGIT);
}

static bool word_ends(const char *text, size_t size, size_t at)
{
	if (at < size && byte_is_digit(text[at]) && byte_is_digit(text[at - 1]))
		return false;
	return at >= size || !byte_is_letter(text[at]) ||
	       (unsigned char)text[at - 1] >= 0x80 ||
	       !byte_is_letter(text[at - 1]) || word_starts(text, size, at);
}

static bool byte_parts_words(char c)
{
	return c && strchr(" _-=:'\"(/", c);
}

/* The end of the phrase that begins at `at`; 0: another text does. */
static size_t phrase_end(const char *phrase, bool exact, const char *text,
			 size_t size, size_t at)
{
	size_t begin = at;

	for (; *phrase; phrase++) {
		size_t from = at;

		if (*phrase == '*') {
			while (at < size && byte_is_letter(text[at]))
				at++;
		} else if (*phrase == '$') {
			return at >= size || strchr(".:;!,)", text[at]) ? at
									: 0;
		} else if (*phrase == ' ') {
			if (phrase[-1] != '*' && !word_ends(text, size, at))
				return 0;
			if (phrase[1] == '~')
				continue;
			while (at < size && at - from < PARTS &&
			       byte_parts_words(text[at]))
				at++;
			if (at >= size || !word_starts(text, size, at))
				return 0;
		} else if (*phrase == '~') {
			for (; at < size && at - from < GAP; at++) {
				size_t end =
					word_starts(text, size, at)
						? phrase_end(phrase + 2, exact,
							     text, size, at)
						: 0;

				if (end)
					return end;
			}
			return 0;
		} else if (at < size &&
			   (exact ? text[at] : byte_lowered(text[at])) ==
				   *phrase) {
			at++;
		} else {
			return 0;
		}
	}
	return at > begin && (phrase[-1] == '*' || word_ends(text, size, at))
		       ? at
		       : 0;
}

/* "0 errors", "failed: 0", "错误 0": the end of a zero, or of a figure. */
static bool word_is_counted(const char *text, size_t size, size_t begin,
			    size_t end)
{
	size_t at = end;

	if (begin > 1 && text[begin - 1] == ' ' && text[begin - 2] == '0' &&
	    (begin == 2 || strchr(" ,;:(=", text[begin - 3])))
		return true;
	if (begin > 2 && !memcmp(text + begin - 3, "no ", 3) &&
	    (begin == 3 || text[begin - 4] == ' '))
		return true;
	while (at < size && at - end < COUNT_REACH &&
	       !byte_is_digit(text[at]) && !strchr(".;,", text[at]))
		at++;
	if (at >= size || !byte_is_digit(text[at]) ||
	    !strchr(" :=", text[at - 1]))
		return false;
	begin = at;
	while (at < size && byte_is_digit(text[at]))
		at++;
	if (at + 1 < size && text[at] == '.' && byte_is_digit(text[at + 1]))
		return begin - end < 4;
	return text[begin] == '0' && at == begin + 1 &&
	       (at >= size || strchr(",;.)|}", text[at]) ||
		(unsigned char)text[at] >= 0x80 ||
		(at + 1 < size && (unsigned char)text[at + 1] >= 0x80));
}

/* A part of a name, as "on_error". */
static bool word_is_named(const char *text, size_t size, size_t begin,
			  size_t end)
{
	return ((begin && text[begin - 1] == '_') ||
		(end < size && text[end] == '_')) &&
	       !byte_is_capital(text[begin]);
}

/* Of the letter that some loggers write for the level: "E0712", "[E]". */
static int letter_fault(const char *text, size_t size)
{
	for (size_t i = 0; i + 4 < size && i < LEVEL_REACH; i++) {
		bool framed = i && text[i - 1] == '[';
		/* "2025-02-02 01:03:01.000001: I main.cc" */
		bool alone = i > 1 && text[i + 1] == ' ' && text[i - 2] == ':';

		if (!byte_is_capital(text[i]) ||
		    (i && !framed && text[i - 1] != ' ') ||
		    !strchr("EFIWD", text[i]))
			continue;
		if (!alone && !(framed && text[i + 1] == ']') &&
		    !(byte_is_digit(text[i + 1]) &&
		      byte_is_digit(text[i + 2]) &&
		      byte_is_digit(text[i + 3])) &&
		    !(!i && text[1] == ' ' && byte_is_digit(text[2])))
			continue;
		return text[i] == 'E' || text[i] == 'F' ? LEVEL_FAULT
							: -LEVEL_FAULT;
	}
	return size > 1 && text[0] == 'E' && text[1] == ':' ? LEVEL_FAULT : 0;
}

/* "samples rejected: 14", "failures 0.02", "missing: []": a count or a figure,
 * which ends the line.
 */
static bool line_is_count(const char *text, size_t size)
{
	size_t at = size;
	bool fraction = false;

	if (size > 4 && (!memcmp(text + size - 4, ": []", 4) ||
			 !memcmp(text + size - 4, ": {}", 4)))
		return true;
	while (at &&
	       (byte_is_digit(text[at - 1]) || strchr(".%", text[at - 1])))
		fraction |= text[--at] == '.' && at + 1 < size;
	return at < size && at > 1 && text[at - 1] == ' ' &&
	       (fraction || text[at - 2] == ':' || text[at - 2] == '=');
}

/* Does the line name a file by its path, which is no place in a program? */
static bool line_has_path(const char *text, size_t size)
{
	for (size_t i = 1; i + 4 < size; i++) {
		size_t end = i;

		if (text[i] != '/' || !strchr(" '\"=(:", text[i - 1]))
			continue;
		while (end < size && (unsigned char)text[end] > ' ' &&
		       !strchr("'\",):;", text[end]))
			end++;
		if (end < size && end > i + 3 &&
		    !(text[end] == ':' && end + 1 < size &&
		      byte_is_digit(text[end + 1])))
			return true;
	}
	return false;
}

/* Several sentences, as a model writes them. */
static bool line_is_prose(const char *text, size_t size)
{
	size_t ends = 0;

	for (size_t i = 2; size > PROSE_SIZE && i + 2 < size; i++)
		ends += text[i] == '.' && text[i + 1] == ' ' &&
			byte_is_capital(text[i + 2]) &&
			byte_kind(text[i - 1 - (text[i - 1] == ' ')]) == SMALL;
	return ends;
}

static enum causes_class class_of_points(const int points[CAUSE_CLASSES])
{
	enum causes_class best = CAUSE_ERROR;

	for (enum causes_class c = CAUSE_ERROR; c < CAUSE_CLASSES; c++)
		if (points[c] >= CLASS_POINTS && points[c] >= points[best])
			best = c;
	return best;
}

/* The rows of one of the two kinds that have a phrase in the line. */
static uint64_t words_find_rows(const struct words *words,
				const uint16_t first[BUCKETS], const char *text,
				size_t size)
{
	uint64_t found = 0;

	for (size_t i = 0; i + 1 < size; i++) {
		if (!word_starts(text, size, i))
			continue;
		for (size_t n = first[bucket_of(text + i, size - i)]; n;) {
			const struct phrase *phrase = &words->phrases[n - 1];
			uint64_t bit = (uint64_t)1 << phrase->row;
			size_t end;

			n = phrase->next;
			if (found & bit)
				continue;
			end = phrase_end(phrase->text, phrase->exact, text,
					 size, i);
			if (end && (words->rows[phrase->row].fault <= 0 ||
				    (!word_is_counted(text, size, i, end) &&
				     !word_is_named(text, size, i, end))))
				found |= bit;
		}
	}
	return found;
}

enum causes_class words_class(const struct words *words, const char *text,
			      size_t size)
{
	uint64_t rows = words_find_rows(words, words->first[1], text, size);
	int points[CAUSE_CLASSES] = { 0 };

	for (; rows; rows &= rows - 1) {
		const struct word_row *row =
			&words->rows[__builtin_ctzll(rows)];

		points[row->class] += row->points;
	}
	if (line_has_path(text, size))
		points[CAUSE_DATA] += CLASS_POINTS;
	return class_of_points(points);
}

int words_fault(const struct words *words, const char *text, size_t size,
		struct words_found *found)
{
	uint64_t rows = words_find_rows(words, words->first[0], text, size);
	int fault = letter_fault(text, size);

	*found = (struct words_found){ .said = rows || fault };
	for (; rows; rows &= rows - 1) {
		const struct word_row *row =
			&words->rows[__builtin_ctzll(rows)];

		fault += row->fault;
		found->ends |= row->ends;
	}
	if (size && text[size - 1] == ':')
		fault -= 2;
	if (fault < LEVEL_FAULT && line_is_count(text, size))
		fault -= COUNT_FAULT;
	if (fault > 0 && line_is_prose(text, size))
		fault -= PROSE_FAULT;
	return fault;
}
