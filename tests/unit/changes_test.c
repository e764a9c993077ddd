/* changes_test.c - who is woken by what.
 */
#include "controller/cluster/changes.h"

#include "tests/tap.h"

int main(void)
{
	struct changes changes = { 0 };

	tap_begin(30);
	ok(!changes_any(&changes), "at first there is nothing new");
	changes_add_job(&changes, 7);
	ok(changes_any(&changes) && changes_of_job(&changes, 7) &&
		   !changes_of_job(&changes, 8),
	   "output of a job is a change of that job alone");
	ok(!changes.events, "and no event");
	for (int i = 0; i < 2 * CHANGES_JOBS_MAX; i++)
		changes_add_job(&changes, 7);
	ok(!changes_of_job(&changes, 8), "however much of it there is");
	for (uint64_t i = 0; i <= CHANGES_JOBS_MAX; i++)
		changes_add_job(&changes, 100 + i);
	ok(changes_of_job(&changes, 8), "of very many jobs all have changed");
	changes_clear(&changes);
	ok(!changes_any(&changes) && !changes_of_job(&changes, 7),
	   "once told, it is old");
	changes.events = true;
	ok(changes_any(&changes) && !changes_of_job(&changes, 7),
	   "an event alone is no change of any job's output");
	return tap_done();
}
