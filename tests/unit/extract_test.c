/* extract_test.c - logs to records, however the bytes come.
 */
#include "controller/results/extract.h"
#include "controller/results/rules/literal.h"
#include "controller/results/rules/rule.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <math.h>

/* What the CPU trainer prints. */
static const char cpu_rules[] =
	"read: first\n"
	"rules:\n"
	"  - match: 'step (?<step>\\d+)/(?<steps>\\d+) \\| loss (?<loss>\\S+)"
	" \\| iteration (?<iteration_ms>[\\d.]+) ms"
	" \\| (?<tokens_per_second>[\\d.]+) tokens/s"
	"(?: \\| memory (?<memory_mib>[\\d.]+) MiB)?'\n"
	"  - match: '(?<finished>training finished) \\| steps (?<steps>\\d+)"
	" \\| final loss (?<loss>\\S+)"
	" \\| (?<tokens_per_second>[\\d.]+) tokens/s'\n";

/* A line of fields that each ends in " |", as large trainers print. */
static const char field_rules[] =
	"read: last\n"
	"rules:\n"
	"- match: 'iteration +(?<step>\\d+)/ *(?<steps>\\d+) \\|"
	"(?:[^\\n]*? time per iteration \\(s\\): (?<iteration_s>[\\d.]+) \\|)?"
	"(?:[^\\n]*? lm loss: (?<loss>\\S+) \\|)?'\n"
	"- match: 'max allocated: (?<memory_mib>[\\d.]+) \\|'\n";

static struct extract_rules *rules_of(const char *text, struct error *err)
{
	owned(document_free) struct document *document =
		document_parse(text, strlen(text), "f.yaml", NULL, err);

	const struct value *root = document ? document_root(document) : NULL;

	return root ? extract_rules_new(&root, 1, err) : NULL;
}

/* Feed a text in pieces of `piece` bytes and end it. */
static struct extract *read_text(struct extract_rules *rules, const char *text,
				 size_t size, size_t piece)
{
	struct extract *extract = extract_new(rules, NULL);

	for (size_t at = 0; at < size; at += piece)
		extract_feed(extract, text + at,
			     size - at < piece ? size - at : piece, NULL);
	extract_finish(extract, NULL);
	return extract;
}

/* The records in words: "1:loss=5.5,ms=12 2:..." */
static const char *in_words(const struct extract *extract)
{
	static const struct {
		enum record_field field;
		const char *name;
	} names[] = {
		{ RECORD_LOSS, "loss" },
		{ RECORD_ITERATION_MS, "ms" },
		{ RECORD_TOKENS_PER_SECOND, "tok" },
		{ RECORD_SAMPLES_PER_SECOND, "sam" },
		{ RECORD_MEMORY_MIB, "mib" },
	};
	static char text[4096];
	size_t count, n = 0;
	const struct record *records = extract_records(extract, &count);

	text[0] = 0;
	for (size_t i = 0; i < count && n < sizeof(text) - 200; i++) {
		struct record record = records[i];

		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%llu",
				      i ? " " : "",
				      (unsigned long long)record.step);
		for (size_t f = 0; f < sizeof(names) / sizeof(names[0]); f++)
			if (record_has(&record, names[f].field))
				n += (size_t)
					snprintf(text + n, sizeof(text) - n,
						 ",%s=%g", names[f].name,
						 record_value(&record,
							      names[f].field));
	}
	return text;
}

static void check(struct extract_rules *rules, const char *text, size_t size,
		  const char *want, const char *what)
{
	struct extract *extract = read_text(rules, text, size, size + 1);

	is(in_words(extract), want, "%s", what);
	extract_free(extract);
	extract = read_text(rules, text, size, 1);
	is(in_words(extract), want, "%s (byte by byte)", what);
	extract_free(extract);
}

#define CHECK(rules, text, want, what)                                         \
	check(rules, text, sizeof(text) - 1, want, what)

#define STEP(n, loss)                                                          \
	"step " n "/60 | loss " loss                                           \
	" | iteration 10.5 ms | 800.5 tokens/s | memory 12.3 MiB"
#define GOT(n, loss) n ",loss=" loss ",ms=10.5,tok=800.5,mib=12.3"

