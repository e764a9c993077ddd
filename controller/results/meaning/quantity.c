/* quantity.c - what the text before and behind a number says that it is.
 */
#include "controller/results/meaning/quantity.h"

#include <ctype.h>
#include <string.h>

#define STEP_UNIT_RANK 100 /* a name of a time is surer than "step_ms" */
#define WORDS_MAX 12       /* of a name; a longer text has none */

/* The words of a text, in lower case. */
struct words {
	char text[WORDS_MAX * (LEXICON_WORD_MAX + 1)];
	struct word_place {
		uint16_t at, size;
		bool slash; /* '/' stands before it */
	} list[WORDS_MAX];
	size_t count;
	size_t used;
	bool too_many;
};

static bool is_word_char(char c)
{
	return isalnum((unsigned char)c) || c & 0x80;
}

size_t quantity_mark(const char *text, size_t size)
{
	const unsigned char *byte = (const unsigned char *)text;

	if (size < 3 || *byte < 0xe2)
		return 0;
	if (size > 3 && *byte == 0xf0 && byte[1] == 0x9f)
		return 4;
	/* U+2xxx; U+30xx below the kana; U+FE0F; U+FFxx without letters and
	 * digits
	 */
	return *byte == 0xe2 || (*byte == 0xe3 && byte[1] == 0x80) ||
			       (*byte == 0xef && byte[1] == 0xb8 &&
				byte[2] == 0x8f) ||
			       (*byte == 0xef && byte[1] == 0xbc &&
				(byte[2] < 0x90 ||
				 (byte[2] > 0x99 && byte[2] < 0xa1) ||
				 byte[2] > 0xba))
		       ? 3
		       : 0;
}

static void words_add(struct words *words, const char *text, size_t size,
		      bool slash)
{
	struct word_place *place = &words->list[words->count];

	if (words->count == WORDS_MAX || size > LEXICON_WORD_MAX) {
		words->too_many = true;
		return;
	}
	words->count++;
	*place = (struct word_place){ (uint16_t)words->used, (uint16_t)size,
				      slash };
	for (size_t i = 0; i < size; i++)
		words->text[words->used++] =
			(char)(text[i] & 0x80
				       ? text[i]
				       : tolower((unsigned char)text[i]));
	words->text[words->used++] = '_';
}

/* "SamplesPerSec" has three words, "GiB" one. */
static bool begins_word(const char *text, size_t size, size_t i)
{
	return i + 1 < size && isupper((unsigned char)text[i]) &&
	       islower((unsigned char)text[i - 1]) &&
	       islower((unsigned char)text[i + 1]);
}

static void words_split(struct words *words, const char *text, size_t size)
{
	bool slash = false;

	words->count = words->used = 0;
	words->too_many = false;
	for (size_t i = 0; i < size && !words->too_many;) {
		size_t from = i;

		if (!is_word_char(text[i])) {
			slash = text[i++] == '/';
			continue;
		}
		for (i++; i < size && is_word_char(text[i]) &&
			  !begins_word(text, size, i) &&
			  (text[i] & 0x80) == (text[from] & 0x80);)
			i++;
		words_add(words, text + from, i - from, slash);
		slash = false;
	}
}

static const char *word_text(const struct words *words, size_t i)
{
	return words->text + words->list[i].at;
}

static bool word_is(const struct words *words, size_t i, const char *text)
{
	return i < words->count && words->list[i].size == strlen(text) &&
	       !memcmp(word_text(words, i), text, strlen(text));
}

/* "loss", "aeloss" */
static bool word_is_loss(const struct words *words, size_t i)
{
	size_t size = words->list[i].size;

	return size >= 4 && !memcmp(word_text(words, i) + size - 4, "loss", 4);
}

static bool word_is_train(const struct words *words, size_t i)
{
	return word_is(words, i, "train") || word_is(words, i, "training") ||
	       word_is(words, i, "trn") || word_is(words, i, "learn");
}

static bool word_of(const struct lexicon *lexicon, enum word_kind kind,
		    const struct words *words, size_t i)
{
	size_t size = words->list[i].size;

	/* "rank0" is as "rank". */
	while (size > 1 &&
	       isdigit((unsigned char)word_text(words, i)[size - 1]))
		size--;
	/* Chinese has no blanks: what a word begins with is a word. */
	if (kind == WORD_OTHER && *word_text(words, i) & 0x80)
		for (size_t n = 6; n < size; n += 3)
			if (lexicon_word(lexicon, kind, word_text(words, i), n))
				return true;
	return lexicon_word(lexicon, kind, word_text(words, i), size);
}

