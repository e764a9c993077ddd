/* result_test.c - records to a result: steady state, sources, flags.
 */
#include "controller/results/formula.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"
#include "tests/unit/result_tree.h"

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
		.inputs.devices = 2,
		.records = records,
		.record_count = make_records(records, ms, 20),
		.inputs.memory_peak_bytes = 3 << 19,
		.inputs.started_ms = 1000,
		.inputs.ended_ms = 13500,
	};
	cJSON *result = result_tree(&input);

	number(result, "formula", FORMULA_VERSION, "the formula's version");
	ok(cJSON_IsTrue(at(result, "measured")), "it is measured");
	null(result, "text", "and nothing is missing");
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
	input.inputs.flops = (struct flops){ .factor = 6, .parameters = 1e6 };
	input.inputs.peak_flops = 1e12;
	result = result_tree(&input);
	number(result, "iteration_ms.n", 14, "warmup_steps leaves out six");
	number(result, "warmup_steps", 6, "as was asked");
	number(result, "iteration_ms.q1", 100, "the lower quartile");
	number(result, "iteration_ms.iqr", 0, "the spread");
	number(result, "mfu", 0.03072, "6 * 5120 * 1e6 / 1e12");
	cJSON_Delete(result);

	input.inputs.peak_flops = 1e9;
	result = result_tree(&input);
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
		.inputs.devices = 1,
		.records = records,
		.record_count = make_records(records, ms, 5),
	};
	cJSON *result = result_tree(&input);

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
		.inputs.devices = 4,
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
	input.inputs.memory_peak_bytes = 99 << 20;
	result = result_tree(&input);
	number(result, "tokens_per_second", 1020,
	       "without a batch the program's own rate");
	text(result, "source", "reported", "and it says so");
	number(result, "memory_mib", 13, "the largest that was printed");
	text(result, "memory_source", "reported", "and it says so");
	number(result, "host_memory_mib", 99, "the host's figure is kept");
	flags(result, "", "that is no fault");
	cJSON_Delete(result);

	measure.global_batch = 2;
	result = result_tree(&input);
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
	result = result_tree(&input);
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
	result = result_tree(&input);
	number(result, "tokens_per_second_per_device", 111,
	       "at last the program's last line");
	text(result, "source", "summary", "and it says so");
	number(result, "steps_total", 9, "the steps it speaks of");
	ok(cJSON_IsTrue(at(result, "measured")), "that is a measure");
	cJSON_Delete(result);

	measure.sequence = 0;
	summary = (struct record){ .has = 1u << RECORD_SAMPLES_PER_SECOND,
				   .samples_per_second = 55.5 };
	result = result_tree(&input);
	number(result, "samples_per_second", 55.5,
	       "samples of the whole run, where there are no tokens");
	ok(cJSON_IsTrue(at(result, "measured")), "are a measure, too");
	cJSON_Delete(result);
}