static void test_cpu(void)
{
	struct extract_rules *rules = rules_of(cpu_rules, NULL);
	struct extract *extract;
	const struct record *record;
	static const char run[] = "loading\n" STEP("1", "5.5") "\n" STEP(
		"2", "4.5") "\n"
			    "training finished | steps 60 | final loss 2.1234 "
			    "| 8123.4 "
			    "tokens/s\n";

	ok(rules != NULL, "the rules are read");
	ok(extract_rules_finish(rules), "one says that the training is done");
	CHECK(rules, run, GOT("1", "5.5") " " GOT("2", "4.5"),
	      "steps of the CPU trainer");
	extract = read_text(rules, run, sizeof(run) - 1, 7);
	record = extract_summary(extract);
	ok(record->finished && record->steps_total == 60 &&
		   record->loss == 2.1234 &&
		   record->tokens_per_second == 8123.4,
	   "the last line is the summary");
	record = extract_latest(extract);
	ok(record->step == 2 && record->steps_total == 60 &&
		   record->iteration_ms == 10.5 && record->finished,
	   "the last value of each field is at hand");
	extract_free(extract);
	CHECK(rules, "[rank 0] 12:00:01 " STEP("3", "1") " \n", GOT("3", "1"),
	      "text around a metric does no harm");
	CHECK(rules, "step 3/60 | loss 1.0 | iteration 10 ms | 5 tokens/s\n",
	      "3,loss=1,ms=10,tok=5", "a field that may be missing");
	CHECK(rules, STEP("3", "1") STEP("4", "2") "\n",
	      GOT("3", "1") " " GOT("4", "2"), "two records in one line");
	CHECK(rules,
	      STEP("1", "nan") "\n" STEP("2", "-inf") "\n" STEP(
		      "3", "1e-3") "\n" STEP("4",
					     "0x10") "\n" STEP("5",
							       "1.2.3") "\n",
	      "1,loss=nan,ms=10.5,tok=800.5,mib=12.3 "
	      "2,loss=-inf,ms=10.5,tok=800.5,mib=12.3 " GOT(
		      "3", "0.001") " "
				    "4,ms=10.5,tok=800.5,mib=12.3 "
				    "5,ms=10.5,tok=800.5,mib=12.3",
	      "NaN is a value, a broken number is none");
	CHECK(rules, STEP("1", "nan.0") "\n" STEP("2", "nan.05") "\n",
	      "1,loss=nan,ms=10.5,tok=800.5,mib=12.3 "
	      "2,ms=10.5,tok=800.5,mib=12.3",
	      "NaN as a bar of tqdm prints it");
	CHECK(rules, STEP("99999999999999999999", "1") "\n", "",
	      "a step number out of range is none");
	CHECK(rules, "", "", "no bytes");
	extract_rules_free(rules);
}

static void test_bytes(void)
{
	struct extract_rules *rules = rules_of(cpu_rules, NULL);

	CHECK(rules,
	      "\r 10%|#   | 1/9\r" STEP("1", "1") "\r" STEP(
		      "2", "2") "\r\n" STEP("3", "3") "\n\r",
	      GOT("1", "1") " " GOT("2", "2") " " GOT("3", "3"),
	      "CR, LF and CRLF end a record");
	CHECK(rules,
	      "\033[32mste\033[0mp 1\033[1;31m2\033[m/60 | loss \033]0;title"
	      "\a1.5\033]8;;x\033\\ | iteration\033(B 10 ms | 5 tokens/s\n",
	      "12,loss=1.5,ms=10,tok=5", "escape sequences are no part of it");
	CHECK(rules,
	      "\033]no end " STEP("1", "1") "\n\033[\n\033\n" STEP("2",
								   "2") "\n",
	      GOT("1", "1") " " GOT("2", "2"),
	      "an escape sequence without an end eats no record");
	CHECK(rules,
	      "\xff\xfe\0\xc3 " STEP("1", "1") "\0\xe4\n\0\n" STEP("2",
								   "2") "\n",
	      GOT("1", "1") " " GOT("2", "2"),
	      "NUL and invalid UTF-8 are bytes like others");
	CHECK(rules, STEP("1", "1") "\n" STEP("2", "2"), GOT("1", "1"),
	      "a record that is not ended is cut");
	CHECK(rules,
	      STEP("1", "1") "\nstep 2/60 | loss 3 | iteration 1 ms | "
			     "55 tokens/s | mem",
	      GOT("1", "1"), "wherever the cut is");
	extract_rules_free(rules);
}

static void test_columns(void)
{
	struct error err = { 0 };
	struct extract_rules *rules =
		rules_of("columns: ['*acc*', lr]\n"
			 "rules: [{match: '(?<loss>x)'}]\n",
			 &err);

	ok(rules && extract_rules_column(rules, "top1_acc") &&
		   extract_rules_column(rules, "lr"),
	   "metrics that a pattern matches are for tables %s", err.text);
	ok(rules && !extract_rules_column(rules, "lr2"), "others are not");
	extract_rules_free(rules);
	rules = rules_of("rules: [{match: '(?<a>\\d+) (?<b>\\d+)',\n"
			 "  fields: {a: [x, 'acc:percent'], b: "
			 "y}}]\n",
			 &err);
	ok(rules && extract_rules_percent(rules, "acc") &&
		   !extract_rules_percent(rules, "x") &&
		   !extract_rules_percent(rules, "y"),
	   "what a rule puts in percent is known %s", err.text);
	extract_rules_free(rules);
	rules = rules_of(cpu_rules, NULL);
	ok(rules && extract_rules_column(rules, "lr2"),
	   "without patterns all are");
	extract_rules_free(rules);
}

static void test_streams(void)
{
	struct error err = { 0 };
	struct extract_rules *rules =
		rules_of("stream: ['*/rank0.log', notes*]\n"
			 "rules: [{match: '(?<loss>x)'}]\n",
			 &err);

	ok(rules && extract_rules_file(rules, "/a/b/rank0.log") &&
		   extract_rules_file(rules, "notes.txt"),
	   "files that a pattern matches are read %s", err.text);
	ok(rules && !extract_rules_file(rules, "/a/b/rank01.log") &&
		   !extract_rules_file(rules, "/a/notes.txt"),
	   "others are not");
	extract_rules_free(rules);
	rules = rules_of(cpu_rules, NULL);
	ok(rules && !extract_rules_file(rules, "/a/b/rank0.log"),
	   "without patterns none is");
	extract_rules_free(rules);
	ok(!rules_of("stream: []\nrules: [{match: '(?<loss>x)'}]\n", &err) &&
		   strstr(err.text, "f.yaml:1: stream: 0 patterns"),
	   "an empty list is refused: %s", err.text);
	ok(!rules_of("stream: x\nrules: [{match: '(?<loss>x)'}]\n", &err),
	   "and what is no list: %s", err.text);
}

