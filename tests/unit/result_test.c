/* result_test.c - records to a result: steady state, sources, flags.
 */
#include "controller/results/formula.h"
#include "controller/results/result.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <math.h>

/* Records of steps 1 to n with these step times and a falling loss. */
static size_t make_records(struct record *records, const double *ms, size_t n)
{
	for (size_t i = 0; i < n; i++)
		records[i] = (struct record){
			.has = 1u << RECORD_STEP | 1u << RECORD_STEPS |
			       1u << RECORD_LOSS | 1u << RECORD_ITERATION_MS,
			.step = i + 1,
			.steps_total = n,
			.loss = 5.5 - (double)i * 0.25,
			.iteration_ms = ms[i],
		};
	return n;
}

/* The member at a path like "iteration_ms.median"; NULL: not there. */
static const cJSON *at(const cJSON *result, const char *path)
{
	char name[64];

	while (*path) {
		size_t n = strcspn(path, ".");

		snprintf(name, sizeof(name), "%.*s", (int)n, path);
		result = cJSON_GetObjectItemCaseSensitive(result, name);
		path += path[n] ? n + 1 : n;
	}
	return result;
}

static void number(const cJSON *result, const char *path, double want,
		   const char *what)
{
	const cJSON *item = at(result, path);

	if (!ok(cJSON_IsNumber(item) &&
			fabs(item->valuedouble - want) <= 1e-9 * fabs(want),
		"%s (%s)", what, path))
		printf("#  got: %g\n# want: %g\n",
		       cJSON_IsNumber(item) ? item->valuedouble : NAN, want);
}

static void null(const cJSON *result, const char *path, const char *what)
{
	ok(cJSON_IsNull(at(result, path)), "%s (%s)", what, path);
}

static void text(const cJSON *result, const char *path, const char *want,
		 const char *what)
{
	is(cJSON_GetStringValue(at(result, path)), want, "%s (%s)", what, path);
}

static void flags(const cJSON *result, const char *want, const char *what)
{
	const cJSON *list = at(result, "flags");

	is_int(cJSON_GetArraySize(list), *want ? 1 : 0, "%s: so many flags",
	       what);
	if (*want)
		is(cJSON_GetStringValue(cJSON_GetArrayItem(list, 0)), want,
		   "%s", what);
}

static void test_steady(void)
{
	/* The first tenth, two of 20 steps, is slow: it must not count. */
	const double ms[20] = { 900, 500, 100, 104, 96,  100, 108,
				92,  100, 100, 100, 100, 100, 100,
				100, 100, 100, 100, 100, 100 };
	struct record records[20];
	struct measure_spec measure = { .global_batch = 8, .sequence = 128 };
	struct result_input input = {
		.measure = &measure,
		.devices = 2,
		.records = records,
		.record_count = make_records(records, ms, 20),
		.memory_peak_bytes = 3 << 19,
		.started_ms = 1000,
		.ended_ms = 13500,
	};
	cJSON *result = result_new(&input, NULL);
	const char *why = NULL;

	number(result, "formula", FORMULA_VERSION, "the formula's version");
	ok(result_measured(result, &why) && !*why, "it is measured");
	number(result, "steps", 20, "the last step");
	number(result, "steps_total", 20, "of how many");
	number(result, "warmup_steps", 2, "a tenth is warm-up");
	number(result, "iteration_ms.median", 100, "the steady step");
	number(result, "iteration_ms.n", 18, "over the steps that are left");
	number(result, "iteration_ms.min", 92, "the fastest of them");
	number(result, "iteration_ms.max", 108, "the slowest of them");
	number(result, "loss.first", 5.5, "the first loss, warm-up or not");
	number(result, "loss.last", 0.75, "the last loss");
	number(result, "tokens_per_second", 10240, "8 * 128 / 0.1 s");
	number(result, "tokens_per_second_per_device", 5120, "over 2 devices");
	number(result, "samples_per_second", 80, "8 / 0.1 s");
	text(result, "source", "iteration", "from the step time");
	null(result, "reported_tokens_per_second", "nothing was reported");
	number(result, "memory_mib", 1.5, "the peak of the fullest task");
	text(result, "memory_source", "cgroup", "as the kernel counted it");
	number(result, "wall_s", 12.5, "start to end");
	null(result, "mfu", "no peak, no MFU");
	flags(result, "", "a good run");
	cJSON_Delete(result);

	measure.warmup_steps = 6;
	input.parameters = 1e6;
	input.peak_flops = 1e12;
	result = result_new(&input, NULL);
	number(result, "iteration_ms.n", 14, "warmup_steps leaves out six");
	number(result, "warmup_steps", 6, "as was asked");
	number(result, "iteration_ms.q1", 100, "the lower quartile");
	number(result, "iteration_ms.iqr", 0, "the spread");
	number(result, "mfu", 0.03072, "6 * 5120 * 1e6 / 1e12");
	cJSON_Delete(result);

	input.peak_flops = 1e9;
	result = result_new(&input, NULL);
	null(result, "mfu", "an impossible MFU is no figure");
	flags(result, "an MFU of 3072.0 % is impossible", "but a flag");
	cJSON_Delete(result);
}