static void test_nothing(void)
{
	const double ms[] = { 100, 100, 100 };
	struct record records[3];
	char framework[] = "cpu";
	struct measure_spec measure = { .framework = framework };
	struct result_input input = { .measure = &measure,
				      .inputs.devices = 1 };
	cJSON *result = result_tree(&input);

	ok(cJSON_IsFalse(at(result, "measured")), "an empty log is no measure");
	text(result, "text", "nothing in the log matches the rules of cpu",
	     "and why");
	null(result, "steps", "no step");
	cJSON_Delete(result);

	input.records = records;
	input.record_count = make_records(records, ms, 3);
	measure.warmup_steps = 10;
	result = result_tree(&input);
	ok(cJSON_IsFalse(at(result, "measured")),
	   "warm-up alone is no measure");
	text(result, "text", "3 steps in the log, none after the warm-up of 10",
	     "and why");
	cJSON_Delete(result);

	measure.warmup_steps = 0;
	for (int i = 0; i < 3; i++)
		records[i].has &= ~(1u << RECORD_ITERATION_MS);
	result = result_tree(&input);
	ok(cJSON_IsFalse(at(result, "measured")), "a loss alone is no measure");
	text(result, "text", "3 steps in the log, but no step time and no rate",
	     "and why");
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
		.inputs.devices = 1,
		.records = records,
		.record_count = make_records(records, ms, 6),
	};
	cJSON *result = result_tree(&input);

	number(result, "iteration_ms.n", 3, "impossible times do not count");
	number(result, "iteration_ms.median", 100, "nor move the median");
	flags(result, "2 steps with an impossible time are excluded",
	      "they are told");
	cJSON_Delete(result);

	records[2].iteration_ms = records[3].iteration_ms = 100;
	records[4].loss = records[5].loss = NAN;
	result = result_tree(&input);
	text(result, "loss.last", "nan", "a loss of NaN is a word in JSON");
	flags(result,
	      "the loss is nan at step 5, and not a number at 2 steps in total",
	      "and a flag");
	cJSON_Delete(result);

	records[4].loss = records[5].loss = 1;
	input.inputs.started_ms = 1000;
	input.inputs.ended_ms = 1200;
	for (int i = 0; i < 6; i++)
		records[i].iteration_ms = 5000;
	result = result_tree(&input);
	flags(result,
	      "steps 2 to 6 at 5000.0 ms, 20.0 s in all, take longer than the "
	      "whole "
	      "job, 0.2 s",
	      "step times in a wrong unit are seen");
	cJSON_Delete(result);
	input.inputs.ended_ms = 1000 + 18400;
	result = result_tree(&input);
	flags(result,
	      "steps 2 to 6 at 5000.0 ms, 20.0 s in all, take longer than the "
	      "whole job, 18.4 s",
	      "and what is longer by three in a hundred and a second");
	cJSON_Delete(result);
	input.inputs.ended_ms = 1000 + 18500;
	result = result_tree(&input);
	is_int(cJSON_GetArraySize(cJSON_GetObjectItem(result, "flags")), 0,
	       "less may be the clock");
	cJSON_Delete(result);

	input.record_count = 1;
	input.inputs.started_ms = 0;
	records[0].steps_total = 1;
	result = result_tree(&input);
	number(result, "iteration_ms.n", 1, "a single step is not left out");
	flags(result, "only one step: the values include its warm-up",
	      "but flagged");
	cJSON_Delete(result);
}

/* Twenty steps of 100 ms behind a slow one, all of 8 samples of 128 tokens. */
struct run {
	double ms[20];
	struct record records[20];
	struct measure_spec measure;
	struct result_input input;
};

static void run_init(struct run *run)
{
	*run = (struct run){
		.measure = { .global_batch = 8, .sequence = 128 },
	};
	for (size_t i = 0; i < 20; i++)
		run->ms[i] = i ? 100 : 900;
	run->input = (struct result_input){
		.measure = &run->measure,
		.inputs.devices = 2,
		.records = run->records,
		.record_count = make_records(run->records, run->ms, 20),
	};
}