static void test_fields(void)
{
	struct extract_rules *rules = rules_of(field_rules, NULL);

	ok(extract_rules_read(rules) == EXTRACT_LAST,
	   "the rules say which rank is read");
	CHECK(rules,
	      " iteration        1/     100 | samples: 4 | time per iteration "
	      "(s): 1.5 | lm loss: 2.5E+00 | scale: 1.0 |\n"
	      "[rank 3] memory | max allocated: 20045.5 | x |\n"
	      " iteration        2/     100 | samples: 4 | time per iteration "
	      "(s): 1.25 |\n",
	      "1,loss=2.5,ms=1500,mib=20045.5 2,ms=1250",
	      "seconds become milliseconds, a line without a step belongs to "
	      "the step before");
	CHECK(rules, "max allocated: 1.0 | \n", "",
	      "a line without a step before the first belongs to none");
	CHECK(rules,
	      "iteration 7/ 9 | time per iteration (s): 2 | lm loss: 3 |",
	      "7,loss=3,ms=2000", "a tail counts when it closes its field");
	CHECK(rules, "iteration 7/ 9 | time per iteration (s): 2 | lm loss: 3",
	      "", "and not when it does not");
	extract_rules_free(rules);
}

static void test_values(void)
{
	struct extract_rules *rules =
		rules_of("rules:\n"
			 "- match: '^n (?<step>\\S+) loss (?<loss>\\S+)"
			 "(?: pace (?<t>[^|]+))?(?: rate (?<r>[^|]+))?(?: si "
			 "(?<s>[^|]+))?"
			 "(?: kt (?<k>[^|]+))? \\|'\n"
			 "  fields: {t: \"iteration_s:pace\", r: "
			 "steps_per_second, "
			 "s: \"tokens_per_second:si\", k: "
			 "\"samples_per_second:thousand\"}\n",
			 NULL);

	CHECK(rules, "n 1,216 loss 10,050.5 |\n", "1216,loss=10050.5",
	      "commas between thousands");
	CHECK(rules,
	      "n 1 loss 10,05 |\nn 2 loss 1234,567 |\nn 3 loss ,100 |\n"
	      "n 4 loss 1,2345 |\n",
	      "1 2 3 4", "and no others");
	CHECK(rules,
	      "n 1 loss 1 pace 8.5s/it |\nn 2 loss 1 pace 4it/s |\n"
	      "n 3 loss 1 pace 500us/step |\nn 4 loss 1 pace 30 ms |\n"
	      "n 5 loss 1 pace 2m |\n",
	      "1,loss=1,ms=8500 2,loss=1,ms=250 3,loss=1,ms=0.5 4,loss=1,ms=30 "
	      "5,loss=1,ms=120000",
	      "a pace in seconds, whichever way it is printed");
	CHECK(rules,
	      "n 1 loss 1 pace ?it/s |\nn 2 loss 1 pace 0it/s |\n"
	      "n 3 loss 1 pace 5 parsecs |\nn 4 loss 1 pace /s |\n",
	      "1,loss=1 2,loss=1 3,loss=1 4,loss=1", "or none");
	CHECK(rules, "n 1 loss 1 rate 4 |\nn 2 loss 1 rate 0 |\n",
	      "1,loss=1,ms=250 2,loss=1", "a rate of steps is a step time");
	CHECK(rules,
	      "n 1 loss 1 si 1.5k |\nn 2 loss 1 si 2M |\nn 3 loss 1 si 2x |\n",
	      "1,loss=1,tok=1500 2,loss=1,tok=2e+06 3,loss=1",
	      "decimal suffixes");
	CHECK(rules, "n 1 loss 1 kt 2.5 |\n", "1,loss=1,sam=2500",
	      "in thousands");
	CHECK(rules,
	      "[rank3]:n 1 loss 1 |\n[default0]:n 2 loss 1 |\n 12: n 3 loss 1 "
	      "|\n"
	      "[1,0]<stdout>:n 4 loss 1 |\n(Actor pid=7, ip=192.0.2.1) x\n"
	      "0: [rank0]:n 5 loss 1 |\n[rank1] n 6 loss 1 |\n",
	      "1,loss=1 2,loss=1 3,loss=1 4,loss=1 5,loss=1 6,loss=1",
	      "labels of launchers are left out");
	CHECK(rules,
	      "[rank]:n 1 loss 1 |\n[rankx]:n 2 loss 1 |\n[1]:n 3 loss 1 |\n"
	      "12:n 4 loss 1 |\n1234567: n 5 loss 1 |\n: n 6 loss 1 |\n"
	      "[rank1]n 7 loss 1 |\n[1,0]<std\n[1,\n[rank\n(\n",
	      "", "and nothing else");
	extract_rules_free(rules);
}