static void test_quartiles(void)
{
	const double ms[] = { 1000, 4, 1, 3, 2 };
	struct record records[5];
	struct measure_spec measure = { .warmup_steps = 1 };
	struct result_input input = {
		.measure = &measure,
		.devices = 1,
		.records = records,
		.record_count = make_records(records, ms, 5),
	};
	cJSON *result = result_new(&input, NULL);

	number(result, "iteration_ms.median", 2.5, "the middle of four");
	number(result, "iteration_ms.q1", 1.75, "a quarter of the way");
	number(result, "iteration_ms.q3", 3.25, "three quarters");
	number(result, "iteration_ms.iqr", 1.5, "what lies between");
	null(result, "tokens_per_second", "without a batch no rate");
	null(result, "source", "and no source of it");
	ok(cJSON_IsTrue(at(result, "measured")), "a step time is a measure");
	null(result, "wall_s", "no times, no wall time");
	null(result, "memory_mib", "no memory");
	cJSON_Delete(result);
}

static void test_sources(void)
{
	const double ms[] = { 100, 100, 100, 100 };
	struct record records[4], summary = { 0 };
	struct measure_spec measure = { .sequence = 128 };
	struct result_input input = {
		.measure = &measure,
		.devices = 4,
		.records = records,
		.record_count = make_records(records, ms, 4),
		.summary = &summary,
	};
	cJSON *result;

	for (int i = 0; i < 4; i++) {
		records[i].has |= 1u << RECORD_TOKENS_PER_SECOND |
				  1u << RECORD_MEMORY_MIB;
		records[i].tokens_per_second = 1000 + i * 10;
		records[i].memory_mib = 10 + i;
	}
	input.memory_peak_bytes = 99 << 20;
	result = result_new(&input, NULL);
	number(result, "tokens_per_second", 1020,
	       "without a batch the program's own rate");
	text(result, "source", "reported", "and it says so");
	number(result, "memory_mib", 13, "the largest that was printed");
	text(result, "memory_source", "reported", "and it says so");
	number(result, "host_memory_mib", 99, "the host's figure is kept");
	flags(result, "", "that is no fault");
	cJSON_Delete(result);

	measure.global_batch = 2;
	result = result_new(&input, NULL);
	number(result, "tokens_per_second", 2560, "with a batch the step time");
	number(result, "reported_tokens_per_second", 1020, "beside the other");
	flags(result,
	      "the program reports 1020.0 tokens/s, its step time and batch "
	      "give 2560.0",
	      "two rates that disagree");
	cJSON_Delete(result);

	measure.global_batch = 0;
	for (int i = 0; i < 4; i++) {
		records[i].has =
			1u << RECORD_STEP | 1u << RECORD_SAMPLES_PER_SECOND;
		records[i].samples_per_second = 7;
	}
	result = result_new(&input, NULL);
	number(result, "tokens_per_second", 896, "samples/s times sequence");
	null(result, "iteration_ms", "no step time");
	null(result, "loss", "no loss");
	null(result, "steps_total", "no number of steps");
	cJSON_Delete(result);

	input.record_count = 0;
	summary = (struct record){ .has = 1u << RECORD_TOKENS_PER_SECOND |
					  1u << RECORD_STEPS |
					  1u << RECORD_FINISHED,
				   .tokens_per_second = 444,
				   .steps_total = 9,
				   .finished = true };
	result = result_new(&input, NULL);
	number(result, "tokens_per_second_per_device", 111,
	       "at last the program's last line");
	text(result, "source", "summary", "and it says so");
	number(result, "steps_total", 9, "the steps it speaks of");
	ok(cJSON_IsTrue(at(result, "measured")), "that is a measure");
	cJSON_Delete(result);
}

