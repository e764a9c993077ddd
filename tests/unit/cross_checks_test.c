/* cross_checks_test.c - a log whose figures agree has no flag; one that is off
 * by more than 3 % has its own, with both numbers.
 */
#include "tests/tap.h"
#include "tests/unit/result_tree.h"

#include <math.h>

#define STEPS 22
#define BATCH 64
#define SEQUENCE 128
#define DEVICES 2
#define STEP_MS 500.0
#define TOKENS (BATCH * SEQUENCE * 1000 / STEP_MS) /* a second */
#define PARAMETERS 1e9
#define PEAK 1e15

static const char rules_text[] =
	"rules:\n"
	"- match: 'step (?<step>\\d+) \\| ms (?<iteration_ms>\\S+) \\| tokens "
	"(?<tokens_per_second>\\S+) \\| batch (?<global_batch>\\S+) \\| "
	"samples "
	"(?<consumed_samples>\\S+) \\| seen (?<consumed_tokens>\\S+) \\| "
	"tflops "
	"(?<tflops_per_device_reported>\\S+) \\| mfu "
	"(?<mfu_percent_reported>\\S+) \\| rate (?<samples_per_second>\\S+) "
	"\\|'\n"
	"- match: 'stated (?<tokens_per_step>\\S+) \\|'\n"
	"  summary: true\n";

/* What a field is multiplied with. */
enum figure {
	TOKEN_RATE,
	STEP_BATCH,
	SAMPLES,
	SEEN,
	TFLOPS,
	MFU,
	RATE,
	STATED,
	FIGURES
};

static struct extract_rules *rules;

static void feed_step(struct extract *extract, unsigned step,
		      const double factors[FIGURES], double wobble)
{
	double flops = 6 * PARAMETERS * TOKENS / DEVICES;
	char line[512], tokens[32] = "none";
	int n;

	if (factors[TOKEN_RATE] > 0)
		snprintf(tokens, sizeof(tokens), "%.3f",
			 TOKENS * factors[TOKEN_RATE]);
	n = snprintf(line, sizeof(line),
		     "step %u | ms %.3f | tokens %s | batch %.3f | "
		     "samples %.3f | seen %.3f | tflops %.6f | mfu %.6f | "
		     "rate %.3f |\n",
		     step, STEP_MS * (1 + wobble * ((double)(step % 3) - 1)),
		     tokens, BATCH * factors[STEP_BATCH],
		     step * BATCH * factors[SAMPLES],
		     step * BATCH * SEQUENCE * factors[SEEN],
		     flops / 1e12 * factors[TFLOPS],
		     flops / PEAK * 100 * factors[MFU],
		     BATCH * 1000 / STEP_MS * factors[RATE]);

	extract_feed(extract, line, (size_t)n, NULL);
}

/* The flags of such a log, each ending in a newline. */
static const char *flags_of(const double factors[FIGURES], double wobble,
			    uint32_t sequence)
{
	static char text[2048];
	char stated[64];
	struct measure_spec measure = { .global_batch = BATCH,
					.sequence = sequence,
					.warmup_steps = 1 };
	struct extract *extract = extract_new(rules, NULL);
	struct result_input input = {
		.measure = &measure,
		.inputs.devices = DEVICES,
		.extract = extract,
		.inputs.flops = { .factor = 6, .parameters = PARAMETERS },
		.inputs.peak_flops = PEAK,
	};
	cJSON *result;
	const cJSON *flag;
	size_t n = 0;

	snprintf(stated, sizeof(stated), "stated %.3f |\n",
		 BATCH * SEQUENCE * factors[STATED]);
	extract_feed(extract, stated, strlen(stated), NULL);
	for (unsigned step = 1; step <= STEPS; step++)
		feed_step(extract, step, factors, wobble);
	extract_finish(extract, NULL);
	input.records = extract_records(extract, &input.record_count);
	input.summary = extract_summary(extract);
	result = result_tree(&input);
	text[0] = 0;
	cJSON_ArrayForEach(flag, cJSON_GetObjectItem(result, "flags"))
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n",
				      flag->valuestring);
	cJSON_Delete(result);
	extract_free(extract);
	return text;
}

static void set(double factors[FIGURES], enum figure figure, double factor)
{
	for (size_t i = 0; i < FIGURES; i++)
		factors[i] = i == (size_t)figure ? factor : 1;
}

static void test_each(void)
{
	static const struct {
		enum figure figure;
		const char *flag;
	} cases[] = {
		{ TOKEN_RATE, "the program reports 17203.2 tokens/s, its step "
			      "time and batch give 16384.0\n" },
		{ STEP_BATCH, "the program reports a step of 67 samples, the "
			      "sweep has 64\n" },
		{ SAMPLES, "the samples in the log increase by 67.2 per step, "
			   "the sweep's batch is 64.0\n" },
		{ SEEN,
		  "the tokens in the log increase by 8601.6 per step, the "
		  "sweep's batch and sequence give 8192.0\n" },
		{ STATED,
		  "the log states 8602 tokens per step, the sweep's batch and "
		  "sequence give 8192\n" },
		{ TFLOPS, "the program reports 51.6 TFLOPS per device, its "
			  "token rate and our formulas give 49.2\n" },
		{ MFU,
		  "the program reports an MFU of 5.2 %, its token rate and "
		  "our formulas give 4.9\n" },
	};
	double factors[FIGURES];

	set(factors, FIGURES, 1);
	is(flags_of(factors, 0, SEQUENCE), "", "what agrees has no flag");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set(factors, cases[i].figure, 1.05);
		is(flags_of(factors, 0, SEQUENCE), cases[i].flag,
		   "5 %% more: %s", cases[i].flag);
		set(factors, cases[i].figure, 1.02);
		is(flags_of(factors, 0, SEQUENCE), "", "2 %% more is no more");
		set(factors, cases[i].figure, 0.98);
		is(flags_of(factors, 0, SEQUENCE), "", "nor is 2 %% less");
		set(factors, cases[i].figure, 0.5);
		ok(*flags_of(factors, 0, SEQUENCE), "half of it is told");
	}
}

static void test_samples(void)
{
	double factors[FIGURES];

	set(factors, RATE, 1);
	factors[TOKEN_RATE] = 0;
	ok(!strstr(flags_of(factors, 0, 0), "samples/s"),
	   "without a sequence samples are compared");
	factors[RATE] = 1.5;
	ok(strstr(flags_of(factors, 0, 0),
		  "the program reports 192.00 samples/s, its step time and "
		  "batch give 128.00\n"),
	   "and told: %s", flags_of(factors, 0, 0));
}

static void test_spread(void)
{
	double factors[FIGURES];

	set(factors, FIGURES, 1);
	is(flags_of(factors, 0.05, SEQUENCE), "", "10 %% apart is usual");
	ok(strstr(flags_of(factors, 0.3, SEQUENCE),
		  "the spread is too wide for a single value"),
	   "60 %% is no figure: %s", flags_of(factors, 0.3, SEQUENCE));
}

int main(void)
{
	struct error err = { 0 };
	struct document *document =
		document_parse(rules_text, strlen(rules_text), "f.yaml", NULL,
			       &err);
	const struct value *root = document_root(document);

	tap_begin(60);
	rules = extract_rules_new(&root, 1, &err);
	if (ok(rules != NULL, "rules %s", err.text)) {
		test_each();
		test_samples();
		test_spread();
	}
	extract_rules_free(rules);
	document_free(document);
	return tap_done();
}