/* Steps that the log does not number, or numbers anew. */
static void test_numbers(void)
{
	struct extract_rules *rules =
		rules_of("rules:\n"
			 "- match: 'ep (?<e>\\d+) (?<step>\\d+)/(?<m>\\d+) "
			 "(?<loss>\\S+) \\|'\n"
			 "  epoch: e\n  epoch_steps: m\n  epoch_from: 1\n"
			 "- match: 'seen (?<s>\\S+) (?<loss>\\S+) \\|'\n"
			 "  samples: s\n"
			 "- match: 'clock (?<step>\\d+) (?<c>\\S+) \\|'\n"
			 "  elapsed: c\n"
			 "- match: 'took (?<step>\\d+) (?<i>[\\d.]+)(?: "
			 "(?<steps_per_second>\\S+))? \\|'\n"
			 "  interval: i\n",
			 NULL);

	CHECK(rules, "ep 1 5/10 3 |\nep 2 5/10 2 |\nep 3 0/10 1 |\n",
	      "5,loss=3 15,loss=2 20,loss=1", "epochs of a known length");
	CHECK(rules, "seen 64 3 |\nseen 640 2 |\nseen 650 1 |\nseen 0 1 |\n",
	      "0,loss=3 9,loss=2", "samples are whole batches or no step");
	CHECK(rules, "clock 1 10 |\nclock 3 14 |\nclock 4 1 |\nclock 5 1.5 |\n",
	      "1 3,ms=2000 4 5,ms=500", "a clock that began anew says nothing");
	CHECK(rules, "took 10 20 |\ntook 20 20 |\ntook 30 1.5 6.7 |\n",
	      "10 20,ms=2000 30,ms=150", "an interval is divided by its steps");
	CHECK(rules, "took 1 2 |\n", "1,ms=2000", "which of step 1 is one");
	extract_rules_free(rules);
}

static void test_steps(void)
{
	struct extract_rules *rules = rules_of(cpu_rules, NULL);
	struct extract *a, *b;

	CHECK(rules,
	      STEP("1", "1") "\n" STEP("1",
				       "1") "\n" STEP("2",
						      "2") "\n" STEP("2",
								     "2") "\n",
	      GOT("1", "1") " " GOT("2", "2"),
	      "a step that several ranks print counts once");
	CHECK(rules,
	      STEP("1", "1") "\n" STEP("2", "2") "\n" STEP("3", "3") "\n" STEP(
		      "2", "2.5") "\n" STEP("3", "3.5") "\n" STEP("4",
								  "4") "\n",
	      GOT("1", "1") " " GOT("2", "2.5") " " GOT("3",
							"3.5") " " GOT("4",
								       "4"),
	      "after a restart the last attempt of a step counts");
	CHECK(rules,
	      STEP("9", "9") "\n" STEP("5", "5") "\n" STEP("7", "7") "\n",
	      GOT("5", "5") " " GOT("7", "7") " " GOT("9", "9"),
	      "steps come by number");
	a = read_text(rules, STEP("1", "1") "\n" STEP("3", "3") "\n",
		      sizeof(STEP("1", "1") "\n" STEP("3", "3") "\n") - 1, 9);
	b = read_text(rules, STEP("1", "8") "\n" STEP("2", "2") "\n",
		      sizeof(STEP("1", "8") "\n" STEP("2", "2") "\n") - 1, 9);
	ok(extract_merge(a, b, NULL) == 0, "two streams are merged");
	is(in_words(a), GOT("1", "1") " " GOT("2", "2") " " GOT("3", "3"),
	   "each step is there once");
	extract_free(a);
	extract_free(b);
	extract_rules_free(rules);
}

#define BAR(n, total, clock, pace)                                             \
	"\r 1%|#| " n "/" total " [" clock "<09:00, " pace "]\r"

