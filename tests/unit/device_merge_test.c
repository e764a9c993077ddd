/* device_merge_test.c - devices keep their places while others come and go.
 */
#include "agent/devices/inventory.h"

#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

/* Devices at these places on the bus; ends in NULL. */
static struct devices at(const char *const *places)
{
	struct devices found = { 0 };

	found.list = calloc(8, sizeof(*found.list));
	for (; places[found.count]; found.count++)
		found.list[found.count].bus_id = strdup(places[found.count]);
	return found;
}
#define AT(...) at((const char *const[]){ __VA_ARGS__, NULL })

/* Of the known ones, in their order; "-" before one that is gone. */
static const char *text(const struct devices *known)
{
	static char out[200];

	*out = 0;
	for (size_t i = 0; i < known->count; i++)
		snprintf(out + strlen(out), sizeof(out) - strlen(out),
			 "%u:%s%s ", known->list[i].index,
			 known->list[i].gone ? "-" : "", known->list[i].bus_id);
	return out;
}

/* How many are new or back. */
static size_t merge(struct devices *known, struct devices found)
{
	size_t news = 0;

	ok(device_merge(known, &found, &news, NULL) == 0, "merged");
	devices_clear(&found);
	return news;
}

int main(void)
{
	struct devices known = { 0 }, found;

	tap_begin(10);
	is_int((long long)merge(&known, AT("a", "b")), 2, "two are new");
	is(text(&known), "0:a 1:b ", "in the order in which they were found");
	is_int((long long)merge(&known, AT("b")), 0, "one is no more");
	is(text(&known), "0:-a 1:b ", "it stays as gone, the other in place");
	is_int((long long)merge(&known, AT("c", "b", "a")), 2,
	       "one is new, one is back");
	is(text(&known), "0:a 1:b 2:c ", "what is back has its old place");

	known.list[1].name = strdup("card");
	known.list[1].memory_mib = 16;
	merge(&known, AT("a", "b", "c"));
	is(known.list[1].name, "card", "what was known and is not told holds");
	found = AT("a", "b", "c");
	found.list[1].name = strdup("other");
	merge(&known, found);
	is(known.list[1].name, "other", "what is told anew counts");
	is_int((long long)known.list[1].memory_mib, 16, "beside the rest");
	devices_clear(&known);

	merge(&known, AT("a", "a"));
	merge(&known, AT("a"));
	is(text(&known), "0:a 1:-a ", "dies of a card differ by their order");
	devices_clear(&known);
	return tap_done();
}
