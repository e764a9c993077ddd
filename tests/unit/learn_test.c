/* learn_test.c - rules from values that a person sees in a log read the other
 * lines of their kind, and refuse what they cannot learn.
 */
#include "controller/results/extract.h"
#include "controller/results/learn.h"
#include "tests/tap.h"

#include <errno.h>
#include <math.h>

#define VALUES(...)                                                            \
	(const char *const[]){ __VA_ARGS__ },                                  \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)

static struct extract_rules *rules;
static struct extract *extract;
static struct error err;

static void forget(void)
{
	extract_free(take(extract));
	extract_rules_free(take(rules));
}

/* Learn from a log, then read `other`; the steps read, -1: none was learnt. */
static int learn(const char *log, const char *other, const char *const *values,
		 size_t count)
{
	owned(buffer_clear) struct buffer yaml = BUFFER_INIT(1 << 20);
	owned(document_free) struct document *document = NULL;
	const struct value *section;
	size_t steps;

	forget();
	if (learn_rules(log, strlen(log), values, count, &yaml, &err) < 0)
		return -1;
	document = document_parse(yaml.data, yaml.size, "proposal", NULL, &err);
	if (!document)
		return -1;
	section = value_get(document_root(document), "log");
	rules = extract_rules_new(&section, 1, &err);
	if (!rules || !(extract = extract_new(rules, &err)))
		return -1;
	extract_feed(extract, other, strlen(other), NULL);
	extract_finish(extract, NULL);
	extract_records(extract, &steps);
	return (int)steps;
}

static const struct record *step_at(size_t place)
{
	static const struct record none;
	size_t count;
	const struct record *records = extract_records(extract, &count);

	return place < count ? &records[place] : &none;
}

static void test_line(void)
{
	static const char log[] =
		"[rank0]: [stroke 1 of 100] split 103.5 ms, drag 2.31, "
		"1,981/s\n"
		"noise 2 of 101.25\n"
		"[rank0]: [stroke 2 of 100] split 101.25 ms, drag 2.29, "
		"2,001/s\n"
		"[rank1]: [stroke 13 of  90] split 9 ms, drag -1.5e-3, 901/s\n"
		"[rank0]: [stroke 14 of 100] split 98.0 ms, drag nan, 99/s\n"
		"[rank0]: [stroke 15 of 100] split 98.0 ms, drag 2.2, 2,03\n";

	is_int(learn(log, log,
		     VALUES("step=2", "iteration_ms=101.25", "loss=2.29",
			    "tokens_per_second=2,001")),
	       4, "a line shows how all whole ones are read %s", err.text);
	ok(step_at(2)->step == 13 && step_at(2)->iteration_ms == 9 &&
		   step_at(2)->loss == -1.5e-3 &&
		   step_at(2)->tokens_per_second == 901,
	   "numbers of other forms too");
	ok(isnan(step_at(3)->loss), "and those that are none");
	is_int(learn(">> round #003 of 9 :: cost~2.2\n",
		     ">> round #003 of 9 :: cost~2.2\n"
		     ">> round #004 of 9 :: cost~2.1\n"
		     ">> round #1005 of 9 :: cost~2.1\n",
		     VALUES("step=3", "loss=2.2")),
	       3, "a whole number may have zeros in front %s", err.text);
	is_int((long long)step_at(2)->step, 1005, "which are not required");
	is_int(learn("step 1003 loss 2.5\n", "", VALUES("step=3")), -1,
	       "a part of a number is none");
}

static void test_lines(void)
{
	static const char log[] = "it's step 7 <a|b>\n"
				  "speed: \xe4\xff 55.5 at\tend 3\n"
				  "it's step 8 <a|b>\n"
				  "speed: \xe4\xff 56.5 at\tend 3\n";

	is_int(learn(log, log, VALUES("samples_per_second=55.5", "step=7")), 2,
	       "values of two lines are two rules");
	ok(step_at(1)->samples_per_second == 56.5, "both of which read");
	is_int(learn("step 3\n", "step 3\nstep 45", VALUES("step=3")), 1,
	       "a number at the end of a line");
}

static void test_refused(void)
{
	static const char log[] = "step 12 loss 2.315 time 31\n";
	const char *many[LEARN_VALUES_MAX + 1];

	ok(learn(log, "", VALUES("loss=2.31")) < 0 && err.code == EINVAL,
	   "a part of a number is no value: %s", err.text);
	ok(learn(log, "", VALUES("step=2")) < 0, "nor is its end");
	ok(learn(log, "", VALUES("step=12", "loss=9")) < 0 &&
		   strstr(err.text, "loss=9"),
	   "a value that is nowhere is named");
	ok(learn(log, "", VALUES("loss")) < 0 &&
		   learn(log, "", VALUES("lo>s=12")) < 0 &&
		   learn(log, "", VALUES("=12")) < 0 &&
		   learn(log, "", VALUES("2x=12")) < 0 &&
		   learn(log, "", VALUES("loss=abc")) < 0,
	   "wrong words are refused");
	for (size_t i = 0; i <= LEARN_VALUES_MAX; i++)
		many[i] = "step=12";
	ok(learn(log, "", many, LEARN_VALUES_MAX + 1) < 0 && err.code == E2BIG,
	   "too many are");
	ok(learn("", "", VALUES("step=12")) < 0, "as is an empty log");
}

int main(void)
{
	tap_begin(60);
	test_line();
	test_lines();
	test_refused();
	forget();
	return tap_done();
}