/* Losses without a time, beside bars that have one. */
static void test_bars(void)
{
	static const char resumed[] =
		BAR("501", "900", "00:30",
		    "16.7it/s") "loss 9\n" BAR("502", "900", "00:31",
					       "15.0it/s") "loss 3\n";
	static const char usual[] =
		BAR("10", "90", "00:20",
		    "2.0s/it") "loss 3\n" BAR("20", "90", "00:40",
					      "2.0s/it") "loss 2\n";
	struct extract *one, *other;
	const struct record *records;
	size_t count;
	struct extract_rules *rules =
		rules_of("rules:\n"
			 "- match: '\\| (?<step>\\d+)/(?<steps>\\d+) "
			 "\\[(?<c>[\\d:]+)<\\S+ (?<t>[^\\]]+)'\n"
			 "  progress: true\n"
			 "  elapsed: clock\n"
			 "  fields: {c: \"clock:clock\", t: "
			 "\"iteration_s:pace\"}\n"
			 "- match: '^loss (?<loss>\\S+)'\n",
			 NULL);

	CHECK(rules,
	      BAR("10", "90", "00:20",
		  "2.0s/it") "loss 3\n" BAR("20", "90", "00:40",
					    "2.0s/it") "loss 2\n" BAR("20",
								      "90",
								      "00:40",
								      "2.0s/it")
		      BAR("30", "90", "01:00", "1.9s/it") "loss 1\n",
	      "10,loss=3 20,loss=2,ms=2000 30,loss=1,ms=1900",
	      "the pace of the bar before a loss is that of its step");
	CHECK(rules,
	      BAR("501", "900", "00:30", "16.7it/s") "loss 9\n" BAR(
		      "510", "900", "00:39",
		      "5.0it/s") "loss 3\n" BAR("520", "900", "00:49",
						"1.25it/s") "loss 2\n",
	      "501,loss=9 510,loss=3 520,loss=2,ms=800",
	      "but not after the jump of a run that was resumed");
	CHECK(rules,
	      BAR("10", "90", "00:20",
		  "2.0s/it") "loss 3\n" BAR("7", "7", "00:01", "9.0it/s")
		      BAR("20", "90", "01:59",
			  "2.0s/it") "loss 2\n" BAR("30", "90", "02:19",
						    "2.0s/it") "loss 1\n",
	      "10,loss=3 20,loss=2 30,loss=1",
	      "nor where something else took longer than the steps");
	CHECK(rules,
	      BAR("10", "90", "00:01",
		  "20it/s") "loss 3\n" BAR("20", "90", "00:02",
					   "20it/s") "loss 2\n",
	      "10,loss=3 20,loss=2", "nor within a few seconds");
	one = read_text(rules, resumed, sizeof(resumed) - 1, 99);
	ok(!record_has(extract_latest(one), RECORD_ITERATION_MS),
	   "such a pace is not displayed either");
	extract_free(one);
	one = extract_new(rules, NULL);
	other = read_text(rules, usual, sizeof(usual) - 1, 99);
	ok(extract_latest(other)->iteration_ms == 2000,
	   "one that is borne out is");
	extract_merge(one, other, NULL);
	records = extract_records(one, &count);
	ok(count == 2 && records[1].by_bar,
	   "a time of another rank is still that of a bar");
	extract_free(other);
	extract_free(one);
	extract_rules_free(rules);
}

/* What the end of a file that lacks its last line end tells. */
static void test_file_end(const char *text, const char *want, bool open)
{
	owned(extract_rules_free) struct extract_rules *rules =
		rules_of("rules:\n"
			 "- match: '^(?:n (?<step>\\d+) )?loss (?<loss>[\\d.]+)"
			 "(?: n (?<n>\\d+))?'\n"
			 "  fields: {n: step}\n",
			 NULL);
	owned(extract_free) struct extract *extract = extract_new(rules, NULL);
	size_t count;

	extract_feed(extract, text, strlen(text), NULL);
	extract_file_ends(extract);
	extract_finish(extract, NULL);
	is(in_words(extract), want, "the last line of a file: %s", text);
	extract_remarks(extract, &count);
	is_int((long long)count, open, "%s be cut", open ? "it may" : "not to");
}

static void test_file_ends(void)
{
	test_file_end("n 1 loss 2.50\nn 2 loss 2.25", "1,loss=2.5 2,loss=2.25",
		      false);
	test_file_end("n 9 loss 12.50\nn 10 loss 9.25 ",
		      "9,loss=12.5 10,loss=9.25", false);
	test_file_end("n 1 loss 2.50\nn 2 loss 2.2", "1,loss=2.5 2,loss=2.2",
		      true);
	test_file_end("n 2 loss 2.25", "2,loss=2.25", true);
	test_file_end("loss 2.5 n 11\nloss 2.5 n 1", "1,loss=2.5 11,loss=2.5",
		      true);
}

/* Steps 1 to 40, and some again. */
static enum remark_code remark_behind(unsigned from, unsigned to, size_t *count)
{
	owned(extract_rules_free) struct extract_rules *rules =
		rules_of(cpu_rules, NULL);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 16);
	owned(extract_free) struct extract *extract = NULL;

	for (unsigned i = 1; i <= 40 + (to + 1 - from); i++) {
		char line[160];
		unsigned step = i <= 40 ? i : from + i - 41;
		int size = snprintf(line, sizeof(line), STEP("%u", "%u") "\n",
				    step, i);

		buffer_append(&text, line, (size_t)size, NULL);
	}
	extract = read_text(rules, text.data, text.size, text.size);
	extract_records(extract, count);
	return extract_steps_remark(extract);
}

/* A run that begins anew prints each fifth step, the one before each second. */
static void test_run_in_other_steps(void)
{
	owned(extract_rules_free) struct extract_rules *rules =
		rules_of(cpu_rules, NULL);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 16);
	owned(extract_free) struct extract *extract = NULL;
	const struct record *records;
	size_t count;

	for (unsigned i = 2; i <= 120; i += 2)
		buffer_printf(&text, NULL, STEP("%u", "9") "\n", i);
	for (unsigned i = 5; i <= 60; i += 5)
		buffer_printf(&text, NULL, STEP("%u", "2") "\n", i);
	extract = read_text(rules, text.data, text.size, 99);
	records = extract_records(extract, &count);
	ok(count == 12 && records[0].step == 5,
	   "nothing is left of a run before one that begins anew (%zu)", count);
	extract_free(take(extract));
	for (unsigned i = 65; i <= 150; i += 5)
		buffer_printf(&text, NULL, STEP("%u", "2") "\n", i);
	extract = read_text(rules, text.data, text.size, 99);
	records = extract_records(extract, &count);
	ok(count == 30 && records[0].step == 5,
	   "nor if that one goes on behind it (%zu)", count);
	is_int(extract_steps_remark(extract), REMARK_RUNS_MIXED,
	       "which is told");
}