static void test_disturbed(void)
{
	struct run run;
	cJSON *result;

	run_init(&run);
	run.records[9].iteration_ms = 1100;
	run.records[14].iteration_ms = 600;
	result = result_tree(&run.input);
	number(result, "slow_steps.count", 2, "steps with a checkpoint");
	number(result, "slow_steps.lost_ms", 1500, "what they cost");
	ok(at(result, "slow_steps.steps") &&
		   cJSON_GetArrayItem(at(result, "slow_steps.steps"), 0)
				   ->valuedouble == 10 &&
		   cJSON_GetArrayItem(at(result, "slow_steps.steps"), 1)
				   ->valuedouble == 15,
	   "they are named");
	number(result, "iteration_ms.n", 17, "and not counted");
	number(result, "iteration_ms.max", 100, "nor the slowest");
	number(result, "iteration_ms.mean", 100, "nor in the mean");
	number(result, "warmup_steps", 1, "the first is warm-up");
	text(result, "warmup", "found", "which was found");
	flags(result, "", "that is no fault");
	cJSON_Delete(result);

	for (size_t i = 2; i < 20; i += 3)
		run.records[i].iteration_ms = 300;
	result = result_tree(&run.input);
	flags(result,
	      "7 of 19 steps are much slower than the median, and excluded",
	      "too many to be exceptions");
	cJSON_Delete(result);

	run_init(&run);
	for (size_t i = 0; i < 12; i++)
		run.records[i].iteration_ms = 50;
	result = result_tree(&run.input);
	flags(result,
	      "the step times do not settle: no end of the warm-up was found "
	      "in the first half",
	      "times that change behind the middle");
	cJSON_Delete(result);

	run_init(&run);
	for (size_t i = 1; i < 8; i++)
		run.records[i].iteration_ms = 50;
	result = result_tree(&run.input);
	number(result, "warmup_steps", 8, "the end is what counts");
	flags(result,
	      "the training slows down: most steps before step 9 take less "
	      "than 100.0 ms, the median of the steps after it",
	      "a warm-up that is faster is none");
	cJSON_Delete(result);

	run_init(&run);
	run.measure.warmup_steps = 4;
	result = result_tree(&run.input);
	text(result, "warmup", "given", "a warm-up may be given");
	null(result, "slow_steps", "nothing was slow");
	cJSON_Delete(result);
}

/* Without step times the program's own rate tells what is steady. */
static void test_rates_only(void)
{
	struct run run;
	cJSON *result;

	run_init(&run);
	for (size_t i = 0; i < 20; i++) {
		run.records[i].has =
			1u << RECORD_STEP | 1u << RECORD_SAMPLES_PER_SECOND;
		run.records[i].samples_per_second = i == 0    ? 1
						    : i == 12 ? 20
							      : 80;
	}
	result = result_tree(&run.input);
	number(result, "warmup_steps", 1, "a slow rate is warm-up");
	number(result, "slow_steps.count", 1, "or a slow step");
	null(result, "slow_steps.lost_ms", "of which no time is known");
	number(result, "tokens_per_second", 10240, "80 * 128");
	text(result, "source", "reported", "as reported");
	cJSON_Delete(result);

	for (size_t i = 0; i < 20; i++) {
		run.records[i].has |= 1u << RECORD_ITERATION_MS;
		run.records[i].samples_per_second = 800;
	}
	result = result_tree(&run.input);
	flags(result,
	      "the program reports 102400.0 tokens/s, its step time and batch "
	      "give 10240.0",
	      "samples/s that the clock does not confirm");
	cJSON_Delete(result);
}

static void test_per_device(void)
{
	struct run run;
	struct record summary = { .has = 1u << RECORD_TOKENS_PER_DEVICE,
				  .tokens_per_device = 300 };
	cJSON *result;

	run_init(&run);
	for (size_t i = 0; i < 20; i++) {
		run.records[i].has =
			1u << RECORD_STEP | 1u << RECORD_TOKENS_PER_DEVICE;
		run.records[i].tokens_per_device = i ? 500 : 10;
	}
	result = result_tree(&run.input);
	number(result, "warmup_steps", 1, "a rate of one device shows warm-up");
	number(result, "tokens_per_second", 1000, "2 devices of 500");
	number(result, "tokens_per_second_per_device", 500, "each");
	number(result, "reported_tokens_per_second", 1000, "as it says");
	cJSON_Delete(result);

	run.input.record_count = 0;
	run.input.summary = &summary;
	result = result_tree(&run.input);
	number(result, "tokens_per_second", 600, "also of the last line");
	cJSON_Delete(result);
}

