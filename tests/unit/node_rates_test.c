/* node_rates_test.c - which node is slower than the others. */
#include "controller/report/node_rates.h"

#include "tests/tap.h"
#include "tests/unit/report_rows.h"

#include <math.h>

#define ROW(cell, rate, nodes)                                                 \
	"{\"cell\": \"" cell "\", \"state\": \"completed\", \"result\": "      \
	"{\"tokens_per_second_per_device\": " rate ", \"flags\": []}, "        \
	"\"provenance\": {\"nodes\": [" nodes "]}}"

/* The table of the rows, a line for each node. */
static void table_is(const char *json, const char *want)
{
	owned(report_rows_clear) struct report_rows rows = rows_of_text(json);
	owned(table_clear) struct table table = { 0 };
	struct error err = { 0 };
	char text[1000] = "";

	ok(node_rates_table(&rows, LANGUAGE_EN, &table, &err) == 0,
	   "nodes are compared (%s)", err.text);
	for (size_t i = 0; i < table.count; i++)
		text_append(text, sizeof(text), "%s%s", table.cells[i].text,
			    i % 4 == 3 ? "\n" : " ");
	is(text, want, "as they are");
}

int main(void)
{
	tap_begin(20);
	table_is("[" ROW("a", "100", "\"n1\"") "," ROW("a", "102",
						       "\"n1\"") "]",
		 "");
	table_is("[" ROW("a", "100",
			 "\"n2\"") "," ROW("a", "90",
					   "\"n10\"") "," ROW("b", "50",
							      "\"n1\"") "]",
		 "n2 +11.1 1 1\nn10 -10.0 (!) 1 1\n");
	table_is(
		"[" ROW("a", "100", "\"n1\"") "," ROW("a", "101", "\"n2\"") "," ROW("a", "90", "\"n3\"") "," ROW(
			"a", "91",
			"\"n3\"") "," ROW("b", "10",
					  "\"n1\"") "," ROW("b", "10.1",
							    "\"n2\"") "," ROW("b",
									      "9",
									      "\"n3\"") "]",
		"n1 +0.0 ± 0.0 2 2\nn2 +1.0 ± 0.0 2 2\nn3 -9.7 ± 1.4 (!) 3 "
		"2\n");
	table_is("[" ROW("a", "100",
			 "\"n1\", \"n2\"") "," ROW("a", "104",
						   "\"n1\", \"n2\"") "]",
		 "");
	table_is("[" ROW("a", "100",
			 "\"n1\", \"n2\"") "," ROW("a", "80",
						   "\"n1\", \"n3\"") "]",
		 "n2 +25.0 1 1\nn3 -20.0 (!) 1 1\n");
	return tap_done();
}