/* Units. */

/* The units of words [from, to), "tokens per gpu per second": the first one,
 * and those that it is divided by. False: they are not all units.
 */
static bool units_read(const struct lexicon *lexicon, const struct words *words,
		       size_t from, size_t to, struct lexicon_unit *first,
		       struct lexicon_unit by[2], size_t *by_count)
{
	*by_count = 0;
	if (from >= to || !lexicon_unit(lexicon, word_text(words, from),
					words->list[from].size, first))
		return false;
	for (size_t i = from + 1; i < to; i++) {
		if (word_is(words, i, "per"))
			i++;
		else if (!words->list[i].slash)
			return false;
		if (i >= to || *by_count == 2 ||
		    !lexicon_unit(lexicon, word_text(words, i),
				  words->list[i].size, &by[*by_count]))
			return false;
		++*by_count;
	}
	return true;
}

static bool is_memory(enum unit_base base)
{
	return base == BASE_MEBIBYTE || base == BASE_MEGABYTE;
}

static struct quantity_unit unit_of_words(const struct lexicon *lexicon,
					  const struct words *words,
					  size_t from, size_t to)
{
	static const enum quantity_kind rates[UNIT_BASES] = {
		[BASE_STEP] = QUANTITY_STEPS_PER_SECOND,
		[BASE_TOKEN] = QUANTITY_TOKENS_PER_SECOND,
		[BASE_SAMPLE] = QUANTITY_SAMPLES_PER_SECOND,
	};
	struct quantity_unit unit = { .kind = QUANTITY_OTHER, .factor = 1 };
	struct lexicon_unit first, by[2];
	size_t count;
	bool seconds = false, steps = false;

	if (!units_read(lexicon, words, from, to, &first, by, &count))
		return unit;
	unit.factor = first.factor;
	unit.decimal = first.base == BASE_MEGABYTE;
	for (size_t i = 0; i < count; i++) {
		unit.factor /= by[i].factor;
		unit.per_device |= by[i].base == BASE_DEVICE;
		seconds |= by[i].base == BASE_SECOND;
		steps |= by[i].base == BASE_STEP;
	}
	if (count > 1 && seconds + steps + unit.per_device != (int)count)
		return unit;
	if (!count)
		unit.kind =
			first.base == BASE_SECOND  ? QUANTITY_SECONDS
			: is_memory(first.base)    ? QUANTITY_MEBIBYTES
			: first.base == BASE_STEP  ? QUANTITY_STEPS
			: first.base == BASE_EPOCH ? QUANTITY_EPOCHS
			: first.base == BASE_DEVICE && words->list[from].slash
				? QUANTITY_PER_DEVICE
				: QUANTITY_OTHER;
	else if (first.base == BASE_SECOND && steps && count == 1)
		unit.kind = QUANTITY_SECONDS_PER_STEP;
	else if (seconds && !steps && rates[first.base])
		unit.kind = rates[first.base];
	else if (first.base == BASE_SECOND && count == 1 && rates[by->base]) {
		unit.kind = rates[by->base];
		unit.inverse = true;
	}
	return unit;
}

struct quantity_unit quantity_unit(const struct lexicon *lexicon,
				   const char *text, size_t size)
{
	struct words words;

	if (size == 1 && *text == '%')
		return (struct quantity_unit){ .kind = QUANTITY_PERCENT,
					       .factor = 1 };
	words_split(&words, text, size);
	return words.too_many ? (struct quantity_unit){ .kind = QUANTITY_OTHER,
							.factor = 1 }
			      : unit_of_words(lexicon, &words, 0, words.count);
}

/* Names. */

/* The name of words [from, to), without Chinese fillers at its start. */
static bool name_of_words(const struct lexicon *lexicon,
			  const struct words *words, size_t from, size_t to,
			  struct lexicon_name *name)
{
	const char *text = word_text(words, from);
	size_t size = (size_t)(word_text(words, to - 1) - text) +
		      words->list[to - 1].size;

	if (lexicon_name(lexicon, text, size, name))
		return true;
	/* "平均损失": each character has three bytes. */
	for (size_t cut = 3; *text & 0x80 && cut < size; cut += 3)
		if (lexicon_word(lexicon, WORD_FILLER, text, cut) &&
		    lexicon_name(lexicon, text + cut, size - cut, name))
			return true;
	return false;
}

