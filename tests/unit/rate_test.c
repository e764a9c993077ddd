/* rate_test.c - the rate of a job, in the unit that its output allows.
 */
#include "protocol/message/rate.h"
#include "controller/results/series.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

static void rate_is(const char *json, double value, uint32_t unit,
		    const char *name)
{
	struct result result;
	struct rate rate;

	codec_decode_other(&result_schema, json, strlen(json), &result, NULL);
	rate = result_rate(&result);
	ok((value > 0 ? rate.value == value : isnan(rate.value)) &&
		   rate.unit == unit,
	   "%s", name);
	codec_clear(&result_schema, &result);
}

static void test_result(void)
{
	rate_is("{\"tokens_per_second_per_device\": 4.5, "
		"\"samples_per_second\": 6, \"inputs\": {\"devices\": 2}}",
		4.5, RATE_TOKENS, "tokens per second and device come first");
	rate_is("{\"tokens_per_second_per_device\": null, "
		"\"samples_per_second\": 6, \"inputs\": {\"devices\": 2},"
		" \"iteration_ms\": {\"median\": 250}}",
		3, RATE_SAMPLES, "else samples, by the number of devices");
	rate_is("{\"samples_per_second\": 6,"
		" \"iteration_ms\": {\"median\": 250}}",
		4, RATE_STEPS, "else, or if that is not known, steps");
	rate_is("{\"tokens_per_second_per_device\": 0, "
		"\"iteration_ms\": null}",
		0, RATE_NONE, "or none");
	ok(result_rate(NULL).unit == RATE_NONE,
	   "a job without a result has none");
}

static void test_step(void)
{
	static const struct measure_spec batch = { .global_batch = 8,
						   .sequence = 100 },
					 samples = { .global_batch = 8 },
					 nothing = { .sequence = 0 };
	struct record record = {
		.iteration_ms = 100,
		.samples_per_second = 12,
		.tokens_per_device = 7,
		.has = 1u << RECORD_ITERATION_MS |
		       1u << RECORD_SAMPLES_PER_SECOND,
	};

	ok(step_rate(&record, &batch, 4).value == 2000,
	   "the step time and the batch, 8 * 100 / 0.1 s / 4");
	ok(step_rate(&record, &samples, 4).value == 20 &&
		   step_rate(&record, &samples, 4).unit == RATE_SAMPLES,
	   "a batch without a sequence gives samples");
	ok(step_rate(&record, &nothing, 4).value == 3,
	   "else those that the program prints");
	record.has |= 1u << RECORD_TOKENS_PER_DEVICE;
	ok(step_rate(&record, &nothing, 4).value == 7,
	   "after tokens of each device");
	record.has = 1u << RECORD_ITERATION_MS;
	ok(step_rate(&record, &nothing, 4).value == 10 &&
		   step_rate(&record, &nothing, 4).unit == RATE_STEPS,
	   "a time alone gives steps");
	record.has = 0;
	ok(step_rate(&record, &nothing, 4).unit == RATE_NONE, "or none");
}

int main(void)
{
	tap_begin(30);
	test_result();
	test_step();
	return tap_done();
}
