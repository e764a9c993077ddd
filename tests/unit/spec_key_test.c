/* spec_key_test.c - what makes a cell another one, and what does not.
 */
#include "controller/cell/key.h"

#include "tests/tap.h"

#include <string.h>

#define T(text) ((char *)(text))

static struct job_spec spec(void)
{
	static char *argv[] = { T("train"), T("ab"), T("c") };
	static struct mount_spec mounts[] = {
		{ .host = T("/a"), .container = T("/b") },
	};

	return (struct job_spec){
		.sweep = T("s"),
		.cell = T("c"),
		.key = T("k"),
		.vendor = T("cpu"),
		.nodes = 2,
		.container = { .image = T("i"),
			       .argv = { argv, 3 },
			       .mounts = mounts,
			       .mounts_count = 1,
			       .cpus = 1.5 },
		.measure = { .model = T("m"), .micro_batch = 2 },
	};
}

static void key_of(struct job_spec of, char key[SPEC_KEY_SIZE])
{
	struct error err = { 0 };

	if (spec_key(&of, key, &err) < 0)
		snprintf(key, SPEC_KEY_SIZE, "%.64s", err.text);
}

static void differs(struct job_spec of, bool want, const char *what)
{
	char first[SPEC_KEY_SIZE], key[SPEC_KEY_SIZE];

	key_of(spec(), first);
	key_of(of, key);
	ok((strcmp(first, key) != 0) == want, T("%s: %s key"), what,
	   want ? T("another") : "the same");
}

static void test_same(void)
{
	struct job_spec same = spec();

	same.sweep = T("other");
	same.cell = T("in other words");
	same.key = T("x");
	same.repeat = 7;
	same.priority = -3;
	same.labels = T("rack=a,mynode=b");
	same.timeout_ms = 5;
	same.retries = 9;
	same.measure.spread_percent = 3;
	same.values = cJSON_CreateObject();
	differs(same, false, "what is said of a job, but is not the job");
	cJSON_Delete(same.values);
}

static void test_others(void)
{
	static char *parted[] = { T("train"), T("a"), T("bc") };
	static char *fewer[] = { T("train"), T("abc") };
	struct mount_spec mount = { .host = T("/a"),
				    .container = T("/b"),
				    .read_only = true };
	struct job_spec other = spec();

	other.nodes = 3;
	differs(other, true, "a number");
	other = spec();
	other.shared = true;
	differs(other, true, "a bool");
	other = spec();
	other.container.cpus = 1.25;
	differs(other, true, "a fraction");
	other = spec();
	other.container.image = T("j");
	differs(other, true, "a text");
	other = spec();
	other.container.argv = (struct strings){ parted, 3 };
	differs(other, true, "the same letters in other words");
	other.container.argv = (struct strings){ fewer, 2 };
	differs(other, true, "or in fewer words");
	other = spec();
	other.container.mounts = &mount;
	differs(other, true, "an item of a list");
	other = spec();
	other.container.mounts_count = 0;
	differs(other, true, "one item less");
	other = spec();
	other.container.workdir = T("m");
	other.measure.model = NULL;
	differs(other, true, "a text in another place");
	other = spec();
	other.labels = T("rack=a,node=n1");
	differs(other, true, "the name of a node");
	other = spec();
	other.measure.chip = T("x");
	differs(other, true, "what a result is held against");
}

static void test_stable(void)
{
	char key[SPEC_KEY_SIZE];
	struct job_spec least = { .vendor = T("cpu"), .nodes = 1 };

	/* Stores hold keys: a change of this one forgets what has run. */
	key_of(least, key);
	is(key,
	   "f94fdb3e7794ecd4e00162daeb834cf63392cdd37f16c30f9f55e78c2a593391",
	   "a key stays what it is");
}

int main(void)
{
	tap_begin(12);
	test_same();
	test_others();
	test_stable();
	return tap_done();
}
