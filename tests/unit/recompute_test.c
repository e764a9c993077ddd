/* recompute_test.c - a stored result, and what its log gives now.
 */
#include "controller/results/recompute.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

static const char rules_text[] =
	"read: first\n"
	"rules:\n"
	"  - match: 'step (?<step>\\d+)/(?<steps>\\d+) ms (?<iteration_ms>\\d+)"
	" loss (?<loss>\\S+);'\n";

static struct extract_rules *make_rules(void)
{
	struct error err = { 0 };
	owned(document_free) struct document *document =
		document_parse(rules_text, strlen(rules_text), "f", NULL, &err);
	const struct value *root = document ? document_root(document) : NULL;

	return root ? extract_rules_new(&root, 1, &err) : NULL;
}

static struct extract *read_log(struct extract_rules *rules, int last_ms)
{
	struct extract *extract = extract_new(rules, NULL);
	char line[80];

	for (int i = 1; i <= 10; i++) {
		snprintf(line, sizeof(line), "step %d/10 ms %d loss %d.5;\n", i,
			 i == 10 ? last_ms : 100, 20 - i);
		extract_feed(extract, line, strlen(line), NULL);
	}
	extract_finish(extract, NULL);
	return extract;
}

static const char row_text[] =
	"{\"job\": 3, \"devices\": 4, \"setup\": {\"framework\": \"f\","
	"\"sequence\": 128, \"global_batch\": 8, \"vendor\": \"cpu\","
	"\"layout\": {\"tp\": 1}, \"about\": null}, \"result\": {\"inputs\": "
	"{\"devices\": 2, \"started_ms\": 1000, \"ended_ms\": 4000,"
	"\"peak_flops\": 5}}}";

static double number(const cJSON *result, const char *name)
{
	return cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(result, name));
}

static void test_again(struct extract_rules *rules)
{
	struct error err = { 0 };
	struct measure_spec measure = { 0 };
	struct result_input figures = {
		.flops = { .factor = 6, .parameters = 1e6 }, .peak_flops = 1e11
	};
	cJSON *row = cJSON_Parse(row_text);
	struct extract *extract = read_log(rules, 100);
	cJSON *result, *setup;

	ok(recompute_measure(row, &measure, &err) == 0 &&
		   measure.sequence == 128 && measure.global_batch == 8 &&
		   !strcmp(measure.framework, "f"),
	   "a row's setup says how its log is scaled (%s)", err.text);
	result = recompute_result(row, &measure, extract, &figures, &err);
	ok(number(result, "tokens_per_second") == 10240 &&
		   number(result, "tokens_per_second_per_device") == 5120,
	   "rates over the devices that the result had");
	ok(number(result, "wall_s") == 3, "and its times");
	ok(number(result, "mfu") == 6 * 1e6 * 5120 / 1e11, "over today's peak");
	cJSON_Delete(result);

	cJSON_DeleteItemFromObject(row, "result");
	result = recompute_result(row, &measure, extract, &figures, &err);
	ok(number(result, "tokens_per_second_per_device") == 2560,
	   "without inputs the row's devices count");
	cJSON_Delete(result);
	codec_clear(&measure_spec_schema, &measure);

	setup = cJSON_GetObjectItemCaseSensitive(row, "setup");
	cJSON_ReplaceItemInObjectCaseSensitive(setup, "sequence",
					       cJSON_CreateString("long"));
	ok(recompute_measure(row, &measure, &err) < 0 && err.code == EPROTO,
	   "a setup of another form is refused: %s", err.text);
	cJSON_Delete(row);
	extract_free(extract);
}

/* The reason of one field. */
static char *reason(const cJSON *row, const char *computed, const char *rules,
		    const char *field)
{
	static char text[500];
	cJSON *now = cJSON_Parse(computed), *list = cJSON_CreateArray();
	cJSON *entry = cJSON_CreateObject();
	struct error err;

	cJSON_AddStringToObject(entry, "field", field);
	cJSON_AddItemToArray(list, entry);
	recompute_explain(list, row, now, rules, &err);
	snprintf(text, sizeof(text), "%s",
		 cJSON_GetStringValue(
			 cJSON_GetObjectItemCaseSensitive(entry, "reason")));
	cJSON_Delete(list);
	cJSON_Delete(now);
	return text;
}

