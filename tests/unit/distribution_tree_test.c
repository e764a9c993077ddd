/* distribution_tree_test.c - who gets a content from whom.
 */
#include "controller/blobs/distribution_tree.h"

#include "protocol/blob/blob_store.h"
#include "tests/tap.h"

static const char hash[BLOB_HASH_SIZE] = "a";

static const char *ask(struct distribution_tree *distribution, const char *node,
		       uint64_t length, const char *failed)
{
	const char *source = "?";

	distribution_tree_source(distribution, hash, 100, node, length, failed,
				 &source, NULL);
	return source;
}

static void chain(void)
{
	owned(distribution_tree_free) struct distribution_tree *distribution =
		distribution_tree_new(NULL);

	is(ask(distribution, "n1", 0, NULL), NULL,
	   "the first: from the controller");
	is(ask(distribution, "n2", 0, NULL), "n1",
	   "the second: from the first");
	is(ask(distribution, "n3", 0, NULL), "n2",
	   "the third: from the second");
	is(ask(distribution, "n4", 0, NULL), "n3",
	   "the fourth: from the third");
	is(ask(distribution, "n2", 10, NULL), NULL,
	   "one that has more than those that give: from the controller");
	distribution_tree_has(distribution, hash, 100, "n1", 100, NULL);
	is(ask(distribution, "n5", 0, NULL), "n1",
	   "one that has all of it: gives");
	is(ask(distribution, "n6", 0, NULL), "n1", "to two");
	ok(strcmp(ask(distribution, "n7", 0, NULL), "n1") != 0, "not to three");
}

static void deaths(void)
{
	owned(distribution_tree_free) struct distribution_tree *distribution =
		distribution_tree_new(NULL);

	ask(distribution, "n1", 0, NULL);
	ask(distribution, "n2", 0, NULL);
	ask(distribution, "n3", 0, NULL);
	ask(distribution, "n4", 0, NULL);
	distribution_tree_has(distribution, hash, 100, "n1", 50, NULL);
	distribution_tree_has(distribution, hash, 100, "n3", 40, NULL);
	distribution_tree_gone(distribution, "n2");
	is(ask(distribution, "n3", 40, "n2"), "n1",
	   "behind one that died: behind the one before it");
	is(ask(distribution, "n2", 0, NULL), "n4",
	   "back again it is the last of the chain");
	distribution_tree_has(distribution, hash, 100, "n1", 60, NULL);
	is(ask(distribution, "n3", 50, "n1"), NULL,
	   "whoever does not do is not asked again");
	is(ask(distribution, "n5", 0, "n1"), "n2",
	   "by that one; and never in a circle");
}

static void waits(void)
{
	owned(distribution_tree_free) struct distribution_tree *distribution =
		distribution_tree_new(NULL);

	ask(distribution, "n1", 0, NULL);
	ask(distribution, "n2", 0, NULL);
	distribution_tree_has(distribution, hash, 100, "n1", 30, NULL);
	is(ask(distribution, "n2", 30, "n1"), "n1",
	   "one that is waiting itself is not at fault");
	distribution_tree_has(distribution, hash, 100, "n1", 40, NULL);
	is(ask(distribution, "n2", 30, "n1"), NULL, "one that has more is");
}

static void closed(void)
{
	owned(distribution_tree_free) struct distribution_tree *distribution =
		distribution_tree_new(NULL);
	char name[16];

	for (int i = 1; i < 6; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		distribution_tree_has(distribution, hash, 100, name, 100, NULL);
	}
	ask(distribution, "x", 0, NULL);
	ask(distribution, "x", 0, "n1");
	ask(distribution, "x", 0, "n2");
	is(ask(distribution, "x", 0, "n3"), NULL,
	   "that no node can be reached ends at the controller");
}

static void lost(void)
{
	owned(distribution_tree_free) struct distribution_tree *distribution =
		distribution_tree_new(NULL);

	distribution_tree_has(distribution, hash, 100, "n1", 100, NULL);
	is(ask(distribution, "x", 0, NULL), "n1", "who has it all is asked");
	ask(distribution, "x", 0, "n1");
	ask(distribution, "y", 0, NULL);
	ask(distribution, "y", 0, "n1");
	ok(strcmp(ask(distribution, "z", 0, NULL), "n1") != 0,
	   "not any more when it did not do for two");
	distribution_tree_has(distribution, hash, 100, "n1", 100, NULL);
	is(ask(distribution, "q", 0, NULL), "n1",
	   "until it says that it has it");
}

static void many(void)
{
	owned(distribution_tree_free) struct distribution_tree *distribution =
		distribution_tree_new(NULL);
	const char *source;
	char name[16], other[BLOB_HASH_SIZE] = "";
	int direct = 0;

	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "m%d", i);
		direct += !ask(distribution, name, 0, NULL);
	}
	is_int(direct, 1, "of a thousand, the controller gives to one");
	for (int i = 0; i < DISTRIBUTION_TREE_BLOBS_MAX + 10; i++) {
		snprintf(other, sizeof(other), "c%d", i);
		distribution_tree_source(distribution, other, 10, "n1", 0, NULL,
					 &source, NULL);
	}
	is(ask(distribution, "n9", 0, NULL), NULL,
	   "what is unused is forgotten");
}

int main(void)
{
	tap_begin(30);
	chain();
	deaths();
	waits();
	closed();
	lost();
	many();
	return tap_done();
}
