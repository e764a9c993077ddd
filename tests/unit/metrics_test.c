/* metrics_test.c - named numbers of a log: one figure each.
 */
#include "controller/results/metrics.h"
#include "tests/tap.h"

#include <math.h>

static const char rules_text[] =
	"read: first\n"
	"rules:\n"
	"  - match: 'step (?<step>\\d+) acc (?<acc>\\S+) wide (?<wide>\\S+);'\n"
	"  - match: 'step (?<step>\\d+) seen (?<seen>\\d+);'\n"
	"    fields: {step: step, seen: 'seen:counter'}\n"
	"  - match: '(?<finished>done) acc (?<acc>\\S+);'\n"
	"  - match: 'step (?<step>\\d+) peak (?<peak>\\d+) mid "
	"(?<mid_acc>\\d+);'\n"
	"    fields: {step: step, peak: {as: peak, take: max},"
	" mid_acc: {as: mid_acc, take: median}}\n"
	"  - match: 'rank \\d+ (?<what>bandwidth|latency)=(?<much>[\\d.]+);'\n"
	"    fields: {what: what:text, much: much}\n"
	"    metric: {name: what, value: much}\n"
	"  - match: 'step (?<step>\\d+) .top1: (?<top1>\\d+), mAP50: "
	"(?<mAP50>\\d+), bleu: (?<bleu>\\d+), tokens_seen: "
	"(?<tokens_seen>\\d+), stop: \\d+, mapper: (?<mapper>\\d+)'\n";

static void number(const cJSON *metrics, const char *name, double want,
		   const char *what)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(metrics, name);

	if (!ok(cJSON_IsNumber(item) &&
			fabs(item->valuedouble - want) <= 1e-9 * fabs(want),
		"%s", what))
		printf("#  got: %g\n# want: %g\n",
		       cJSON_IsNumber(item) ? item->valuedouble : NAN, want);
}

static size_t told; /* by the last log, of the run */

/* The metrics of a log; first: the first record that counts. */
static cJSON *read_log(const char *log, size_t first)
{
	struct error err = { 0 };
	owned(document_free) struct document *document =
		document_parse(rules_text, strlen(rules_text), "f", NULL, &err);
	const struct value *root = document ? document_root(document) : NULL;
	owned(extract_rules_free) struct extract_rules *rules =
		root ? extract_rules_new(&root, 1, &err) : NULL;
	owned(extract_free) struct extract *extract =
		rules ? extract_new(rules, &err) : NULL;
	struct result result = { 0 };
	cJSON *tree, *metrics;

	if (!extract) {
		printf("# %s\n", err.text);
		return NULL;
	}
	extract_feed(extract, log, strlen(log), NULL);
	extract_finish(extract, NULL);
	told = metrics_run_count(extract);
	metrics_compute(extract, first, &result, &err);
	tree = codec_object(&result_schema, &result, &err);
	codec_clear(&result_schema, &result);
	metrics = cJSON_DetachItemFromObject(tree, "metrics");
	cJSON_Delete(tree);
	return metrics;
}

int main(void)
{
	cJSON *metrics;

	tap_begin(10);
	metrics = read_log("step 1 acc 0.1 wide 900;\nstep 2 acc 0.2 wide 7;\n"
			   "step 3 acc 0.3 wide nan;\nstep 4 acc 0.4 wide 9;\n"
			   "rank 0 bandwidth=180;\nrank 1 bandwidth=190;\n"
			   "rank 2 bandwidth=200;\nrank 0 latency=3;\n",
			   1);
	number(metrics, "acc", 0.4, "of an accuracy the last");
	number(metrics, "wide", 8, "the median of the steps that count");
	number(metrics, "bandwidth", 190, "the mean over all ranks");
	number(metrics, "latency", 3, "of each name");
	is_int(cJSON_GetArraySize(metrics), 4, "and no others");
	is_int(told, 2, "two were told of the run");
	cJSON_Delete(metrics);
	metrics = read_log("step 1 seen 8;\nstep 2 seen 16;\nstep 3 seen 24;\n",
			   0);
	number(metrics, "seen", 24, "of a counter the last");
	cJSON_Delete(metrics);

	metrics = read_log("step 1 peak 8 mid 9;\nstep 2 peak 16 mid 1;\n"
			   "step 3 peak 4 mid 3;\n",
			   1);
	number(metrics, "peak", 16, "the rule takes the largest");
	number(metrics, "mid_acc", 2, "or the median, also of an accuracy");
	cJSON_Delete(metrics);

	/* By their names. */
	metrics = read_log("step 1 {top1: 1, mAP50: 2, bleu: 3, tokens_seen: 4,"
			   " stop: 1, mapper: 5}\n"
			   "step 2 {top1: 2, mAP50: 3, bleu: 4, tokens_seen: 5,"
			   " stop: 1, mapper: 6}\n"
			   "step 3 {top1: 3, mAP50: 4, bleu: 5, tokens_seen: 6,"
			   " stop: 1, mapper: 7}\n",
			   0);
	number(metrics, "top1", 3, "of an accuracy by another name the last");
	number(metrics, "mAP50", 4, "of a precision");
	number(metrics, "bleu", 5, "of a score");
	number(metrics, "tokens_seen", 6, "of a count");
	number(metrics, "mapper", 6,
	       "of a name with that in a word the median");
	cJSON_Delete(metrics);

	metrics = read_log("step 1 acc 0.1 wide 1;\ndone acc 0.75;\n", 0);
	number(metrics, "acc", 0.75, "what is told at the end comes first");
	is_int(told, 1, "it was told of the run");
	cJSON_Delete(metrics);

	metrics = read_log("step 1 acc nan wide 1;\n", 1);
	ok(metrics && !metrics->child, "without a number there is none");
	is_int(told, 0, "and nothing was told of the run");
	cJSON_Delete(metrics);
	return tap_done();
}
