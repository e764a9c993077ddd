/* plan_test.c - a plan lists what runs and what is dropped, with reasons.
 */
#include "controller/sweep/plan.h"

#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

static struct catalog *catalog;

static const char text[] = "sweep: p\nframework: cpu\ndevices: 2\ntimeout: 1m\n"
			   "matrix:\n"
			   "  model: [gpt-nano, gpt-mini]\n"
			   "  parallel: [{tp: 1}, {tp: 2}, {tp: 4}]\n"
			   "exclude: [{model: gpt-mini, parallel: {tp: 4}}]\n";

static void test_plan(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		sweep_parse(text, strlen(text), "f", catalog, &err);
	cJSON *plan = sweep ? plan_new(sweep, 100, &err) : NULL;
	cJSON *few = sweep ? plan_new(sweep, 1, &err) : NULL;
	owned_free char *totals = NULL, *dropped = NULL, *first = NULL;
	cJSON *kept;

	if (!ok(plan && few, "a plan is made (%s)", err.text))
		return;
	totals = cJSON_PrintUnformatted(cJSON_GetObjectItem(plan, "totals"));
	is(totals,
	   "{\"cells\":6,\"kept\":4,\"dropped\":2,\"jobs\":4,\"nodes_max\":1,"
	   "\"node_jobs\":4,\"timeout_ms\":240000}",
	   "with totals");
	dropped = cJSON_PrintUnformatted(cJSON_GetObjectItem(plan, "dropped"));
	is(dropped,
	   "[{\"cell\":\"model=gpt-nano parallel.tp=4\",\"reason\":\"TP 4 x PP "
	   "1 x CP 1 = 4 does not divide the world: nodes 1 x processes 2 = "
	   "2\"},{\"cell\":\"model=gpt-mini parallel.tp=4\",\"reason\":"
	   "\"excluded on line 8\"}]",
	   "and reasons");
	kept = cJSON_GetObjectItem(plan, "kept");
	is_int(cJSON_GetArraySize(kept), 4, "and the cells that are kept");
	cJSON_DeleteItemFromObject(cJSON_GetArrayItem(kept, 0), "key");
	first = cJSON_PrintUnformatted(cJSON_GetArrayItem(kept, 0));
	is(first,
	   "{\"cell\":\"model=gpt-nano parallel.tp=1\",\"repeats\":1,"
	   "\"vendor\":\"cpu\",\"nodes\":1,\"devices\":2,\"image\":"
	   "\"regatta-cpu\",\"build\":\"cpu\",\"log\":\"cpu\",\"values\":{"
	   "\"model\":\"gpt-nano\",\"nodes\":1,"
	   "\"batch\":{\"micro\":2,\"accumulate\":1,\"sequence\":128,"
	   "\"global\":4},\"parallel\":{\"tp\":1,\"pp\":1,\"dp\":2,\"cp\":1}}}",
	   "each with what defines it");
	is_int(cJSON_GetArraySize(cJSON_GetObjectItem(few, "kept")) +
		       cJSON_GetArraySize(cJSON_GetObjectItem(few, "dropped")),
	       2, "a long one is cut, but not its totals");
	cJSON_Delete(plan);
	cJSON_Delete(few);
}

static void test_demo(void)
{
	struct error err = { 0 };
	owned(buffer_clear) struct buffer demo = BUFFER_INIT(1 << 20);
	owned(sweep_free) struct sweep *sweep = NULL;

	file_read_any("deploy/sweeps/demo.yaml", &demo, &err);
	sweep = sweep_parse(demo.data, demo.size, "demo.yaml", catalog, &err);
	ok(sweep != NULL, "the demonstration is read (%s)", err.text);
	is_int(sweep ? (long long)sweep_totals(sweep)->kept : 0, 8,
	       "and has 8 cells");
}

static void test_faults(void)
{
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep =
		sweep_parse(text, strlen(text), "f", catalog, &err);
	bool good = true;
	long n;

	for (n = 1; sweep; n++) {
		cJSON *plan;
		bool failed;

		fault_arm(n);
		plan = plan_new(sweep, 100, &err);
		failed = fault_disarm();
		cJSON_Delete(plan);
		if (failed == (plan != NULL) || (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %s", n, err.text);
		if (!failed)
			break;
	}
	ok(good && n > 50, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(60);
	fault_hook_cjson();
	catalog = catalog_load("images", &err);
	if (!ok(catalog != NULL, "the catalog is loaded (%s)", err.text))
		return tap_done();
	test_plan();
	test_demo();
	test_faults();
	catalog_free(catalog);
	return tap_done();
}