static void test_runs(void)
{
	owned(extract_rules_free) struct extract_rules *rules =
		rules_of(cpu_rules, NULL);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(1 << 16);
	owned(extract_free) struct extract *extract = NULL;
	const struct record *records;
	size_t count;

	is_int(remark_behind(1, 20, &count), REMARK_RUNS_MIXED,
	       "a second run that ends earlier is told of");
	is_int((long long)count, 20, "and its steps are taken");
	is_int(remark_behind(11, 30, &count), REMARK_RUNS_MIXED,
	       "so is one that goes on from a step of the first");
	is_int((long long)count, 30, "and the steps before that stay");
	is_int(remark_behind(1, 40, &count), REMARKS,
	       "one that replaces all is not");
	is_int(remark_behind(21, 50, &count), REMARKS, "nor one that goes on");
	is_int(remark_behind(36, 39, &count), REMARKS,
	       "nor a rank that is late");
	is_int((long long)count, 40, "whose steps are no run");
	is_int(remark_behind(1, 1, &count), REMARK_RUNS_MIXED,
	       "one that has only begun is told of");
	is_int((long long)count, 40, "but the steps of the first stay");
	for (unsigned i = 1; i <= 40; i++)
		buffer_printf(&text, NULL, STEP("%u", "9") "\n", i);
	buffer_printf(&text, NULL,
		      "training finished | steps 60 | final loss 9 | 9 "
		      "tokens/s\n");
	for (unsigned i = 1; i <= 21; i += 2)
		buffer_printf(&text, NULL, STEP("%u", "2") "\n", i);
	extract = read_text(rules, text.data, text.size, 99);
	records = extract_records(extract, &count);
	ok(count == 11 && records[10].step == 21 && records[10].loss == 2,
	   "steps that only the first run printed are left out (%zu)", count);
	ok(!extract_summary(extract)->has, "and so is its end");
	test_run_in_other_steps();
}

static void test_long(void)
{
	struct extract_rules *rules = rules_of(cpu_rules, NULL);
	size_t size = (size_t)3 * EXTRACT_LINE_MAX;
	char *text = malloc(size);
	struct extract *extract;
	static const size_t pieces[] = { 1u << 30, 4096, 65536, 65537 };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		memset(text, 'x', size);
		memcpy(text, STEP("1", "1"), sizeof(STEP("1", "1")) - 1);
		text[EXTRACT_LINE_MAX] = '\n';
		memcpy(text + (size_t)2 * EXTRACT_LINE_MAX + 1, STEP("2", "2"),
		       sizeof(STEP("2", "2")) - 1);
		text[2 * EXTRACT_LINE_MAX + 2 + 1000] = '\n';
		memcpy(text + size - 100, "\n" STEP("3", "3") "\n",
		       sizeof("\n" STEP("3", "3") "\n") - 1);
		extract = read_text(rules, text, size, pieces[i]);
		is(in_words(extract), GOT("1", "1") " " GOT("3", "3"),
		   "a line of the limit is read, a longer one dropped (%zu)",
		   pieces[i]);
		is_int((long long)extract_losses(extract)->long_lines, 1,
		       "and counted");
		extract_free(extract);
	}
	free(text);
	extract_rules_free(rules);
}

static void refuse(const char *text, const char *want, const char *what)
{
	struct error err = { 0 };
	struct extract_rules *rules = rules_of(text, &err);

	ok(!rules && strstr(err.text, want), "%s is refused: %s", what,
	   err.text);
	extract_rules_free(rules);
}

static void test_refusals(void)
{
	refuse("rules:\n- match: 'loss (?<loss>[0-9'\n",
	       "f.yaml:2: ", "a broken expression");
	refuse("rules:\n- match: 'loss (?<loss>[0-9'\n",
	       "after character 17: ", "and PCRE2 says where");
	refuse("rules:\n- match: 'x (.)'\n", "missing named group",
	       "an expression that catches nothing");
	refuse("rules:\n- match: '(*UTF)x (?<loss>.)'\n", "f.yaml:2",
	       "an expression over characters instead of bytes");
	refuse("rules: []\n", "expected 1 to", "an empty list");
	refuse("read: some\nrules:\n- match: '(?<loss>.)'\n", "f.yaml:1",
	       "an unknown word for the ranks");
	refuse("read: all\n", "rules", "a description without rules");
	refuse("rules:\n- mach: x\n", "f.yaml:2", "an unknown key");
	refuse("rules:\n- {}\n", "match", "a rule without an expression");
	refuse("rules: 5\n", "f.yaml:1", "a number for a list");
	refuse("- 5\n", "f.yaml:1", "a list for a map");
}

/* An expression that backtracks without end must cost little. */
static void test_costly(void)
{
	struct extract_rules *rules =
		rules_of("rules:\n- match: '(?:(?:x+)+)+y(?<loss>\\d)'\n"
			 "- match: '(?<step>\\d+):z'\n",
			 NULL);
	struct extract *extract;
	char text[64];

	memset(text, 'x', sizeof(text));
	snprintf(text + 50, sizeof(text) - 50, "y 7:z\n");
	extract = read_text(rules, text, strlen(text), 99);
	is(in_words(extract), "7", "a rule that gives up leaves the others");
	is_int((long long)extract_losses(extract)->match_limits, 1,
	       "and is counted");
	extract_free(extract);
	extract_rules_free(rules);
}

