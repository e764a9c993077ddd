/* log_lines.c - what terminals and launchers add to a log changes nothing that
 * is read from it.
 *
 * A log of steps and bars is written twice: plainly, and with labels, escape
 * sequences at any place, carriage returns and other records as the input
 * says. Both must read the same.
 */
#include "controller/results/extract.h"
#include "protocol/base/buffer.h"
#include "protocol/yaml/document.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 200
#define NOISE_MAX 64 /* bytes of another record */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What does not stand at the head of a record is no match. */
static const char rules_text[] =
	"rules:\n"
	"- match: '^stroke (?<step>\\d+)/(?<steps>\\d+) drag (?<loss>\\S+) "
	"end'\n"
	"- match: '^ *\\d+%\\|[^|]*\\| (?<step>\\d+)/(?<steps>\\d+) "
	"\\[(?<t>\\S+) "
	"end'\n"
	"  fields: {step: step, steps: steps, t: \"iteration_s:pace\"}\n";

static const char *const labels[] = {
	"",    "[rank3]:", "[rank3]: ",      "[default0]:",
	"3: ", "",         "(Rower pid=7) ", "[1,0]<stdout>:",
};

static const char *const escapes[] = {
	"\033[0m",      "\033[1;32m", "\033[2K",  "\033[A",
	"\033[38;5;9m", "\033[?25l",  "\033[12C", "\033[m",
};

static const char *const ends[] = { "\n", "\r\n", "\r", "\n\n" };

static void must(bool good)
{
	if (!good)
		abort();
}

/* The input, as far as it goes; then zeros. */
struct input {
	const uint8_t *at;
	const uint8_t *end;
};

static unsigned pick(struct input *input, unsigned limit)
{
	return input->at < input->end ? *input->at++ % limit : 0;
}

static struct extract_rules *rules_once(void)
{
	static struct extract_rules *rules;
	struct document *document;
	const struct value *root;

	if (rules)
		return rules;
	document = document_parse(rules_text, strlen(rules_text), "rules", NULL,
				  NULL);
	must(document != NULL);
	root = document_root(document);
	rules = extract_rules_new(&root, 1, NULL);
	must(rules != NULL);
	document_free(document);
	return rules;
}

/* A record of something else: any bytes, none of which ends it. */
static void add_noise(struct buffer *log, struct input *input)
{
	unsigned size = pick(input, NOISE_MAX);

	buffer_text(log, "x", NULL);
	while (size--) {
		char byte = (char)pick(input, 256);

		buffer_append(log, byte == '\n' || byte == '\r' ? "x" : &byte,
			      1, NULL);
	}
	buffer_text(log, "\n", NULL);
}

static void add_dressed(struct buffer *log, const char *line,
			struct input *input)
{
	unsigned often = pick(input, 4);

	if (pick(input, 2))
		add_noise(log, input);
	buffer_text(log, labels[pick(input, 8)], NULL);
	for (; *line; line++) {
		if (often && !pick(input, 8 / often))
			buffer_text(log, escapes[pick(input, 8)], NULL);
		buffer_append(log, line, 1, NULL);
	}
	buffer_text(log, ends[pick(input, 4)], NULL);
}

static struct extract *read_log(const struct buffer *log, size_t piece)
{
	struct extract *extract = extract_new(rules_once(), NULL);

	must(extract != NULL);
	for (size_t at = 0; at < log->size; at += piece)
		must(extract_feed(extract, log->data + at,
				  log->size - at < piece ? log->size - at
							 : piece,
				  NULL) == 0);
	must(extract_finish(extract, NULL) == 0);
	return extract;
}

static void must_be_same(const struct extract *a, const struct extract *b,
			 size_t lines)
{
	size_t count, other;
	const struct record *x = extract_records(a, &count);
	const struct record *y = extract_records(b, &other);

	must(count == lines && other == lines);
	for (size_t i = 0; i < count; i++)
		must(x[i].step == y[i].step && x[i].has == y[i].has &&
		     x[i].steps_total == y[i].steps_total &&
		     x[i].loss == y[i].loss &&
		     x[i].iteration_ms == y[i].iteration_ms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, data + size };
	size_t piece = 1 + pick(&input, 97);
	owned(buffer_clear) struct buffer plain = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer dressed = BUFFER_INIT(1 << 20);
	struct extract *a, *b;
	size_t lines = 0;

	for (int i = 1; i <= LINES_MAX && input.at < input.end; i++, lines++) {
		char line[128];

		if (i % 2)
			snprintf(line, sizeof(line),
				 "stroke %d/%d drag %d.25 end", i, LINES_MAX,
				 i % 7);
		else
			snprintf(line, sizeof(line),
				 "%3d%%|#####   | %d/%d [%d.5s/it end", i / 2,
				 i, LINES_MAX, i % 5 + 1);
		buffer_printf(&plain, NULL, "%s\n", line);
		add_dressed(&dressed, line, &input);
	}
	a = read_log(&plain, plain.size + 1);
	b = read_log(&dressed, piece);
	must_be_same(a, b, lines);
	extract_free(a);
	extract_free(b);
	return 0;
}