/* Do words [0, to) change nothing? A word of an evaluation does: *other; so
 * does that of one device: *device.
 */
static bool only_fillers(const struct lexicon *lexicon,
			 const struct words *words, size_t to, bool *other,
			 bool *device)
{
	struct lexicon_name name;
	struct lexicon_unit unit;

	for (size_t i = 0; i < to; i++) {
		if (word_of(lexicon, WORD_OTHER, words, i)) {
			*other = true;
			continue;
		}
		if (lexicon_unit(lexicon, word_text(words, i),
				 words->list[i].size, &unit) &&
		    unit.base == BASE_DEVICE) {
			*device = true;
			continue;
		}
		/* "throughput tokens/s" */
		if (!word_of(lexicon, WORD_FILLER, words, i) &&
		    !(lexicon_name(lexicon, word_text(words, i),
				   words->list[i].size, &name) &&
		      name.role == ROLE_RATE))
			return false;
	}
	return true;
}

/* A name that is made of units: "tokens per second". */
static bool name_is_unit(const struct lexicon *lexicon,
			 const struct words *words, size_t from, size_t to,
			 struct quantity *quantity)
{
	struct quantity_unit unit = unit_of_words(lexicon, words, from, to);

	if (unit.kind < QUANTITY_SECONDS_PER_STEP ||
	    unit.kind > QUANTITY_SAMPLES_PER_SECOND)
		return false;
	quantity->role = unit.kind == QUANTITY_SECONDS_PER_STEP ? ROLE_STEP_TIME
								: ROLE_RATE;
	quantity->rank = 0;
	quantity->unit = unit;
	return true;
}

/* A unit at the end of a name: "dt_ms", "max_mem_gb", "timing in s". */
static size_t cut_unit(const struct lexicon *lexicon, const struct words *words,
		       size_t to, struct quantity_unit *unit)
{
	struct quantity_unit last;

	if (to < 2)
		return to;
	last = unit_of_words(lexicon, words, to - 1, to);
	if (last.kind != QUANTITY_SECONDS && last.kind != QUANTITY_MEBIBYTES)
		return to;
	*unit = last;
	return to - 1 - (to > 2 && word_is(words, to - 2, "in"));
}

static bool name_whole(const struct lexicon *lexicon, const struct words *words,
		       size_t from, size_t to, struct quantity *quantity)
{
	struct lexicon_name name;
	bool other = false;

	for (size_t at = from; at < to; at++) {
		bool found = false;

		if (name_of_words(lexicon, words, at, to, &name)) {
			quantity->role = name.role;
			quantity->rank = name.rank;
			found = true;
		} else if (name_is_unit(lexicon, words, at, to, quantity)) {
			found = true;
		}
		if (!found)
			continue;
		/* The loss of a value function is a part of one. */
		if (quantity->role == ROLE_LOSS && at > from &&
		    word_is(words, at - 1, "value"))
			return false;
		if (!only_fillers(lexicon, words, at, &other,
				  &quantity->unit.per_device))
			return false;
		quantity->other |= other;
		return true;
	}
	return false;
}

/* "loss_pear", and no property of a loss. */
static bool names_part_of_loss(const struct words *words)
{
	static const char *const properties[] = { "scale",  "scaler", "scaling",
						  "weight", "mask",   "fn" };

	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (word_is(words, 1, properties[i]))
			return false;
	return word_is(words, 0, "loss");
}

/* "train-mlogloss", "policy loss", "loss_pear", "l_pear": a loss, or a part of
 * one.
 */
static void quantity_guess(const struct lexicon *lexicon,
			   const struct words *words, size_t last,
			   struct quantity *quantity)
{
	const char *text = word_text(words, last);
	size_t size = words->list[last].size;
	struct lexicon_name name;
	struct lexicon_unit unit;
	bool loss = size > 4 && word_is_loss(words, last);

	quantity->measure = lexicon_unit(lexicon, text, size, &unit) &&
			    unit.base != BASE_STEP && size > 1;
	if (loss || (last == 1 && names_part_of_loss(words)) ||
	    (last && word_is(words, 0, "l") && !word_is(words, 1, "total"))) {
		text = "loss";
		size = 4;
	}
	if (!lexicon_name(lexicon, text, size, &name) || name.role != ROLE_LOSS)
		return;
	for (size_t i = 0; i < last; i++)
		quantity->other |= word_of(lexicon, WORD_OTHER, words, i);
	quantity->known = true;
	quantity->role = ROLE_LOSS;
	quantity->rank = QUANTITY_GUESS;
}

