/* sweep_image_test.c - what a node reports of an image is a claim: what of it
 * the sweep takes; and the images that jobs need.
 */
#include "controller/images/sweep_image.h"

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
	struct sweep_images *images;
	struct gang gang;
	struct job job;
	struct node nodes[2];
	char text[400];
};

/* What node n says that the image of a new sweep is. */
static enum image_learnt learn(struct bed *bed, int n, const char *found)
{
	struct task task = { .job = &bed->job, .hold.node = &bed->nodes[n] };

	bed->text[0] = 0;
	return sweep_image_learn(bed->images, &task, found, bed->text,
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
	sweep_image_drop(bed->images, bed->job.image);
	bed->job.image = sweep_image_get(bed->images, bed->job.sweep,
					 &bed->gang.spec, NULL);
}

static void claims(struct bed *bed)
{
	use(bed, "r:1/app:1", NULL);
	ok(learn(bed, 0, "r:1/other@" D1) == IMAGE_OTHER &&
		   !strcmp(bed->text,
			   "n1 reports that image r:1/app:1 is r:1/other@" D1
			   ", which is not in that repository"),
	   "a digest of another repository is refused: %s", bed->text);
	ok(learn(bed, 0, "r:2/app@" D1) == IMAGE_OTHER,
	   "and of another registry");
	ok(learn(bed, 0, "r:1/app:2") == IMAGE_OTHER, "and a tag");
	ok(learn(bed, 0, "") == IMAGE_OTHER &&
		   learn(bed, 0, "sha256:ee") == IMAGE_OTHER,
	   "and what is no reference");
	ok(!sweep_image_digest(bed->images, &bed->job), "none of it is stored");
	is_int(learn(bed, 0, "r:1/app@" D1), IMAGE_NEW, "one of its own is");
	is(sweep_image_digest(bed->images, &bed->job), "r:1/app@" D1,
	   "as told");
	is_int(learn(bed, 1, "r:1/app@" D1), IMAGE_SAME,
	       "nodes that agree are fine");
	ok(learn(bed, 1, "r:1/app@" D2) == IMAGE_OTHER &&
		   strstr(bed->text, "n1") && strstr(bed->text, "n2"),
	   "those that do not are named: %s", bed->text);
	is(sweep_image_digest(bed->images, &bed->job), "r:1/app@" D1,
	   "and nothing is another's");
}

/* Of a gang's nodes: which may prepare, and which must look ("pl")? */
static const char *orders(struct bed *bed)
{
	static char text[10];

	for (int i = 0; i < 2; i++) {
		const struct task *task = &bed->gang.tasks[i];

		text[i] = sweep_image_may_prepare(bed->images, task) ? 'p'
			  : sweep_image_must_look(bed->images, task) ? 'l'
								     : '-';
	}
	return text;
}

static void looks(struct bed *bed)
{
	struct task tasks[2] = {
		{ .job = &bed->job, .hold.node = &bed->nodes[0] },
		{ .job = &bed->job, .rank = 1, .hold.node = &bed->nodes[1] },
	};

	use(bed, "app:1", NULL);
	bed->gang.job = &bed->job;
	bed->gang.tasks = tasks;
	bed->gang.spec.nodes = 2;
	is(orders(bed), "ll", "nodes of a gang look before anyone asks");
	tasks[1].image_look = (char *)D1;
	is(orders(bed), "l-", "all of them");
	tasks[0].image_look = (char *)"";
	is(orders(bed), "p-", "then the first may ask");
	learn(bed, 1, D1);
	is(orders(bed), "pp", "and all may prepare what is known");
	use(bed, "app:1", NULL);
	bed->gang.spec.nodes = 1;
	tasks[0].image_look = NULL;
	is(orders(bed), "p-", "one node alone need not look");
	bed->gang.tasks = NULL;
}

static void forms(struct bed *bed)
{
	use(bed, "ubuntu", NULL);
	is_int(learn(bed, 0, "docker.io/library/ubuntu@" D1), IMAGE_NEW,
	       "the Hub's names are the same in full");
	use(bed, "app:1", NULL);
	is_int(learn(bed, 0, D1), IMAGE_NEW,
	       "an image of no registry has an id");
	use(bed, "app:1@" D1, NULL);
	is_int(learn(bed, 0, "app@" D2), IMAGE_SAME,
	       "a sweep's own digest needs none");
	ok(!sweep_image_digest(bed->images, &bed->job),
	   "and no node changes it");
	use(bed, "mine:1", "vendors/mine");
	is_int(learn(bed, 0, "mine:0123456789ab"), IMAGE_NEW,
	       "a built one is what it was built from");
}

/* "image build jobs, ..." of what nodes of that vendor must keep. */
static const char *needs(struct bed *bed, const char *vendor)
{
	static char text[400];
	struct image_need *list = NULL;
	size_t count = 0;

	text[0] = 0;
	sweep_images_list(bed->images, vendor, &list, &count, NULL);
	for (size_t i = 0; i < count; i++) {
		size_t used = strlen(text);

		snprintf(text + used, sizeof(text) - used, "%s %s %d, ",
			 list[i].reference, list[i].build ? list[i].build : "-",
			 (int)list[i].jobs);
	}
	needs_free(list, count);
	return text;
}

static void uses(struct bed *bed)
{
	struct job_spec spec = { .vendor = (char *)"b",
				 .container.image = (char *)"r:1/app:1" };
	struct sweep_image *image;

	use(bed, "r:1/app:1", NULL);
	is(needs(bed, "a"), "", "a job that is final needs no image");
	sweep_image_count(bed->job.image, "a", true);
	is(needs(bed, "a"), "r:1/app:1 - 1, ", "one that is not needs its");
	is(needs(bed, "b"), "", "on nodes of its vendor");
	image = sweep_image_get(bed->images, bed->job.sweep, &spec, NULL);
	ok(image == bed->job.image, "jobs of other vendors share it");
	sweep_image_count(image, "b", true);
	sweep_image_count(image, "b", true);
	is(needs(bed, "b"), "r:1/app:1 - 2, ", "and count for theirs");
	learn(bed, 0, "r:1/app@" D1);
	store_commit(bed->store, NULL);
	is(needs(bed, "b"), "r:1/app:1 - 2, r:1/app@" D1 " - 2, ",
	   "what the name resolves to is needed, too");
	sweep_image_count(image, "b", false);
	sweep_image_count(image, "b", false);
	is(needs(bed, "b"), "", "until they are final");
	sweep_image_drop(bed->images, image);
	sweep_image_drop(bed->images, bed->job.image);
	bed->job.image = sweep_image_get(bed->images, bed->job.sweep,
					 &bed->gang.spec, NULL);
	is(sweep_image_digest(bed->images, &bed->job), "r:1/app@" D1,
	   "a later job of the sweep gets the digest from the store");
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
	bed.gang.spec.vendor = (char *)"a";
	bed.store = store_new(folder, NULL);
	bed.table = job_table_new(NULL);
	bed.images = sweep_images_new(bed.store, NULL);
	claims(&bed);
	looks(&bed);
	forms(&bed);
	uses(&bed);
	sweep_image_drop(bed.images, bed.job.image);
	sweep_images_free(bed.images);
	job_table_free(bed.table);
	store_free(bed.store);
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
