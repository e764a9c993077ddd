/* drift_test.c - the odd node is found, and what it differs in.
 */
#include "controller/nodes/drift.h"

#include "tests/tap.h"

#include <stdlib.h>

#define NODES_MAX 8

/* What node `which` is told, joined by "; "; the caller frees it. */
static char *told(const char *const *facts, size_t count, size_t which)
{
	owned(drift_free) struct drift *drift = drift_new(NULL);
	owned(strings_clear) struct strings list = { 0 };
	cJSON *parsed[NODES_MAX];
	char *text = calloc(1, 1000);

	for (size_t i = 0; i < count; i++) {
		parsed[i] = cJSON_Parse(facts[i]);
		drift_add(drift, parsed[i], NULL);
	}
	drift_tell(drift, parsed[which], &list, NULL);
	for (size_t i = 0; i < list.count; i++)
		text_append(text, 1000, "%s%s", i ? "; " : "", list.items[i]);
	for (size_t i = 0; i < count; i++)
		cJSON_Delete(parsed[i]);
	return text;
}

static void is_told(const char *const *facts, size_t count, size_t which,
		    const char *want, const char *what)
{
	owned_free char *text = told(facts, count, which);

	is(text, want, "%s", what);
}

#define TWO "\"accelerator\":\"A1\",\"accelerators\":2,"

int main(void)
{
	static const char *const odd[] = {
		"{" TWO "\"driver\":\"1.0\",\"mtu\":9000}",
		"{" TWO "\"driver\":\"1.0\",\"mtu\":9000}",
		"{" TWO "\"driver\":\"2.0\",\"mtu\":1500}",
		"{" TWO "\"driver\":\"1.0\"}",
		"{\"accelerator\":\"B7\",\"accelerators\":2,"
		"\"driver\":\"7.0\",\"mtu\":1500}",
	};
	static const char *const none[] = {
		"{" TWO "\"driver\":\"1.0\"}",
		"{" TWO "\"driver\":\"2.0\"}",
	};
	static const char *const torn[] = {
		"{" TWO "\"driver\":\"1.0\"}",
		"{" TWO "\"driver\":\"1.0\"}",
		"{" TWO "\"driver\":\"2.0\"}",
		"{" TWO "\"driver\":\"2.0\"}",
	};
	static const char *const near[] = {
		"{\"memory_bytes\":1000000,\"clock\":{\"synchronised\":true}}",
		"{\"memory_bytes\":1000400,\"clock\":{\"synchronised\":true}}",
		"{\"memory_bytes\":999000,\"clock\":{\"synchronised\":true}}",
		"{\"memory_bytes\":500000,\"clock\":{\"synchronised\":false}}",
	};
	static const char *const alone[] = {
		"{\"remap_pending\":2,\"tool_ms\":7100}",
		"{\"remap_pending\":0,\"tool_ms\":5000}",
		"{\"clock_apart_s\":-31,\"in_use\":\"process 7 "
		"(train\\u001b[)\"}",
		"{\"clock_apart_s\":2}",
	};
	static const char *const hostile[] = {
		"{\"driver\":{},\"clock\":7,\"kernel\":\"\\u001b[2J\"}",
		"{\"driver\":[],\"clock\":[],\"kernel\":\"6\"}",
		"{\"driver\":null,\"kernel\":\"6\"}",
	};

	tap_begin(13);
	is_told(odd, 5, 2,
		"driver: 2.0, but 1.0 on 3 of 4 like it; MTU: 1500, but 9000 "
		"on 2 of 3 like it",
		"the odd one, with each difference");
	is_told(odd, 5, 0, "", "nothing of those that are as most are");
	is_told(odd, 5, 3, "", "a fact that is not known is not compared");
	is_told(odd, 5, 4, "", "nor are nodes with other accelerators");
	is_told(none, 2, 1, "", "two nodes have no odd one");
	is_told(torn, 4, 3, "", "nor have two halves");
	is_told(near, 4, 1, "", "memory may differ a little");
	is_told(near, 4, 3,
		"memory in bytes: 500000, but 1000000 on 3 of 4 like it; "
		"synchronisation of the clock: no, but yes on 3 of 4 like it",
		"but not by half");
	is_told(alone, 2, 0,
		"memory of 2 devices waits for a reset to be repaired; the "
		"vendor's tool takes 7.1 s",
		"some facts are told of any node");
	is_told(alone, 4, 2,
		"its clock is 31 s ahead of the controller's; the devices are "
		"in use: process 7 (train?[)",
		"a clock that is apart, and devices that others use");
	is_told(alone, 4, 3, "its clock is 2 s behind the controller's",
		"whichever is behind");
	is_told(alone, 2, 1, "", "unless they are as they should be");
	is_told(hostile, 3, 0, "kernel: ?[2J, but 6 on 2 of 3 like it",
		"a fact of another kind is none, and control characters are "
		"not told");
	return tap_done();
}