static void test_reasons(void)
{
	static const char unknown[] =
		"rules, formulas and chip are the same; the log has changed, "
		"or Regatta reads it differently";
	/* clang-format off */
	static const struct {
		const char *computed, *rules, *field, *reason;
	} cases[] = {
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 5}}", "ab",
		  "mfu", unknown },
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 5}}", "cd",
		  "steps", "log rules (ab, now cd)" },
		{ "{\"formula\": 3, \"inputs\": {\"peak_flops\": 5}}", "ab",
		  "wall_s", "version of the formulas (2, now 3)" },
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 1e15}}", "ab",
		  "mfu", "peak of the chip (5, now 1e+15)" },
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 1e15}}", "ab",
		  "inputs.peak_flops", "peak of the chip (5, now 1e+15)" },
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 1e15}}", "ab",
		  "iteration_ms.median", unknown },
		{ "{\"formula\": 3, \"inputs\": {\"peak_flops\": 6}}", "cd",
		  "mfu", "log rules (ab, now cd); version of the "
		  "formulas (2, now 3); peak of the chip (5, now 6)" },
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 6}}", "cd",
		  "loss.last", "log rules (ab, now cd)" },
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 6}}", "cd",
		  "inputs.peak_flops", "peak of the chip (5, now 6)" },
	};
	/* clang-format on */
	cJSON *row = cJSON_Parse(
		"{\"provenance\": {\"rules\": \"ab\"}, \"result\": "
		"{\"formula\": 2, \"inputs\": {\"peak_flops\": 5}}}");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		is(reason(row, cases[i].computed, cases[i].rules,
			  cases[i].field),
		   cases[i].reason, "%s", cases[i].field);
	cJSON_Delete(row);
}

static const char *in_words(const cJSON *list)
{
	static char text[1000];
	size_t used = 0;
	const cJSON *entry;

	text[0] = 0;
	cJSON_ArrayForEach(entry, list)
	{
		char *stored = cJSON_PrintUnformatted(
			cJSON_GetObjectItemCaseSensitive(entry, "stored"));
		char *computed = cJSON_PrintUnformatted(
			cJSON_GetObjectItemCaseSensitive(entry, "computed"));

		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s:%s>%s ",
			cJSON_GetStringValue(
				cJSON_GetObjectItemCaseSensitive(entry,
								 "field")),
			stored, computed);
		cJSON_free(stored);
		cJSON_free(computed);
	}
	return text;
}

static void differ(const char *stored, const char *computed, const char *want,
		   const char *what)
{
	cJSON *a = cJSON_Parse(stored), *b = cJSON_Parse(computed);
	cJSON *list = recompute_compare(a, b, NULL);

	is(in_words(list), want, "%s", what);
	cJSON_Delete(list);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

static void test_compare(void)
{
	differ("{\"a\": 1, \"b\": {\"c\": [1, 2], \"d\": \"x\"}, \"e\": null}",
	       "{\"b\": {\"d\": \"x\", \"c\": [1, 2]}, \"a\": 1.0000000001}",
	       "", "what is the same is not told");
	differ("{\"a\": 1, \"b\": {\"c\": 2, \"d\": true}}",
	       "{\"a\": 1.000001, \"b\": {\"c\": null, \"d\": false}}",
	       "a:1>1.000001 b.c:2>null b.d:true>false ",
	       "numbers, what became unknown, truths");
	differ("{\"a\": 1, \"b\": {\"x\": 1}}", "{\"c\": [], \"b\": 7}",
	       "c:null>[] b:{\"x\":1}>7 a:1>null ",
	       "what is new, of another kind, or gone");
	differ("{\"flags\": [\"x\"]}", "{\"flags\": [\"x\", \"y\"]}",
	       "flags:[\"x\"]>[\"x\",\"y\"] ", "lists as a whole");
	differ("{\"loss\": {\"last\": \"nan\"}}", "{\"loss\": {\"last\": 2}}",
	       "loss.last:\"nan\">2 ", "words and numbers");
	differ("{\"a\": 0}", "{\"a\": -0.0}", "", "zero is zero");
}

static void test_faults(struct extract_rules *rules)
{
	struct error err = { 0 };
	bool good = true, failed = true;
	cJSON *a = cJSON_Parse("{\"a\": 1, \"b\": [1], \"c\": {\"d\": 1}}");
	cJSON *b = cJSON_Parse("{\"a\": 2, \"b\": [2], \"c\": {\"d\": 2}}");
	long n = 0;

	fault_hook_cjson();
	while (failed && good) {
		cJSON *list;

		fault_arm(++n);
		list = recompute_compare(a, b, &err);
		failed = fault_disarm();
		good = failed ? !list && err.code == ENOMEM : list != NULL;
		cJSON_Delete(list);
	}
	cJSON_InitHooks(NULL);
	ok(good && n > 10, "each of %ld allocations may fail", n - 1);
	cJSON_Delete(a);
	cJSON_Delete(b);
}

int main(void)
{
	struct extract_rules *rules = make_rules();

	tap_begin(10);
	test_again(rules);
	test_reasons();
	test_compare();
	test_faults(rules);
	extract_rules_free(rules);
	return tap_done();
}
