/* remarks_test.c - codes with numbers, and their sentences in two languages.
 */
#include "controller/results/remarks.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* The marks of a sentence in the order of their arguments, each once. */
static void marks_of(const char *sentence, char *marks, size_t size)
{
	*marks = 0;
	for (int c = '0'; c < 'z'; c++)
		for (const char *at = sentence; (at = strchr(at, '{')); at++)
			if (at[1] == c)
				text_append(marks, size, "%.*s",
					    (int)strcspn(at, "}") + 1, at);
}

/* Are the arguments 0 to n - 1, without a gap? */
static bool is_whole(const char *marks)
{
	char number = '0', word = 'a';

	for (const char *at = marks; (at = strchr(at, '{')); at++) {
		if (at[1] == number)
			number++;
		else if (at[1] == word)
			word++;
		else
			return false;
	}
	return number <= '0' + REMARK_NUMBERS_MAX &&
	       word <= 'a' + REMARK_WORDS_MAX;
}

static void test_table(void)
{
	char en[200], zh[200];

	for (int i = 0; i < REMARKS; i++) {
		enum remark_code code = (enum remark_code)i;
		const char *name = remark_code_name(code);
		const char *sentence = remark_pattern(code, LANGUAGE_ZH);
		bool unique = true;

		marks_of(remark_pattern(code, LANGUAGE_EN), en, sizeof(en));
		marks_of(sentence, zh, sizeof(zh));
		is(zh, en, "%s: both languages have the same marks", name);
		for (int k = 0; k < i; k++)
			unique &=
				strcmp(name, remark_code_name(
						     (enum remark_code)k)) != 0;
		ok(is_whole(en) && unique && *sentence &&
			   !strstr(sentence, "...") &&
			   !strstr(remark_pattern(code, LANGUAGE_EN), "..."),
		   "%s: one name, arguments without a gap, no gaps in words",
		   name);
	}
}

struct remarks {
	struct remark *list;
	size_t count;
};

static void sentence_is(const struct remark *remark, enum language language,
			const char *want, const char *what)
{
	char text[REMARK_TEXT_MAX];

	is(remark_sentence(remark, language, text, sizeof(text)), want, "%s",
	   what);
}

static void clear(struct remarks *remarks)
{
	for (size_t i = 0; i < remarks->count; i++)
		codec_clear(&remark_schema, &remarks->list[i]);
	free(remarks->list);
	*remarks = (struct remarks){ 0 };
}

static void add(struct remarks *to, struct remark_said said)
{
	ok(remark_add(&to->list, &to->count, &said, NULL) == 0, "%s",
	   remark_code_name(said.code));
}

static void test_sentences(void)
{
	struct remarks all = { 0 };

	add(&all, (struct remark_said){ .code = REMARK_LOG_ENDS,
					.numbers = { 20, 2e9 } });
	add(&all, (struct remark_said){ .code = REMARK_REPEATS_DIFFER,
					.numbers = { 3, 8.44, 2.5 } });
	add(&all, (struct remark_said){ .code = REMARK_MFU_DIFFERS,
					.numbers = { 51, 40.12, 40.9 } });
	add(&all, (struct remark_said){ .code = REMARK_MFU_DIFFERS,
					.numbers = { 51, 40.12, NAN } });
	add(&all, (struct remark_said){ .code = REMARK_NOT_SAMPLED,
					.numbers = { 3, 12 },
					.words = { "n1" } });
	add(&all, (struct remark_said){ .code = REMARK_LOSS,
					.numbers = { 7, 2 },
					.words = { "nan" } });
	add(&all, (struct remark_said){ .code = REMARK_LINE_UNREAD,
					.words = { "loss {0} [%s]" } });
	sentence_is(&all.list[0], LANGUAGE_EN,
		    "the log ends at step 20 of 2000000000", "whole numbers");
	sentence_is(&all.list[0], LANGUAGE_ZH,
		    "日志止于第 20 步（共 2000000000 步）", "in Chinese");
	sentence_is(&all.list[1], LANGUAGE_EN,
		    "the 3 repeats differ by 8.4 % (coefficient of variation), "
		    "more than 2.5 %",
		    "digits where they are given");
	sentence_is(&all.list[2], LANGUAGE_EN,
		    "the program reports an MFU of 51.0 %, its token rate and "
		    "our formulas give 40.1 to 40.9",
		    "a range");
	sentence_is(&all.list[3], LANGUAGE_ZH,
		    "程序报告 MFU 为 51.0 %，由 token 速率和公式得出 40.1",
		    "no range");
	sentence_is(&all.list[4], LANGUAGE_ZH,
		    "n1：设备 3 有 12.0 s 未被采样，能耗不含这段时间",
		    "words and numbers");
	sentence_is(&all.list[5], LANGUAGE_EN,
		    "the loss is nan at step 7, and not a number at 2 steps in "
		    "total",
		    "a word");
	sentence_is(&all.list[6], LANGUAGE_EN,
		    "no format reads this line of the log: loss {0} [%s]",
		    "marks in a word are no marks");
	sentence_is(&(struct remark){ .text = (char *)"it is {0} here" },
		    LANGUAGE_ZH, "it is {0} here",
		    "a text is the same in every language");
	clear(&all);
}