/* Each step of a log that counts down comes before all others. */
/* Two thousand lines that take more than a millisecond each. */
static void test_stranger(void)
{
	struct extract_rules *rules =
		rules_of("rules:\n- match: 'step=(?<step>\\d+) (?:a|a|a)*!N'\n",
			 NULL);
	char text[2000 * 32 + 1];
	struct extract *extract;
	const struct remark *remarks;
	size_t count = 0, used = 0;

	for (int i = 0; i < 2000; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "step=%04d aaaaaaaaaaaaaaaa !N\n", i);
	extract_rules_limit(rules);
	extract = read_text(rules, text, used, used);
	remarks = extract_remarks(extract, &count);
	ok(extract_rules_given_up(rules) && count == 1 &&
		   !strcmp(remarks[0].code, "rules-slow") &&
		   extract_losses(extract)->match_limits < 1500,
	   "a stranger's costly rules are given up, with a remark");
	extract_free(extract);
	extract_rules_free(rules);
}

static void test_counting_down(void)
{
	enum { STEPS = 40000 };
	struct extract_rules *rules =
		rules_of("rules:\n- match: '(?<step>\\d+):z'\n", NULL);
	struct extract *extract;
	char *text = malloc((size_t)STEPS * 16);
	size_t size = 0, count;

	for (int i = STEPS; i > 0; i--)
		size += (size_t)snprintf(text + size, 16, "%d:z\n", i);
	extract = read_text(rules, text, size, 65536);
	extract_records(extract, &count);
	ok(count > 10000 && count < STEPS &&
		   extract_losses(extract)->steps == STEPS - count,
	   "steps that count down for ever are not all put in order: %zu",
	   count);
	extract_free(extract);
	extract_rules_free(rules);
	free(text);
}

/* Steps 1, 3, 5, ..., each in two lines, the time of all steps since the line
 * before in the second.
 */
static void test_many(void)
{
	enum { STEPS = 3 * EXTRACT_RECORDS_MAX, LINE = 48, PEAK = 70001 };
	struct extract_rules *rules =
		rules_of("rules:\n- match: '(?<step>\\d+) m "
			 "(?<memory_mib>\\d+)'\n"
			 "- match: '(?<step>\\d+) took (?<s>\\d+)'\n"
			 "  interval: s\n",
			 NULL);
	struct extract *extract;
	char *text = malloc((size_t)STEPS * LINE);
	const struct record *records;
	size_t size = 0, count, wrong = 0, even = 0;
	double peak = 0;

	for (int i = 1; i < 2 * STEPS; i += 2)
		size += (size_t)snprintf(text + size, LINE,
					 "%d m %d\n%d took 4\n", i,
					 i == PEAK ? 99 : 10, i);
	extract = read_text(rules, text, size, 65536);
	records = extract_records(extract, &count);
	ok(count > EXTRACT_RECORDS_MAX / 4 && count <= EXTRACT_RECORDS_MAX,
	   "of more steps than are kept, a share is: %zu", count);
	is_int(records[0].step, 1, "the first");
	is_int(records[count - 1].step, 2 * STEPS - 1, "the last");
	for (size_t i = 0; i < count; i++) {
		wrong += i && records[i].iteration_ms != 2000;
		even += i > 1 && i + 1 < count &&
			records[i].step - records[i - 1].step !=
				records[1].step - records[0].step;
		peak = fmax(peak, records[i].memory_mib);
	}
	is_int((long long)wrong, 0, "an interval begins at the step before");
	is_int((long long)even, 0, "they are evenly spaced");
	is_int((long long)peak, 99, "the peak of memory is not lost");
	extract_remarks(extract, &count);
	is_int((long long)count, 1, "and it is said");
	extract_free(extract);
	extract_rules_free(rules);
	free(text);
}

