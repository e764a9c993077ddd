/* acceptance_test.c - what a validation says of nodes, from the rows of its
 * sweeps.
 */
#include "controller/validation/acceptance.h"

#include "tests/tap.h"
#include "tests/unit/report_rows.h"

#include <math.h>

#define NODES 9

/* Rows of nodes n1 ... n9 in a sweep: n2 computes slowly, n5 has other losses,
 * n9 fails. only: NULL, or the one node that is measured.
 */
static struct report_rows rows_measured(const char *only)
{
	char text[20000] = "[";

	for (int i = 1; i <= NODES; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%d", i);
		if (only && strcmp(only, name) != 0)
			continue;
		text_append(
			text, sizeof(text),
			"%s{\"cell\":\"node=%s\",\"values\":{\"node\":\"%s\"},"
			"\"provenance\":{\"nodes\":[\"%s\"],\"driver\":\"5\"},",
			text[1] ? "," : "", name, name, name);
		if (i == NODES)
			text_append(text, sizeof(text),
				    "\"state\":\"failed\",\"failure\":"
				    "\"command\","
				    "\"text\":\"exit 3\"}");
		else
			text_append(text, sizeof(text),
				    "\"state\":\"completed\",\"result\":{"
				    "\"metrics\":{"
				    "\"compute_gflops\":%d,\"disk_ms\":%d}},"
				    "\"series\":{\"loss\":[[1,3.5],[2,%s]]}}",
				    i == 2 ? 60 : 100 + i % 3, 50 + i % 2,
				    i == 5 ? "2.25" : "2.5");
	}
	text_append(text, sizeof(text), "]");
	return rows_of_text(text);
}

static const struct accepted_unit *unit_named(const struct acceptance *in,
					      const char *name)
{
	for (size_t i = 0; i < in->units_count; i++)
		if (!strcmp(in->units[i].name, name))
			return &in->units[i];
	return NULL;
}

static void unit_is(const struct acceptance *in, const char *name,
		    enum verdict verdict, const char *why)
{
	const struct accepted_unit *unit = unit_named(in, name);
	char text[ACCEPTANCE_WHY];

	ok(unit && unit->verdict == verdict, "%s is %s", name,
	   verdict_names[verdict]);
	if (unit)
		ok(strstr(unit_why(unit, text), why) != NULL, "%s: %s", name,
		   text);
}

static void measure_again(const char *node, struct measured *second)
{
	owned(report_rows_clear) struct report_rows rows = rows_measured(node);

	ok(measured_add(second, &rows, false, NULL) == 0, "%s again", node);
}

static void test_verdicts(void)
{
	owned(report_rows_clear) struct report_rows rows = rows_measured(NULL);
	owned(measured_clear) struct measured first = { 0 }, second = { 0 };
	owned(acceptance_clear) struct acceptance once = { 0 }, twice = { 0 };
	owned(buffer_clear) struct buffer xml = BUFFER_INIT(100000);

	ok(measured_add(&first, &rows, false, NULL) == 0 &&
		   first.values_count == 16 && first.losses_count == 8 &&
		   first.failures_count == 1,
	   "rows become values, losses and failures");
	peers_judge(first.values, first.values_count, NULL);
	measured_losses(&first);
	acceptance_add(&once, &first, NULL, NULL);
	unit_is(&once, "n1", VERDICT_GOOD, "");
	unit_is(&once, "n2", VERDICT_SUSPECT, "compute_gflops: 60, 40.");
	unit_is(&once, "n5", VERDICT_SUSPECT, "those of 7 of 8 like it");
	unit_is(&once, "n9", VERDICT_SUSPECT, "run failed: ");
	measure_again("n2", &second);
	measure_again("n5", &second);
	measure_again("n9", &second);
	acceptance_add(&twice, &first, &second, NULL);
	unit_is(&twice, "n2", VERDICT_BAD, "chance");
	unit_is(&twice, "n5", VERDICT_BAD, "it computes something else");
	unit_is(&twice, "n9", VERDICT_BAD, "exit 3");
	unit_is(&twice, "n8", VERDICT_GOOD, "");
	ok(acceptance_of(&twice, "n2") == VERDICT_BAD &&
		   acceptance_of(&twice, "n22") == VERDICT_GOOD &&
		   acceptance_count(&twice, UNIT_NODE, VERDICT_BAD) == 3,
	   "verdicts are counted and found by name");
	twice.set = strdup("a<b");
	ok(acceptance_junit(&twice, &xml, NULL) == 0 &&
		   strstr(xml.data, "name=\"a&lt;b\" tests=\"9\" "
				    "failures=\"3\""),
	   "JUnit has all, escaped");
}