/* What another version stored. */
static void other_is(const char *json, const char *want, const char *what)
{
	struct remark remark;
	owned(cJSON_Delete) cJSON *object = cJSON_Parse(json);

	ok(codec_from_other(&remark_schema, object, &remark, NULL) == 0,
	   "%s is read", what);
	sentence_is(&remark, LANGUAGE_EN, want, what);
	codec_clear(&remark_schema, &remark);
}

static void test_other(void)
{
	other_is("{\"code\":\"new\",\"numbers\":[1,2.5],\"words\":[\"n1\"]}",
		 "new: 1, 2.5; n1", "an unknown code");
	other_is("{\"code\":\"log-ends\",\"numbers\":[1]}",
		 "the log ends at step 1 of ?", "a number that is missing");
	other_is("{\"text\":\"one step only\"}", "one step only",
		 "an old sentence");
	other_is("{}", "?", "nothing");
}

/* A number keeps its sentence when it has been stored as text. */
static void test_stored(void)
{
	const struct remark_said said = { .code = REMARK_WIDE_SPREAD,
					  .numbers = { 17.950000000000003,
						       123456789012.5, 0 } };
	struct remarks all = { 0 };
	char made[REMARK_TEXT_MAX], read[REMARK_TEXT_MAX];

	add(&all, said);
	for (size_t i = 0; i < 2; i++) {
		double *number = &all.list[0].numbers.items[i];
		char text[32];

		snprintf(text, sizeof(text), "%.15g", *number);
		ok(strtod(text, NULL) == *number, "%s is the number", text);
	}
	remark_sentence(&all.list[0], LANGUAGE_EN, made, sizeof(made));
	all.list[0].numbers.items[0] = 17.95;
	remark_sentence(&all.list[0], LANGUAGE_EN, read, sizeof(read));
	is(read, made, "one sentence, made or read");
	clear(&all);
}

static void test_memory(void)
{
	const struct remark_said said = { .code = REMARK_NOT_SAMPLED,
					  .numbers = { 3, 12 },
					  .words = { "n1" } };
	struct error err = { 0 };
	struct remarks all = { 0 };
	size_t failed = 0;

	for (long n = 1;; n++) {
		fault_arm(n);
		remark_add(&all.list, &all.count, &said, &err);
		if (!fault_disarm() || err.code != ENOMEM || all.count)
			break;
		failed++;
	}
	ok(failed > 3 && all.count == 1,
	   "without memory a list stays as it was");
	clear(&all);
}

int main(void)
{
	tap_begin(0);
	test_table();
	test_sentences();
	test_other();
	test_stored();
	test_memory();
	return tap_done();
}