static void test_shares(void)
{
	struct run run;
	cJSON *result;
	char full[] = "full";

	run_init(&run);
	/* 5120 token/p/s; 2 L h s is 2 * 4 * 64 * 128 = 65536 */
	run.input.inputs.flops = (struct flops){ 6, 1e6, 4, 64, 128 };
	run.input.inputs.peak_flops = 1e11;
	run.input.inputs.power_w = 512;
	run.measure.recompute = full;
	result = result_tree(&run.input);
	number(result, "mfu", 0.3072, "6 * 1e6 * 5120 / 1e11");
	number(result, "mfu_palm", 0.3273326592, "6 * 1065536 * 5120 / 1e11");
	number(result, "hfu", 0.4096, "8 * 1e6 * 5120 / 1e11");
	number(result, "joules_per_token", 0.05, "512 W / 10240 token/s");
	number(result, "inputs.parameters", 1e6, "what it follows from");
	number(result, "inputs.sequence", 128, "is told");
	number(result, "inputs.devices", 2, "with it");
	flags(result, "", "all is well");
	cJSON_Delete(result);

	run.measure.recompute = NULL;
	run.input.inputs.peak_flops = 4e10;
	result = result_tree(&run.input);
	null(result, "hfu", "nothing is recomputed");
	number(result, "mfu", 0.768, "nearer to the peak");
	cJSON_Delete(result);

	run.measure.recompute = full;
	result = result_tree(&run.input);
	null(result, "hfu", "more than the hardware can do");
	flags(result, "an HFU of 102.4 % is impossible", "is no figure");
	cJSON_Delete(result);
}

static void test_memory(void)
{
	struct run run;
	cJSON *result;

	run_init(&run);
	for (size_t i = 0; i < 20; i++)
		run.records[i].has |= 1u << RECORD_MEMORY_MIB;
	run.records[7].memory_mib = 81920;
	run.input.inputs.chip_memory_bytes = 80.0 * (1 << 30);
	result = result_tree(&run.input);
	number(result, "memory_mib", 81920, "all of the device's memory");
	flags(result, "", "may be used");
	cJSON_Delete(result);

	run.records[7].memory_mib = 81921;
	result = result_tree(&run.input);
	null(result, "memory_mib", "but not more");
	flags(result,
	      "a memory of 81921 MiB is impossible: the device has 81920",
	      "which is told");
	cJSON_Delete(result);
}

static void test_usage(void)
{
	static const char json[] =
		"{\"devices\": [{\"samples\": 5, \"mem_used_mib\": {\"max\": "
		"700}},"
		"{\"samples\": 5, \"mem_used_mib\": {\"max\": 500}}],"
		"\"hosts\": [], \"power_w\": 1024,"
		"\"mem_used_mib\": 700, \"mem_total_mib\": 1000,"
		"\"errors\": [{\"node\": \"n1\", \"text\": \"no tool\","
		"\"count\": 2}], \"broken_lines\": 0}";
	struct remark warning = { .text = (char *)"n1: a clock" };
	struct usage_summary usage;
	struct run run;
	cJSON *result;

	codec_decode_other(&usage_summary_schema, json, strlen(json), &usage,
			   NULL);
	run_init(&run);
	run.input.usage = &usage;
	run.input.inputs.memory_peak_bytes = 9 << 20;
	run.input.inputs.chip_memory_bytes = 80.0 * (1 << 30);
	run.input.inputs.warnings = &warning;
	run.input.inputs.warnings_count = 1;
	result = result_tree(&run.input);
	number(result, "chip_memory_gib", 80, "what the chip has");
	is_int(cJSON_GetArraySize(at(result, "memory_by_rank_mib")), 2,
	       "the peak of each device");
	number(result, "joules_per_token", 0.1, "1024 W / 10240 token/s");
	number(result, "inputs.power_w", 1024, "the power it follows from");
	number(result, "memory_mib", 700, "the fullest device as sampled");
	text(result, "memory_source", "sampled", "before the host's figure");
	number(result, "usage.mem_total_mib", 1000, "the samples stay with it");
	is_int(cJSON_GetArraySize(at(result, "flags")), 2,
	       "what its monitor could not do is told");
	is(cJSON_GetStringValue(cJSON_GetArrayItem(at(result, "flags"), 1)),
	   "n1: a clock", "and what the nodes warned of");
	is(cJSON_GetStringValue(
		   cJSON_GetArrayItem(at(result, "inputs.warnings"), 0)),
	   "n1: a clock", "which is kept, for verifying");
	cJSON_Delete(result);

	run.input.inputs.power_w = 512;
	run.records[3].has |= 1u << RECORD_MEMORY_MIB;
	run.records[3].memory_mib = 650;
	result = result_tree(&run.input);
	number(result, "joules_per_token", 0.05, "a power that is given wins");
	number(result, "memory_mib", 650, "so does what the training prints");
	cJSON_Delete(result);
	codec_clear(&usage_summary_schema, &usage);
}

