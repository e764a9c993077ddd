/* sentences.c - translates the sentences of results and anomalies.
 */
#include "controller/report/sentences.h"

#include "controller/report/writer.h"

#include <stdbool.h>
#include <string.h>

/* The file as it is, and a NUL. Lines in English, the wording of earlier
 * versions too, then their translation, behind a tab. Marks are what differs
 * from one sentence to another: "*" stays as it is, of "#" a range "1 to 2" is
 * translated, and "@" is a sentence itself, or stays as it is. A translation
 * has the same marks in the same order. The first line that fits counts.
 */
__asm__(".pushsection .rodata\n"
	".global sentences_zh\n"
	"sentences_zh:\n"
	".incbin \"controller/report/sentences.zh\"\n"
	".byte 0\n"
	".popsection\n");
extern const char sentences_zh[];

#define MARKS_MAX 10
#define MARKS "*#@"
#define NUMBER "0123456789.+-e" /* the characters of a number */
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

/* Does the sentence fit the pattern, up to the end of its line? Then fill what
 * its marks stand for: each for as little as the text behind it allows.
 */
static bool fits(const char *pattern, struct stretch sentence,
		 struct stretch marks[MARKS_MAX])
{
	size_t size = strcspn(pattern, MARKS "\n");

	if (!begins(sentence, pattern, size))
		return false;
	for (;;) {
		char mark = pattern[size];
		size_t length = 0;

		sentence = behind(sentence, size);
		pattern += size;
		if (mark == '\n')
			return !sentence.size;
		size = strcspn(++pattern, MARKS "\n");
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

static void put(struct writer *to, struct stretch stretch)
{
	writer_bytes(to, stretch.text, stretch.size);
}

static void put_number(struct writer *to, struct stretch number)
{
	const char *range = number.size ? memmem(number.text, number.size,
						 RANGE, strlen(RANGE))
					: NULL;
	size_t size = range ? (size_t)(range - number.text) : number.size;

	writer_bytes(to, number.text, size);
	if (!range)
		return;
	writer_raw(to, " 到 ");
	put(to, behind(number, size + strlen(RANGE)));
}

static bool translate(struct writer *to, struct stretch sentence);

static void put_translation(struct writer *to, const char *translation,
			    const struct stretch *marks)
{
	for (;; marks++) {
		size_t size = strcspn(translation, MARKS "\n");
		char mark = translation[size];

		writer_bytes(to, translation, size);
		translation += size + 1;
		if (mark == '\n')
			return;
		if (mark == '@')
			translate(to, *marks);
		else if (mark == '#')
			put_number(to, *marks);
		else
			put(to, *marks);
	}
}

static const char *next_line(const char *line)
{
	return line + strcspn(line, "\n") + 1;
}

/* A sentence of the file, as a whole; false: it is none. */
static bool translate_whole(struct writer *to, struct stretch sentence)
{
	struct stretch marks[MARKS_MAX] = { 0 };

	for (const char *line = sentences_zh; *line; line = next_line(line)) {
		if (*line == '\t' || !fits(line, sentence, marks))
			continue;
		while (*line != '\t')
			line = next_line(line);
		put_translation(to, line + 1, marks);
		return true;
	}
	return false;
}

/* The place of the first ": " after `from`; sentence.size: none. */
static size_t find_colon(struct stretch sentence, size_t from)
{
	const char *at =
		memmem(sentence.text + from, sentence.size - from, ": ", 2);

	return at ? (size_t)(at - sentence.text) : sentence.size;
}

/* "n1: " or "rank 3: " before a sentence. */
static bool translate_placed(struct writer *to, struct stretch sentence)
{
	size_t size = find_colon(sentence, 0), before = to->out->size;
	size_t skipped = begins(sentence, "rank ", 5) ? 5 : 0;

	if (size == sentence.size ||
	    memchr(sentence.text + skipped, ' ', size - skipped))
		return false;
	writer_bytes(to, sentence.text, size);
	writer_raw(to, "：");
	if (translate(to, behind(sentence, size + 2)))
		return true;
	writer_cut(to, before);
	return false;
}

/* A sentence followed by a line of a log, which stays as it is. */
static bool translate_quoting(struct writer *to, struct stretch sentence)
{
	for (size_t size = find_colon(sentence, 0); size < sentence.size;
	     size = find_colon(sentence, size + 2))
		if (translate_whole(to,
				    (struct stretch){ sentence.text, size })) {
			writer_raw(to, "：");
			put(to, behind(sentence, size + 2));
			return true;
		}
	return false;
}

/* False: there is no translation, and the sentence stays as it is. */
static bool translate(struct writer *to, struct stretch sentence)
{
	if (translate_placed(to, sentence) || translate_whole(to, sentence) ||
	    translate_quoting(to, sentence))
		return true;
	put(to, sentence);
	return false;
}

int sentence_put(const char *sentence, enum language language,
		 struct buffer *out, struct error *err)
{
	struct writer to;

	writer_init(&to, out, NULL);
	if (language == LANGUAGE_ZH)
		translate(&to, (struct stretch){ sentence, strlen(sentence) });
	else
		writer_raw(&to, sentence);
	return writer_end(&to, err);
}
