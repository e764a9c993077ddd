/* recompute_test.c - a stored result, and what its log gives now.
 */
#include "controller/results/recompute.h"
#include "protocol/message/json_get.h"
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

static void test_again(struct extract_rules *rules)
{
	static const struct result_inputs today = {
		.flops = { .factor = 6, .parameters = 1e6 }, .peak_flops = 1e11
	};
	struct error err = { 0 };
	struct result_info row;
	struct extract *extract = read_log(rules, 100);
	struct result result = { 0 };

	ok(codec_decode_other(&result_info_schema, row_text, strlen(row_text),
			      &row, &err) == 0 &&
		   recompute_result(&row, extract, &today, &result, &err) == 0,
	   "a row's setup says how its log is scaled (%s)", err.text);
	ok(result.tokens_per_second == 10240 &&
		   result.tokens_per_second_per_device == 5120,
	   "rates over the devices that the result had");
	ok(result.wall_s == 3, "and its times");
	ok(result.mfu == 6 * 1e6 * 5120 / 1e11, "over today's peak");
	result_clear(&result);

	row.result->inputs.devices = 0;
	recompute_result(&row, extract, &today, &result, &err);
	ok(result.tokens_per_second_per_device == 2560,
	   "without inputs the row's devices count");
	result_clear(&result);
	codec_clear(&result_info_schema, &row);
	extract_free(extract);
}

/* The differences of two results; the row's rules are "ab". */
static cJSON *differences(const char *stored, const char *computed,
			  const char *rules, struct error *err)
{
	struct provenance origin = { .rules = (char *)"ab" };
	struct result then, now;
	struct result_info row = { .result = &then, .provenance = &origin };
	cJSON *list;

	codec_decode_other(&result_schema, stored, strlen(stored), &then, NULL);
	codec_decode_other(&result_schema, computed, strlen(computed), &now,
			   NULL);
	list = recompute_compare(&row, &now, rules, err);
	result_clear(&then);
	result_clear(&now);
	return list;
}

static void reason_is(const char *computed, const char *rules,
		      const char *field, const char *want)
{
	cJSON *list =
		differences("{\"formula\": 2, \"inputs\": {\"peak_flops\": 5}}",
			    computed, rules, NULL);
	const char *reason = "no such field";
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list)
		if (!strcmp(json_get_text(entry, "field"), field))
			reason = json_get_text(entry, "reason");
	is(reason, want, "%s", field);
	cJSON_Delete(list);
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
		{ "{\"formula\": 2, \"mfu\": 1, \"inputs\": {\"peak_flops\": 5}}",
		  "ab", "mfu",
		  unknown },
		{ "{\"formula\": 2, \"steps\": 1, \"inputs\": {\"peak_flops\": 5}}",
		  "cd", "steps",
		  "log rules (ab, now cd)" },
		{ "{\"formula\": 3, \"wall_s\": 1, \"inputs\": {\"peak_flops\": 5}}",
		  "ab", "wall_s",
		  "version of the formulas (2, now 3)" },
		{ "{\"formula\": 2, \"mfu\": 1, \"inputs\": {\"peak_flops\": 1e15}}",
		  "ab", "mfu",
		  "peak of the chip (5, now 1e+15)" },
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 1e15}}",
		  "ab", "inputs.peak_flops",
		  "peak of the chip (5, now 1e+15)" },
		{ "{\"formula\": 2, \"joules_per_token\": 2, \"inputs\": {\"peak_flops\": 1e15}}",
		  "ab", "joules_per_token",
		  unknown },
		{ "{\"formula\": 3, \"mfu\": 1, \"inputs\": {\"peak_flops\": 6}}",
		  "cd", "mfu",
		  "log rules (ab, now cd); version of the "
		  "formulas (2, now 3); peak of the chip (5, now 6)" },
		{ "{\"formula\": 2, \"samples_per_second\": 1, \"inputs\": {\"peak_flops\": 6}}",
		  "cd", "samples_per_second",
		  "log rules (ab, now cd)" },
		{ "{\"formula\": 2, \"inputs\": {\"peak_flops\": 6}}",
		  "cd", "inputs.peak_flops",
		  "peak of the chip (5, now 6)" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		reason_is(cases[i].computed, cases[i].rules, cases[i].field,
			  cases[i].reason);
}

static const char *in_words(const cJSON *list)
{
	static char text[1000];
	size_t used = 0;
	const cJSON *entry;

	text[0] = 0;
	cJSON_ArrayForEach(entry, list) {
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
	cJSON *list = differences(stored, computed, "ab", NULL);

	is(in_words(list), want, "%s", what);
	cJSON_Delete(list);
}

static void test_compare(void)
{
	differ("{\"steps\": 1, \"loss\": {\"first\": 1, \"last\": \"nan\"},"
	       "\"source\": \"x\", \"mfu\": null}",
	       "{\"source\": \"x\", \"loss\": {\"first\": 1,"
	       "\"last\": \"nan\"}, \"steps\": 1.0000000001}",
	       "", "what is the same is not told");
	differ("{\"steps\": 1, \"measured\": true, \"complete\": true,"
	       "\"iteration_ms\": {\"median\": 2}}",
	       "{\"steps\": 1.000001, \"iteration_ms\": {\"median\": null}}",
	       "measured:true>false steps:1>1.000001 complete:true>null "
	       "iteration_ms.median:2>null ",
	       "numbers, what became unknown, truths");
	differ("{\"source\": \"x\", \"metrics\": {\"b\": 1}}",
	       "{\"metrics\": {\"a\": 2}}",
	       "source:\"x\">null metrics.a:null>2 metrics.b:1>null ",
	       "what is new, or gone");
	differ("{\"flags\": [\"x\"]}", "{\"flags\": [\"x\", \"y\"]}",
	       "flags:[\"x\"]>[\"x\",\"y\"] ", "lists as a whole");
	differ("{\"flags\": [\"only one step: the values include its "
	       "warm-up\"]}",
	       "{\"flags\": [{\"code\": \"one-step\"}]}", "",
	       "remarks by their sentences");
	differ("{\"loss\": {\"first\": 1, \"last\": \"nan\"}}",
	       "{\"loss\": {\"first\": 1, \"last\": 2}}",
	       "loss.last:\"nan\">2 ", "words and numbers");
	differ("{\"mfu\": 0}", "{\"mfu\": -0.0}", "", "zero is zero");
}

static void test_faults(void)
{
	struct result then = { .steps = 1, .source = (char *)"a" };
	struct result now = { .steps = 2, .source = (char *)"b" };
	struct result_info row = { .result = &then };
	struct error err = { 0 };
	bool good = true, failed = true;
	long n = 0;

	fault_hook_cjson();
	while (failed && good) {
		cJSON *list;

		fault_arm(++n);
		list = recompute_compare(&row, &now, "", &err);
		failed = fault_disarm();
		good = failed ? !list && err.code == ENOMEM : list != NULL;
		cJSON_Delete(list);
	}
	cJSON_InitHooks(NULL);
	ok(good && n > 10, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	struct extract_rules *rules = make_rules();

	tap_begin(10);
	test_again(rules);
	test_reasons();
	test_compare();
	test_faults();
	extract_rules_free(rules);
	return tap_done();
}