/* Is a rate of one device or of all? */
static void test_scope(void)
{
	struct remark warnings[] = { { .code = (char *)"scope-open" },
				     { .text = (char *)"n1: a clock" } };
	struct run run;
	cJSON *result;

	run_init(&run);
	run.input.inputs.warnings = warnings;
	run.input.inputs.warnings_count = 2;
	for (unsigned int devices = 1; devices <= 2; devices++) {
		run.input.inputs.devices = devices;
		result = result_tree(&run.input);
		is_int(cJSON_GetArraySize(at(result, "flags")), (int)devices,
		       "it is asked only where there are several");
		cJSON_Delete(result);
	}
	run.input.inputs.devices = 1;
	run.input.devices_guessed = true;
	result = result_tree(&run.input);
	is_int(cJSON_GetArraySize(at(result, "flags")), 2, "or may be");
	cJSON_Delete(result);
	run.records[9].has |=
		1u << RECORD_TOKENS_PER_SECOND | 1u << RECORD_TOKENS_PER_DEVICE;
	run.records[9].tokens_per_second = 800;
	run.records[9].tokens_per_device = 200;
	result = result_tree(&run.input);
	number(result, "tokens_per_second_per_device", 200,
	       "that of each as the log says it beside that of all");
	cJSON_Delete(result);
}

/* The times of a bar, and the rate of the whole run. */
static void test_bar_times(void)
{
	const struct record summary = { .tokens_per_second = 512,
					.has = 1u << RECORD_TOKENS_PER_SECOND };
	struct run run;
	cJSON *result;

	run_init(&run);
	run.input.summary = &summary;
	result = result_tree(&run.input);
	is(cJSON_GetStringValue(at(result, "source")), "iteration",
	   "a step time of the program comes before the rate of the run");
	cJSON_Delete(result);
	for (size_t i = 0; i < 20; i++)
		run.records[i].by_bar = true;
	result = result_tree(&run.input);
	is(cJSON_GetStringValue(at(result, "source")), "summary",
	   "that of a bar behind it");
	number(result, "tokens_per_second", 512, "which is taken");
	number(result, "iteration_ms.median", 100, "the time stays");
	cJSON_Delete(result);
}

static void complete(struct run *run, size_t records, uint64_t total,
		     const char *want, const char *told, const char *what)
{
	const struct result asked = { .complete = !strcmp(want, "false")
							  ? TRUTH_NO
							  : TRUTH_UNKNOWN };
	cJSON *result;
	const cJSON *item;
	char ends[120];

	run->input.record_count = records;
	for (size_t i = 0; i < 20; i++)
		run->records[i].steps_total = total;
	result = result_tree(&run->input);
	item = at(result, "complete");
	is(cJSON_IsTrue(item)    ? "true"
	   : cJSON_IsFalse(item) ? "false"
				 : "null",
	   want, "%s", what);
	ok(result_complete(&asked, ends, sizeof(ends)) !=
		   !strcmp(want, "false"),
	   "and so it is judged");
	flags(result, told, what);
	cJSON_Delete(result);
}