static void test_nothing(void)
{
	const double ms[] = { 100, 100, 100 };
	struct record records[3];
	char framework[] = "cpu";
	struct measure_spec measure = { .framework = framework };
	struct result_input input = { .measure = &measure, .devices = 1 };
	const char *why = NULL;
	cJSON *result = result_new(&input, NULL);

	ok(!result_measured(result, &why), "an empty log is no measure");
	is(why, "nothing in the log matches the rules of cpu", "and why");
	null(result, "steps", "no step");
	cJSON_Delete(result);

	input.records = records;
	input.record_count = make_records(records, ms, 3);
	measure.warmup_steps = 10;
	result = result_new(&input, NULL);
	ok(!result_measured(result, &why), "warm-up alone is no measure");
	is(why, "3 steps in the log, none behind the warm-up of 10", "and why");
	cJSON_Delete(result);

	measure.warmup_steps = 0;
	for (int i = 0; i < 3; i++)
		records[i].has &= ~(1u << RECORD_ITERATION_MS);
	result = result_new(&input, NULL);
	ok(!result_measured(result, &why), "a loss alone is no measure");
	is(why, "3 steps in the log, but no step time and no rate", "and why");
	number(result, "loss.last", 5, "the loss is told nevertheless");
	cJSON_Delete(result);
}

static void test_impossible(void)
{
	const double ms[] = { 100, 100, -5, NAN, 100, 100 };
	struct record records[6];
	struct measure_spec measure = { .global_batch = 1, .sequence = 1 };
	struct result_input input = {
		.measure = &measure,
		.devices = 1,
		.records = records,
		.record_count = make_records(records, ms, 6),
	};
	cJSON *result = result_new(&input, NULL);

	number(result, "iteration_ms.n", 3, "impossible times do not count");
	number(result, "iteration_ms.median", 100, "nor move the median");
	flags(result, "2 steps with an impossible time are left out",
	      "they are told");
	cJSON_Delete(result);

	records[2].iteration_ms = records[3].iteration_ms = 100;
	records[4].loss = records[5].loss = NAN;
	result = result_new(&input, NULL);
	text(result, "loss.last", "nan", "a loss of NaN is a word in JSON");
	flags(result,
	      "the loss is nan at step 5, and no number at 2 steps in "
	      "all",
	      "and a flag");
	cJSON_Delete(result);

	records[4].loss = records[5].loss = 1;
	input.started_ms = 1000;
	input.ended_ms = 1200;
	for (int i = 0; i < 6; i++)
		records[i].iteration_ms = 5000;
	result = result_new(&input, NULL);
	flags(result,
	      "steps 2 to 6 at 5000.0 ms take longer than the whole job, 0.2 s",
	      "step times in a wrong unit are seen");
	cJSON_Delete(result);

	input.record_count = 1;
	input.started_ms = 0;
	result = result_new(&input, NULL);
	number(result, "iteration_ms.n", 1, "a single step is not left out");
	flags(result, "one step only: its warm-up is in the figures",
	      "but flagged");
	cJSON_Delete(result);
}

static void test_no_memory(void)
{
	const double ms[] = { 100, 100, -100, 100 };
	struct record records[4];
	struct measure_spec measure = { .global_batch = 1, .sequence = 1 };
	struct result_input input = {
		.measure = &measure,
		.devices = 1,
		.records = records,
		.record_count = make_records(records, ms, 4),
	};
	bool good = true, failed = true;
	long n = 0;

	fault_hook_cjson();
	while (failed && good) {
		struct error err = { 0 };
		cJSON *result;

		fault_arm(++n);
		result = result_new(&input, &err);
		failed = fault_disarm();
		good = failed ? !result && err.code == ENOMEM : result != NULL;
		cJSON_Delete(result);
	}
	cJSON_InitHooks(NULL);
	ok(good && n > 50, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	tap_begin(10);
	test_steady();
	test_quartiles();
	test_sources();
	test_nothing();
	test_impossible();
	test_no_memory();
	return tap_done();
}
