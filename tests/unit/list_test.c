/* list_test.c - lists of structs grow, whoever allocated them.
 */
#include "protocol/base/list.h"

#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

struct point {
	int x;
	char *name;
};

static void items_are_added(void)
{
	struct point *points = NULL;
	uint32_t count = 0;
	int sum = 0, used = 0;

	for (int i = 0; i < 100; i++) {
		struct point *point = LIST_ADD(points, count, NULL);

		used += point->x != 0 || point->name;
		point->x = i;
	}
	for (uint32_t i = 0; i < count; i++)
		sum += points[i].x;
	is_int(count, 100, "every item is counted");
	is_int(sum, 4950, "those that are there stay");
	is_int(used, 0, "a new one is zeroed");
	free(points);
}

/* As the codec makes lists. */
static void an_exact_list_grows(void)
{
	struct point *points = calloc(3, sizeof(*points));
	size_t count = 3;

	points[2].x = 7;
	LIST_ADD(points, count, NULL)->x = 8;
	ok(count == 4 && points[2].x == 7 && points[3].x == 8,
	   "a list without room grows");
	free(points);
}

static void memory_runs_out(void)
{
	struct error err = { 0 };
	struct point *points = NULL;
	size_t count = 0;

	LIST_ADD(points, count, NULL)->x = 5;
	fault_arm(1);
	ok(!LIST_ADD(points, count, &err), "no memory: no item");
	fault_disarm();
	is_int(err.code, ENOMEM, "the error says so");
	ok(count == 1 && points[0].x == 5, "and the list is as it was");
	free(points);
}

int main(void)
{
	tap_begin(10);
	items_are_added();
	an_exact_list_grows();
	memory_runs_out();
	return tap_done();
}
