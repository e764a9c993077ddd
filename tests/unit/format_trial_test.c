/* format_trial_test.c - the head and the tail of a log show its format, and
 * where none fits, which lines look like figures.
 */
#include "controller/results/format_choice.h"
#include "controller/results/likely_lines.h"
#include "protocol/base/buffer.h"
#include "protocol/yaml/document.h"
#include "tests/tap.h"

#include <string.h>

static const char *const texts[] = {
	"rules:\n- match: 'stroke (?<step>\\d+) drag (?<loss>\\S+)'\n",
	"rules:\n- match: 'lap (?<step>\\d+) rest (?<loss>\\S+)'\n",
	"rules:\n- match: 'stroke (?<step>\\d+) drag \\S+ by (?<loss>\\S+)'\n",
};

#define FORMATS (sizeof(texts) / sizeof(texts[0]))

static struct extract_rules *rules[FORMATS];
static struct buffer written; /* the log */
static uint64_t read_bytes;   /* of it */

static void load_rules(void)
{
	for (size_t i = 0; i < FORMATS; i++) {
		struct document *document =
			document_parse(texts[i], strlen(texts[i]), "rules",
				       NULL, NULL);
		const struct value *root = document_root(document);

		rules[i] = extract_rules_new(&root, 1, NULL);
		document_free(document);
	}
}

static void print_lines(const char *format, int count)
{
	for (int i = 1; i <= count; i++) {
		buffer_printf(&written, NULL, format, i, i);
		buffer_text(&written, "\n", NULL);
	}
}

static void print_noise(size_t bytes)
{
	for (size_t end = written.size + bytes; written.size < end;)
		buffer_text(&written, "a worker has loaded its shard\n", NULL);
}

/* Seven bytes at a time: a store gives what it likes. */
static size_t read_log(void *arg, uint64_t offset, char *data, size_t size)
{
	size_t got = offset < written.size ? written.size - offset : 0;

	got = got < size ? got : size;
	got = got < 7 ? got : 7;
	memcpy(data, written.data + offset, got);
	read_bytes += got;
	return got;
}

static struct format_trial try_log(void)
{
	struct format_trial trial = { .format = 99 };
	char *text = malloc(FORMAT_TRIAL_BYTES);
	size_t size;

	read_bytes = 0;
	size = format_trial_text(written.size, read_log, NULL, text);
	is_int(format_trial(rules, FORMATS, text, size, &trial, NULL), 0,
	       "a trial");
	free(text);
	buffer_consume(&written, written.size);
	return trial;
}

static void trials(void)
{
	struct format_trial trial;

	print_noise(3000);
	print_lines("lap %d rest 0.%d", 20);
	trial = try_log();
	ok(trial.steps == 20 && trial.format == 1 && !trial.tied,
	   "a short log shows its format");
	is_int((long long)read_bytes, 3000 + 20 * 15 + 22,
	       "all of it was read");

	print_noise(10 << 20);
	print_lines("lap %d rest 0.%d", 20);
	trial = try_log();
	ok(trial.steps == 20 && trial.format == 1,
	   "so does a long one in its tail");
	is_int((long long)read_bytes, FORMAT_TRIAL_BYTES,
	       "of which no more is read than a trial takes");

	print_lines("lap %d rest 0.%d", 20);
	print_noise(10 << 20);
	trial = try_log();
	ok(trial.steps == 20 && trial.format == 1, "or in its head");

	print_noise(10 << 20);
	is_int((long long)try_log().steps, 0, "nothing fits where nothing is");
	is_int((long long)try_log().steps, 0, "nor in an empty log");

	print_lines("stroke %d drag 0.5 by 0.%d", 20);
	trial = try_log();
	ok(trial.steps == 20 && trial.tied,
	   "two formats that read as much, but not the same, are a tie");
}

static void cut_line(void)
{
	struct format_trial trial;

	/* The tail begins within the number 12345. */
	print_noise(FORMAT_TRIAL_BYTES);
	buffer_text(&written, "lap 123", NULL);
	buffer_text(&written, "45 rest 2\n", NULL);
	while (written.size % 2 || true) {
		static const char line[] = "lap 7 rest 1\n";

		buffer_text(&written, line, NULL);
		if (written.size > FORMAT_TRIAL_BYTES * 2)
			break;
	}
	trial = try_log();
	is_int((long long)trial.steps, 1, "a line that is cut is not read");
}

static void due(void)
{
	ok(!format_trial_due(FORMAT_TRIAL_FIRST - 1, 0) &&
		   format_trial_due(FORMAT_TRIAL_FIRST, 0),
	   "a log is tried when there is something in it");
	ok(format_trial_due(300, 0), "say ten short lines");
	ok(!format_trial_due(7999, 4000) && format_trial_due(8000, 4000),
	   "and again when it has doubled");
}

static void likely(void)
{
	static const char text[] = "loading 3 shards in 4 threads\n"
				   "oar 12 bends at 0.4\n"
				   "row 1: step 3, loss 2.5\n"
				   "row 2: step 4, loss 2.4\n"
				   "row 9: epoch 1 step 7 loss 2.2 time 0.\x1b"
				   "31 s, 88 tokens 9\r\n"
				   "the loss of step is unknown\n"
				   "memory 12 GiB at step 3";
	char lines[LIKELY_LINES][LIKELY_LINE_BYTES];

	is_int((long long)likely_lines(text, sizeof(text) - 1, lines), 3,
	       "three lines look like figures");
	is(lines[0], "row 9: epoch 1 step 7 loss 2.2 time 0.?31 s, 88 tokens 9",
	   "the one that tells most comes first, printable");
	is(lines[1], "row 1: step 3, loss 2.5",
	   "of lines that differ in numbers the first");
	is(lines[2], "memory 12 GiB at step 3", "a line without an end too");
	is_int((long long)likely_lines(text, 52, lines), 0,
	       "numbers alone are no figures");
}

int main(void)
{
	tap_begin(60);
	buffer_init(&written, (size_t)1 << 28);
	load_rules();
	trials();
	cut_line();
	due();
	likely();
	for (size_t i = 0; i < FORMATS; i++)
		extract_rules_free(rules[i]);
	buffer_clear(&written);
	return tap_done();
}