static void test_literals(void)
{
	static const struct {
		const char *expression;
		const char *literal;
	} cases[] = {
		{ "loss: (?<loss>\\S+)", "loss: " },
		{ "a (?<step>\\d+) \\| tokens/s \\|", " | tokens/s |" },
		{ "abc|defg", "" },
		{ "abc(d|e)fghi", "fghi" },
		{ "abcd?e", "abc" },
		{ "abcd*ef", "abc" },
		{ "ab+cde", "cde" },
		{ "abc{2,3}x", "ab" },
		{ "(?i)loss", "" },
		{ "x(?i:loss)", "" },
		{ "loss[abc]xy", "loss" },
		{ "lo[]a]ssx", "ssx" },
		{ "lo[^]\\]a]ssx", "ssx" },
		{ "(a(b\\)c)d)long", "long" },
		{ "(?<loss>[)(])long", "long" },
		{ "\\Qab|c\\E", "" },
		{ "ab\\x41cde", "" },
		{ "a.bc$", "bc" },
		{ "(abc)?", "" },
		{ "(?#c)abc", "" },
		{ "\\bstep\\s", "step" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char literal[64];

		literal_find(cases[i].expression, literal);
		is(literal, cases[i].literal, "what every match of %s holds",
		   cases[i].expression);
	}
}

/* Of the alternatives of a group, each match has one. */
static void test_either(void)
{
	static const struct {
		const char *expression;
		const char *first;
		size_t least;
	} cases[] = {
		{ "a: .*(?:pear|plum x)", "pear", 4 },
		{ "(?<name>pear|plum) (?:as|as not)", "pear", 4 },
		{ "(?:pear|)", "", 0 },
		{ "(?:pear|plum)?", "", 0 },
		{ "(?:pear|plum)*x", "", 0 },
		{ "(?:pear|plum){0,2}x", "", 0 },
		{ "(?:pear|plum)+x", "pear", 4 },
		{ "(?!pear|plum)x", "", 0 },
		{ "(?<!pear|plum)x", "", 0 },
		{ "(?:p(?:ear|lum)|fig)", "p", 1 },
		{ "(?:pea\\||[|)]plum)", "pea|", 4 },
		{ "(?:pear|\\d+)", "", 0 },
		{ "pear|(?:plum|fig)", "", 0 },
		{ "pear", "", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char texts[LITERAL_EXPRESSION_MAX + 2];

		is_int(literals_either(cases[i].expression, texts),
		       cases[i].least, "%s: its shortest text",
		       cases[i].expression);
		is(texts, cases[i].first, "%s: the first text",
		   cases[i].expression);
	}
}

/* Texts of all rules are looked for at once, whatever stands in them; "a|(\\E"
 * stands in another one.
 */
static void test_search(void)
{
	static const char rules_text[] =
		"read: first\n"
		"rules:\n"
		"- {contains: ['a|(\\E'],"
		" match: 'a\\|\\(\\\\E (?<step>\\d+) loss (?<loss>\\S+)'}\n"
		"- {contains: ['=a|(\\E*'],"
		" match: '=a\\|\\(\\\\E\\* (?<step>\\d+) x (?<loss>\\S+)'}\n"
		"- {contains: ['[.]+^$?', '\xc3\xa9p\xc3\xa9'],"
		" match: '(?:\\Q[.]+^$?\\E|\xc3\xa9p\xc3\xa9) (?<step>\\d+) y "
		"(?<loss>\\S+)'}\n";
	static const char log[] = "nothing\na|(\\E 1 loss 1\n"
				  "a (E\n=a|(\\E* 2 x 2\n[.]+^$? 3 y 3\n"
				  "\xc3\xa9p\xc3\xa9 4 y 4\nthe end\n";
	struct error err = { 0 };
	owned(extract_rules_free) struct extract_rules *rules =
		rules_of(rules_text, &err);

	if (!ok(rules && rules->literals,
		"texts of signs may be looked for: %s", err.text))
		return;
	check(rules, log, sizeof(log) - 1,
	      "1,loss=1 2,loss=2 3,loss=3 4,loss=4",
	      "texts of any rule are found, in one search");
}

static void test_no_memory(void)
{
	static const char two[] = STEP("1", "1") "\nstep 2";
	owned(document_free) struct document *document =
		document_parse(cpu_rules, strlen(cpu_rules), "f.yaml", NULL,
			       NULL);
	const struct value *root = document_root(document);
	bool good = true, failed = true;
	long n = 0;

	while (failed && good) {
		struct error err = { 0 };
		struct extract_rules *rules;
		struct extract *extract = NULL;
		int rc = -1;

		fault_arm(++n);
		rules = extract_rules_new(&root, 1, &err);
		if (rules)
			extract = extract_new(rules, &err);
		if (extract)
			rc = extract_feed(extract, two, sizeof(two) - 1,
					  &err) ||
			     extract_finish(extract, &err);
		failed = fault_disarm();
		good = failed ? rc && err.code == ENOMEM : rc == 0;
		extract_free(extract);
		extract_rules_free(rules);
	}
	ok(good && n > 5, "each of %ld allocations may fail", n - 1);
}

static void test_life(void)
{
	static const char text[] = "rules:\n"
				   "- match: 'step (?<step>\\d+)'\n"
				   "- match: '^saved'\n"
				   "  life: true\n"
				   "- match: 'eval (?<score>\\d+)'\n"
				   "  summary: true\n";
	static const char log[] = "step 1\nwaiting\nsaved a\nsaved b\n"
				  "eval 3\nwaiting\nstep 2\n";
	owned(extract_rules_free) struct extract_rules *rules =
		rules_of(text, NULL);
	owned(extract_rules_free) struct extract_rules *plain =
		rules_of(cpu_rules, NULL);
	struct extract *extract =
		read_text(rules, log, strlen(log), strlen(log));
	size_t count;

	ok(extract_rules_life(rules) && !extract_rules_life(plain),
	   "rules may say what life is");
	is_int((long long)extract_lives(extract), 5,
	       "figures are, and what such rules match");
	extract_records(extract, &count);
	is_int((long long)count, 2, "which is no step");
	extract_free(extract);
}

int main(void)
{
	tap_begin(60);
	test_cpu();
	test_bytes();
	test_columns();
	test_streams();
	test_runs();
	test_bars();
	test_file_ends();
	test_fields();
	test_values();
	test_numbers();
	test_steps();
	test_long();
	test_refusals();
	test_costly();
	test_stranger();
	test_counting_down();
	test_many();
	test_literals();
	test_either();
	test_search();
	test_life();
	test_no_memory();
	return tap_done();
}