/* Nine nodes with two devices, of which the second of n3 is slow. */
static void test_devices(void)
{
	owned(report_rows_clear) struct report_rows rows = { 0 };
	owned(measured_clear) struct measured first = { 0 };
	owned(acceptance_clear) struct acceptance once = { 0 };
	char text[4000] = "[";

	for (int i = 1; i <= NODES; i++)
		text_append(text, sizeof(text),
			    "%s{\"cell\":\"node=n%d\",\"state\":\"completed\","
			    "\"values\":{\"node\":\"n%d\"},\"result\":{"
			    "\"metrics\":{\"device0_bf16_tflops\":%d,"
			    "\"device1_bf16_tflops\":%d,\"device1_\":1,"
			    "\"devices\":2}}}",
			    text[1] ? "," : "", i, i, 700 + i,
			    i == 3 ? 500 : 710 - i);
	text_append(text, sizeof(text), "]");
	rows = rows_of_text(text);
	measured_add(&first, &rows, false, NULL);
	peers_judge(first.values, first.values_count, NULL);
	acceptance_add(&once, &first, NULL, NULL);
	unit_is(&once, "n3 device 1", VERDICT_SUSPECT, "bf16_tflops: 500");
	ok(unit_named(&once, "n3") && !unit_named(&once, "n3 device 0") &&
		   !unit_named(&once, "n1 device 1"),
	   "good ones are not told");
}

/* Rows of nodes n1 ... n7 that all complete. n2 measures nothing, n3 lacks one
 * device, n4 has another driver.
 */
static void measure_some(struct measured *to)
{
#define ALL "\"gflops\":9,\"device0_tflops\":1,\"device1_tflops\":1"
	static const char *const metrics[] = {
		ALL,
		"",
		"\"gflops\":9,\"device0_tflops\":1,\"more\":3",
		"\"gflops\":1",
		ALL,
		ALL,
		ALL
	};
	owned(report_rows_clear) struct report_rows rows = { 0 };
	char text[4000] = "[";

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		text_append(text, sizeof(text),
			    "%s{\"cell\":\"node=n%zu\",\"values\":{\"node\":"
			    "\"n%zu\"},\"state\":\"completed\","
			    "\"provenance\":{\"nodes\":[\"n%zu\"],"
			    "\"driver\":\"%d\"},\"result\":{\"metrics\":{%s}}}",
			    i ? "," : "", i + 1, i + 1, i + 1, i == 3,
			    metrics[i]);
	text_append(text, sizeof(text), "]");
	rows = rows_of_text(text);
	ok(measured_add(to, &rows, false, NULL) == 0 && !to->failures_count,
	   "rows that lack values are no failures");
	peers_judge(to->values, to->values_count, NULL);
}

static void test_lacking(void)
{
	owned(measured_clear) struct measured first = { 0 }, second = { 0 };
	owned(acceptance_clear) struct acceptance once = { 0 }, twice = { 0 };

	measure_some(&first);
	ok(measured_lacking(&first, NULL) == 0 && first.failures_count == 3,
	   "until they are compared with their peers");
	acceptance_add(&once, &first, NULL, NULL);
	unit_is(&once, "n2", VERDICT_SUSPECT,
		"gflops failed: its output has 0 such values; that of others "
		"like it has 1");
	unit_is(&once, "n3", VERDICT_SUSPECT,
		"tflops failed: its output has 1");
	ok(unit_named(&once, "n1")->verdict == VERDICT_GOOD &&
		   unit_named(&once, "n4")->verdict == VERDICT_GOOD,
	   "not so one with all, or without peers");
	measure_some(&second);
	ok(measured_lacking_again(&first, &second, NULL) == 0, "and once more");
	acceptance_add(&twice, &first, &second, NULL);
	unit_is(&twice, "n2", VERDICT_BAD, "gflops");
	unit_is(&twice, "n3", VERDICT_BAD, "tflops");
}

int main(void)
{
	tap_begin(24);
	test_verdicts();
	test_lacking();
	test_devices();
	return tap_done();
}
