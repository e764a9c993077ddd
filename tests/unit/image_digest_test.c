/* image_digest_test.c - a node's word about an image is a claim: what of it the
 * sweep takes.
 */
#include "controller/images/image_digest.h"

#include "controller/cluster/active_job_internal.h"
#include "controller/nodes/node_internal.h"
#include "controller/store/store.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define D1 "sha256:" E8 E8 E8 E8 E8 E8 E8 E8
#define D2 "sha256:" F8 F8 F8 F8 F8 F8 F8 F8
#define E8 "eeeeeeee"
#define F8 "ffffffff"

struct bed {
	struct store *store;
	struct job_table *table;
	struct image_digests *digests;
	struct gang gang;
	struct job job;
	struct node nodes[2];
	char text[400];
};

/* What node n says that the image of a new sweep is. */
static int learn(struct bed *bed, int n, const char *found)
{
	struct task task = { .job = &bed->job, .hold.node = &bed->nodes[n] };

	bed->text[0] = 0;
	return image_digest_learn(bed->digests, &task, found, bed->text,
				  sizeof(bed->text));
}

static void use(struct bed *bed, const char *image, const char *build)
{
	const struct sweep_row sweep = {
		.id = ++bed->job.sweep, .name = "s", .text = "", .client = "u t"
	};

	store_put_sweep(bed->store, &sweep, NULL);
	bed->gang.spec.container.image = (char *)image;
	bed->gang.spec.container.build = (char *)build;
}

static void claims(struct bed *bed)
{
	use(bed, "r:1/app:1", NULL);
	ok(learn(bed, 0, "r:1/other@" D1) < 0 &&
		   !strcmp(bed->text,
			   "n1 reports that image r:1/app:1 is r:1/other@" D1
			   ", which is not in that repository"),
	   "a digest of another repository is refused: %s", bed->text);
	ok(learn(bed, 0, "r:2/app@" D1) < 0, "and of another registry");
	ok(learn(bed, 0, "r:1/app:2") < 0, "and a tag");
	ok(learn(bed, 0, "") < 0 && learn(bed, 0, "sha256:ee") < 0,
	   "and what is no reference");
	ok(!image_digest_of(bed->digests, &bed->job), "none of it is stored");
	is_int(learn(bed, 0, "r:1/app@" D1), 1, "one of its own is");
	is(image_digest_of(bed->digests, &bed->job), "r:1/app@" D1, "as told");
	is_int(learn(bed, 1, "r:1/app@" D1), 0, "nodes that agree are fine");
	ok(learn(bed, 1, "r:1/app@" D2) < 0 && strstr(bed->text, "n1") &&
		   strstr(bed->text, "n2"),
	   "those that do not are named: %s", bed->text);
	is(image_digest_of(bed->digests, &bed->job), "r:1/app@" D1,
	   "and nothing is another's");
}

static void forms(struct bed *bed)
{
	use(bed, "ubuntu", NULL);
	is_int(learn(bed, 0, "docker.io/library/ubuntu@" D1), 0 + 1,
	       "the Hub's names are the same in full");
	use(bed, "app:1", NULL);
	is_int(learn(bed, 0, D1), 1, "an image of no registry has an id");
	use(bed, "app:1@" D1, NULL);
	is_int(learn(bed, 0, "app@" D2), 0, "a sweep's own digest needs none");
	ok(!image_digest_of(bed->digests, &bed->job), "and no node changes it");
	use(bed, "mine:1", "vendors/mine");
	is_int(learn(bed, 0, "mine:0123456789ab"), 1,
	       "a built one is what it was built from");
}

int main(void)
{
	struct bed bed = { .nodes[0].view.name = "n1",
			   .nodes[1].view.name = "n2",
			   .job.id = 1 };
	char folder[] = "/tmp/image-digest-test-XXXXXX";

	tap_begin(60);
	if (!mkdtemp(folder))
		return 1;
	bed.job.gang = &bed.gang;
	bed.store = store_new(folder, NULL);
	bed.table = job_table_new(NULL);
	bed.digests = image_digests_new(bed.store, bed.table, NULL);
	claims(&bed);
	forms(&bed);
	image_digests_free(bed.digests);
	job_table_free(bed.table);
	store_free(bed.store);
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