static void quantity_read_name(const struct lexicon *lexicon,
			       const struct words *words,
			       struct quantity *quantity)
{
	size_t from = 0, to = words->count, cut;
	struct lexicon_name last;
	struct quantity_unit unit = quantity->unit;

	/* "d_loss", and "loss_d", are names. */
	for (size_t i = 0; i < to; i++)
		if (word_of(lexicon, WORD_LEVEL, words, i) &&
		    !name_of_words(lexicon, words, 0, to, &last))
			from = i + 1;
	quantity->empty = from == to;
	/* Words before `from` are no part of the name. */
	if (from) {
		struct words rest = *words;

		memmove(rest.list, rest.list + from,
			(to - from) * sizeof(*rest.list));
		rest.count = to - from;
		quantity_read_name(lexicon, &rest, quantity);
		return;
	}
	if (!to)
		return;
	quantity->known = name_whole(lexicon, words, 0, to, quantity);
	if (!quantity->known && unit.kind == QUANTITY_PLAIN) {
		cut = cut_unit(lexicon, words, to, &unit);
		if (cut < to && name_whole(lexicon, words, 0, cut, quantity)) {
			quantity->known = true;
			unit.per_device |= quantity->unit.per_device;
			quantity->unit = unit;
		}
	}
	/* "the loss is" */
	while (!quantity->known && to > 1 && !word_is(words, 0, "l") &&
	       word_of(lexicon, WORD_FILLER, words, to - 1) &&
	       !name_of_words(lexicon, words, to - 1, to, &last))
		quantity->known = name_whole(lexicon, words, 0, --to, quantity);
	/* "step_ms" */
	if (quantity->known && quantity->unit.kind == QUANTITY_SECONDS &&
	    (quantity->role == ROLE_STEP || quantity->role == ROLE_BATCH)) {
		quantity->role = ROLE_STEP_TIME;
		quantity->rank += STEP_UNIT_RANK;
	}
	if (!quantity->known)
		quantity_guess(lexicon, words, words->count - 1, quantity);
	/* Only words that change nothing: the unit says what it is. */
	if (!quantity->known) {
		bool other = false, device = false;

		quantity->empty =
			only_fillers(lexicon, words, to, &other, &device) &&
			!other;
		quantity->other |= other;
	}
}

/* Places in the text. */

static bool is_space(char c)
{
	return c == ' ' || c == '\t';
}

/* Does a name begin behind text[i]? The byte count of the mark; 0: no. */
static size_t mark_size(const char *text, size_t size, size_t i)
{
	/* "acc@1" is a name. */
	if (text[i] == '@' && i && i + 1 < size &&
	    isalnum((unsigned char)text[i - 1]) &&
	    isdigit((unsigned char)text[i + 1]))
		return 0;
	if (text[i] && strchr(",;|{}[]()\t\"'<>=:@#*!?~", text[i]))
		return 1;
	if (text[i] & 0x80 && quantity_mark(text + i, size - i))
		return quantity_mark(text + i, size - i);
	/* " - ", and a column of blanks. */
	if (is_space(text[i]) && i + 1 < size &&
	    (is_space(text[i + 1]) ||
	     (text[i + 1] == '-' && i + 2 < size && is_space(text[i + 2]))))
		return 1;
	if (text[i] == '-' && i && is_space(text[i - 1]))
		return 1;
	return 0;
}

/* The end of the name, without what separates it from its number. */
static size_t name_end(const char *text, size_t size)
{
	while (size) {
		if (size >= 3 && quantity_mark(text + size - 3, 3))
			size -= 3;
		else if (size >= 4 && quantity_mark(text + size - 4, 4) == 4)
			size -= 4;
		else if (strchr(" \t:=[(\"'|>-~@{#", text[size - 1]) &&
			 text[size - 1])
			size--;
		else
			break;
	}
	return size;
}

/* Does the segment say that what follows it is of something else, "Val:"? */
static bool is_other(const struct lexicon *lexicon, const char *text,
		     size_t size, bool *train)
{
	struct words words;
	bool other = false;

	words_split(&words, text, size);
	if (words.too_many || !words.count)
		return false;
	for (size_t i = 0; i < words.count; i++) {
		if (word_of(lexicon, WORD_OTHER, &words, i))
			other = true;
		else if (!word_of(lexicon, WORD_FILLER, &words, i) &&
			 !word_of(lexicon, WORD_LEVEL, &words, i) &&
			 !isdigit((unsigned char)*word_text(&words, i)))
			return false;
		*train |= word_is_train(&words, i);
	}
	return other;
}