static void test_complete(void)
{
	struct run run;
	struct record summary = { .has = 1u << RECORD_FINISHED,
				  .finished = true };

	run_init(&run);
	complete(&run, 20, 20, "true", "", "the last step is there");
	complete(&run, 19, 20, "false", "the log ends at step 19 of 20",
		 "the last step is missing");
	for (size_t i = 0; i < 20; i++)
		run.records[i].step = i;
	complete(&run, 20, 20, "true", "", "steps may count from 0");
	for (size_t i = 0; i < 20; i++)
		run.records[i].step = 10 * (i + 1);
	complete(&run, 20, 209, "true", "",
		 "not each step is told, so the last may have come");
	complete(&run, 20, 210, "false", "the log ends at step 200 of 210",
		 "the next one should have been told");
	run.input.summary = &summary;
	complete(&run, 20, 500, "true",
		 "the log reports the end of the training at step 200 of 500",
		 "a training that says that it is done");
	run.input.summary = NULL;
	for (size_t i = 0; i < 20; i++)
		run.records[i].has &= ~(1u << RECORD_STEPS);
	complete(&run, 20, 0, "null", "", "nothing was announced");

	run.measure.steps = 200;
	complete(&run, 20, 0, "true", "", "the sweep's steps are made");
	run.measure.steps = 400;
	complete(&run, 20, 0, "false", "the log ends at step 200 of 400",
		 "the sweep asks for more");
	run.input.summary = &summary;
	complete(&run, 20, 0, "false",
		 "the log reports the end of the training at step 200 of 400",
		 "and does not take that for its end");
	run.input.summary = NULL;
	run.measure.steps = 19;
	complete(&run, 1, 0, "true",
		 "only one step: the values include its warm-up",
		 "of a single line the next one may not have come");
}

static void test_inputs(void)
{
	struct run run;
	struct result copy;
	cJSON *result;

	run_init(&run);
	run.input.inputs.memory_peak_bytes = 1ULL << 40;
	run.input.inputs.started_ms = 1700000000000;
	run.input.inputs.ended_ms = 1700000009000;
	run.input.inputs.flops = (struct flops){ 4, 2.5e9, 3, 5, 7 };
	run.input.inputs.peak_flops = 312e12;
	run.input.inputs.simulated = true;
	result = result_tree(&run.input);
	flags(result,
	      "the devices were simulated: these are not measurements of real "
	      "hardware",
	      "devices that are none");
	number(result, "inputs.factor", 4, "what it follows from is named");
	ok(codec_from_other(&result_schema, result, &copy, NULL) == 0 &&
		   copy.inputs.memory_peak_bytes == 1ULL << 40 &&
		   copy.inputs.started_ms == 1700000000000 &&
		   copy.inputs.ended_ms == 1700000009000 &&
		   copy.inputs.flops.factor == 4 &&
		   copy.inputs.flops.parameters == 2.5e9 &&
		   copy.inputs.flops.layers == 3 &&
		   copy.inputs.flops.hidden == 5 &&
		   copy.inputs.flops.sequence == 7 &&
		   copy.inputs.peak_flops == 312e12 && copy.inputs.simulated,
	   "and comes back from it");
	result_clear(&copy);
	cJSON_Delete(result);
}

static void test_no_memory(void)
{
	const double ms[] = { 100, 100, -100, 100 };
	struct record records[4];
	struct measure_spec measure = { .global_batch = 1, .sequence = 1 };
	struct result_input input = {
		.measure = &measure,
		.inputs.devices = 1,
		.records = records,
		.record_count = make_records(records, ms, 4),
	};
	bool good = true, failed = true;
	long n = 0;

	fault_hook_cjson();
	while (failed && good) {
		struct error err = { 0 };
		struct result result;
		int rc;

		fault_arm(++n);
		rc = result_compute(&input, &result, &err);
		failed = fault_disarm();
		good = failed ? rc < 0 && err.code == ENOMEM : rc == 0;
		input.inputs = (struct result_inputs){ .devices = 1 };
		result_clear(&result);
	}
	cJSON_InitHooks(NULL);
	ok(good && n > 10, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	tap_begin(10);
	test_steady();
	test_quartiles();
	test_sources();
	test_nothing();
	test_impossible();
	test_disturbed();
	test_rates_only();
	test_per_device();
	test_shares();
	test_memory();
	test_usage();
	test_scope();
	test_bar_times();
	test_complete();
	test_inputs();
	test_no_memory();
	return tap_done();
}
