/* series_test.c - records to curves that can be kept, and compared.
 */
#include "controller/results/series.h"
#include "tests/tap.h"

#include <math.h>

static struct record step(uint64_t number, double loss, double ms)
{
	return (struct record){
		.step = number,
		.loss = loss,
		.iteration_ms = ms,
		.has = 1u << RECORD_STEP | 1u << RECORD_LOSS |
		       1u << RECORD_ITERATION_MS,
	};
}

static const struct measure_spec measure = { .global_batch = 4,
					     .sequence = 100 };

static void test_short(void)
{
	struct record records[] = { step(10, 3, 100), step(20, NAN, 200),
				    step(30, 2, 400) };
	cJSON *series, *want;

	records[2].has = 1u << RECORD_STEP | 1u << RECORD_TOKENS_PER_SECOND;
	records[2].tokens_per_second = 14;
	series = series_new(records, 3, &measure, 2, NULL);
	want = cJSON_Parse("{\"loss\":[[10,3],[20,null]],"
			   "\"rate\":[[10,2000],[20,1000],[30,7]],"
			   "\"rate_unit\":\"token/p/s\"}");
	ok(cJSON_Compare(series, want, true),
	   "losses and rates by step: 4 samples of 100 tokens in 100 ms on 2 "
	   "devices are 2000 token/p/s");
	cJSON_Delete(series);
	cJSON_Delete(want);
	series = series_new(NULL, 0, &measure, 2, NULL);
	ok(series && !cJSON_GetArraySize(series->child), "of nothing, nothing");
	cJSON_Delete(series);
}

static void test_units(void)
{
	static const struct measure_spec nothing = { .sequence = 0 };
	struct record records[] = { step(10, 3, 100), step(20, 3, 100) };
	const char *unit = "";
	cJSON *series, *old;

	records[0].has |= 1u << RECORD_SAMPLES_PER_SECOND;
	records[0].samples_per_second = 80;
	series = series_new(records, 2, &nothing, 4, NULL);
	is_int(cJSON_GetArraySize(series_rate(series, &unit)), 1,
	       "a step with another unit than the first one has no point");
	is(unit, "sample/p/s", "without tokens, samples by device count");
	ok(cJSON_GetArrayItem(series_rate(series, &unit)->child, 1)
			   ->valuedouble == 20,
	   "80 samples/s on 4 devices");
	cJSON_Delete(series);
	old = cJSON_Parse("{\"tokens_per_second\":[[10,8]]}");
	is_int(cJSON_GetArraySize(series_rate(old, &unit)), 1,
	       "an earlier version's curve is read");
	is(unit, "token/s", "in its unit");
	cJSON_Delete(old);
}

static void test_long(void)
{
	static struct record a[5000], b[4000];
	struct alignment alignment;
	cJSON *one, *other;

	for (size_t i = 0; i < 5000; i++)
		a[i] = step(i + 1, 1.01, 1);
	for (size_t i = 0; i < 4000; i++)
		b[i] = step(i + 1, 1, 1);
	one = series_new(a, 5000, &measure, 2, NULL);
	other = series_new(b, 4000, &measure, 2, NULL);
	is_int(cJSON_GetArraySize(one->child), 626,
	       "of 5000 steps the first and every eighth are kept");
	is_int(cJSON_GetArraySize(other->child), 1001, "of 4000 every fourth");
	series_align(one, other, 21, &alignment);
	is_int((long long)alignment.steps, 500 - 2,
	       "two jobs of different length have steps in common");
	ok(fabs(alignment.mean - 0.01) < 1e-12, "which are compared");
	cJSON_Delete(one);
	cJSON_Delete(other);
	for (size_t i = 0; i < 4000; i++)
		b[i] = step(10 * i + 1, 1, 1);
	other = series_new(b, 4000, &measure, 2, NULL);
	is_int(cJSON_GetArraySize(other->child), 625,
	       "of steps with odd numbers, too");
	cJSON_Delete(other);
}

static void test_align(void)
{
	cJSON *a = cJSON_Parse("{\"loss\":[[1,9],[21,1.1],[22,2],[23,null],"
			       "[24,3],\"x\",[26,4],[27,5]]}");
	cJSON *b = cJSON_Parse("{\"loss\":[[1,1],[20,7],[21,1],[22,2.5],[23,1],"
			       "[24,null],[25,3],[26,0],[28,1]]}");
	struct alignment alignment;

	series_align(a, b, 21, &alignment);
	is_int((long long)alignment.steps, 2, "steps that both have");
	ok(fabs(alignment.mean - 0.15) < 1e-12, "by hand: (0.1 + 0.2) / 2");
	ok(fabs(alignment.largest - 0.2) < 1e-12 && alignment.at == 22,
	   "the largest is told with its step");
	is_int((long long)alignment.broken, 2,
	       "a loss that is no number on one side only is counted");
	series_align(a, NULL, 1, &alignment);
	ok(alignment.steps == 0 && isnan(alignment.mean),
	   "without a baseline there is no figure");
	cJSON_Delete(a);
	cJSON_Delete(b);
}

int main(void)
{
	tap_begin(60);
	test_short();
	test_units();
	test_long();
	test_align();
	return tap_done();
}