static bool has_word(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (isalnum((unsigned char)text[i]) || text[i] & 0x80)
			return true;
	return false;
}

/* A unit in brackets at the end of a name: "(ms)"; not "time (data)", of which
 * the second number stands behind the first. The end without it.
 */
static size_t cut_brackets(const struct lexicon *lexicon, const char *text,
			   size_t end, struct quantity_unit *unit)
{
	size_t open = end;

	if (!end || (text[end - 1] != ')' && text[end - 1] != ']'))
		return end;
	while (open && text[open - 1] != '(' && text[open - 1] != '[')
		open--;
	/* Behind nothing, as in "epoch 3 [Val]: ", it is no unit. */
	if (open < 2 || !has_word(text, open - 1))
		return end;
	/* "(curr)" changes nothing. */
	if (!lexicon_word(lexicon, WORD_FILLER, text + open, end - 1 - open))
		*unit = quantity_unit(lexicon, text + open, end - 1 - open);
	end = open - 1;
	while (end && is_space(text[end - 1]))
		end--;
	return end;
}

/* "Training loss (for one batch) at step": a step, and the loss follows it. */
static void quantity_read_place(const struct lexicon *lexicon, const char *text,
				size_t size, struct quantity *quantity)
{
	struct lexicon_name name;
	struct words words;
	bool loss = false;
	size_t last;

	words_split(&words, text, size);
	if (words.too_many || words.count < 3)
		return;
	last = words.count - 1;
	if (!word_is(&words, last - 1, "at") &&
	    !word_is(&words, last - 1, "after"))
		return;
	for (size_t i = 0; i < last - 1; i++) {
		if (word_of(lexicon, WORD_OTHER, &words, i))
			return;
		loss |= name_of_words(lexicon, &words, i, i + 1, &name) &&
			name.role == ROLE_LOSS;
	}
	if (!loss || !name_of_words(lexicon, &words, last, last + 1, &name) ||
	    (name.role != ROLE_STEP && name.role != ROLE_BATCH &&
	     name.role != ROLE_EPOCH))
		return;
	quantity->known = quantity->of_loss = true;
	quantity->role = name.role;
	quantity->rank = name.rank;
}

/* The end of the name without what is around its number: "loss=tensor(". */
static size_t cut_wrapper(const char *text, size_t end, size_t size)
{
	size_t at = end;

	if (end == size || text[end] != '(')
		return end;
	while (at && (is_word_char(text[at - 1]) || text[at - 1] == '.' ||
		      text[at - 1] == '_'))
		at--;
	while (at && is_space(text[at - 1]))
		at--;
	return at && at < end && (text[at - 1] == '=' || text[at - 1] == ':')
		       ? name_end(text, at)
		       : end;
}

struct quantity quantity_of(const struct lexicon *lexicon, const char *text,
			    size_t size)
{
	struct quantity quantity = { .unit = { .kind = QUANTITY_PLAIN,
					       .factor = 1 } };
	struct words words;
	size_t end = cut_wrapper(text, name_end(text, size), size);
	size_t from = 0, segment = 0;

	end = cut_brackets(lexicon, text, end, &quantity.unit);
	/* The rest of a character that is cut, in a long bar. */
	while (from < end && from < 3 && ((unsigned char)text[from] >> 6) == 2)
		segment = ++from;
	for (size_t i = from; i < end;) {
		size_t mark = mark_size(text, end, i);

		if (!mark) {
			i++;
			continue;
		}
		if (is_other(lexicon, text + segment, i - segment,
			     &quantity.train))
			quantity.section = true;
		i += mark;
		segment = from = i;
	}
	/* "Val | loss": the last segment is the name. */
	if (from == end && end < size)
		quantity.section |= is_other(lexicon, text + segment,
					     end - segment, &quantity.train);
	words_split(&words, text + from, end - from);
	/* "train_loss_step" */
	if (words.count > 1 && word_is(&words, words.count - 1, "step") &&
	    word_is_loss(&words, words.count - 2))
		words.count--;
	quantity.name_at = (uint16_t)from;
	quantity.name_size = (uint16_t)(end - from);
	if (words.too_many)
		return quantity;
	quantity_read_name(lexicon, &words, &quantity);
	quantity_read_place(lexicon, text, end, &quantity);
	for (size_t i = 0; i < words.count; i++)
		quantity.train |= word_is_train(&words, i);
	return quantity;
}
