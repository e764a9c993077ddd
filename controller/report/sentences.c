/* sentences.c - what results, anomalies and failures say, in another language.
 */
#include "controller/report/sentences.h"
#include "controller/report/sentence_table.h"

#include <stdbool.h>
#include <string.h>

#define MARKS_MAX 10
#define MARKS "*#@"
#define NUMBER "0123456789.+-e" /* what one consists of */
#define RANGE " to "

struct stretch {
	const char *text;
	size_t size;
};

static bool begins(struct stretch stretch, const char *with, size_t size)
{
	return stretch.size >= size && !memcmp(stretch.text, with, size);
}

static struct stretch behind(struct stretch stretch, size_t size)
{
	return (struct stretch){ stretch.text + size, stretch.size - size };
}

/* "1.5" or "1.5 to 2" */
static bool is_number(struct stretch stretch)
{
	const char *to =
		memmem(stretch.text, stretch.size, RANGE, strlen(RANGE));

	if (to) {
		size_t size = (size_t)(to - stretch.text);

		return is_number((struct stretch){ stretch.text, size }) &&
		       is_number(behind(stretch, size + strlen(RANGE)));
	}
	for (size_t i = 0; i < stretch.size; i++)
		if (!strchr(NUMBER, stretch.text[i]))
			return false;
	return stretch.size;
}

/* Is the sentence of the pattern? Then what its marks stand for: each for as
 * little as the text behind it allows.
 */
static bool fits(const char *pattern, struct stretch sentence,
		 struct stretch marks[MARKS_MAX])
{
	size_t size = strcspn(pattern, MARKS);

	if (!begins(sentence, pattern, size))
		return false;
	for (;;) {
		char mark = pattern[size];
		size_t length = 0;

		sentence = behind(sentence, size);
		pattern += size;
		if (!*pattern)
			return !sentence.size;
		size = strcspn(++pattern, MARKS);
		while (length < sentence.size &&
		       (!size ||
			!begins(behind(sentence, length), pattern, size)))
			length++;
		*marks = (struct stretch){ sentence.text, length };
		if (mark == '#' && !is_number(*marks))
			return false;
		marks++;
		if (length == sentence.size && size)
			return false;
		sentence = behind(sentence, length);
	}
}

static int translate(struct stretch sentence, struct buffer *out, bool *done,
		     struct error *err);

static int put_number(struct stretch number, struct buffer *out,
		      struct error *err)
{
	const char *to = memmem(number.text, number.size, RANGE, strlen(RANGE));
	size_t size = to ? (size_t)(to - number.text) : number.size;

	if (buffer_append(out, number.text, size, err) < 0 || !to)
		return to ? -1 : 0;
	number = behind(number, size + strlen(RANGE));
	return buffer_text(out, " 到 ", err) < 0 ||
			       buffer_append(out, number.text, number.size,
					     err) < 0
		       ? -1
		       : 0;
}

static int put_mark(char mark, struct stretch stretch, struct buffer *out,
		    struct error *err)
{
	bool done;

	if (mark == '@')
		return translate(stretch, out, &done, err);
	if (mark == '#')
		return put_number(stretch, out, err);
	return buffer_append(out, stretch.text, stretch.size, err);
}

static int put(const char *translation, const struct stretch *marks,
	       struct buffer *out, struct error *err)
{
	for (;; marks++) {
		size_t size = strcspn(translation, MARKS);
		char mark = translation[size];

		if (buffer_append(out, translation, size, err) < 0)
			return -1;
		if (!mark)
			return 0;
		if (put_mark(mark, *marks, out, err) < 0)
			return -1;
		translation += size + 1;
	}
}

/* A sentence of the table, as a whole. */
static int translate_whole(struct stretch sentence, struct buffer *out,
			   bool *done, struct error *err)
{
	struct stretch marks[MARKS_MAX] = { 0 };

	for (size_t i = 0; i < sentence_count; i++) {
		const struct translation *entry = &sentence_table[i];

		*done = fits(entry->english, sentence, marks) ||
			(entry->earlier &&
			 fits(entry->earlier, sentence, marks));
		if (*done)
			return put(entry->chinese, marks, out, err);
	}
	return 0;
}

/* Bytes before the next ": ", from there on; sentence.size: there is none. */
static size_t find_colon(struct stretch sentence, size_t from)
{
	const char *at =
		memmem(sentence.text + from, sentence.size - from, ": ", 2);

	return at ? (size_t)(at - sentence.text) : sentence.size;
}

/* "n1: " or "rank 3: " before a sentence. */
static int translate_placed(struct stretch sentence, struct buffer *out,
			    bool *done, struct error *err)
{
	size_t size = find_colon(sentence, 0), before = out->size;
	size_t skipped = begins(sentence, "rank ", 5) ? 5 : 0;

	*done = false;
	if (size == sentence.size ||
	    memchr(sentence.text + skipped, ' ', size - skipped))
		return 0;
	if (buffer_append(out, sentence.text, size, err) < 0 ||
	    buffer_text(out, "：", err) < 0 ||
	    translate(behind(sentence, size + 2), out, done, err) < 0)
		return -1;
	if (!*done) {
		out->size = before;
		out->data[before] = 0;
	}
	return 0;
}

/* A sentence, and behind it a line of a log, which stays as it was printed. */
static int translate_quoting(struct stretch sentence, struct buffer *out,
			     bool *done, struct error *err)
{
	*done = false;
	for (size_t size = find_colon(sentence, 0); size < sentence.size;
	     size = find_colon(sentence, size + 2)) {
		struct stretch line = behind(sentence, size + 2);

		if (translate_whole((struct stretch){ sentence.text, size },
				    out, done, err) < 0)
			return -1;
		if (*done)
			return buffer_text(out, "：", err) < 0
				       ? -1
				       : buffer_append(out, line.text,
						       line.size, err);
	}
	return 0;
}

static int translate(struct stretch sentence, struct buffer *out, bool *done,
		     struct error *err)
{
	if (translate_placed(sentence, out, done, err) < 0)
		return -1;
	if (!*done && translate_whole(sentence, out, done, err) < 0)
		return -1;
	if (!*done && translate_quoting(sentence, out, done, err) < 0)
		return -1;
	return *done ? 0
		     : buffer_append(out, sentence.text, sentence.size, err);
}

int sentence_put(const char *sentence, enum language language,
		 struct buffer *out, struct error *err)
{
	bool done;

	if (language != LANGUAGE_ZH)
		return buffer_text(out, sentence, err);
	return translate((struct stretch){ sentence, strlen(sentence) }, out,
			 &done, err);
}
