/* prune_test.c - which images may go, which one first, and which one
 * is meant.
 */
#include "agent/images/prune.h"

#include "agent/images/image_inventory.h"
#include "protocol/config/free_space.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define IMAGES 6
#define HEX(c) c c c c c c c c
#define ID(c) "sha256:" HEX(c c c c c c c c)

static const char list[] = "[{\"Id\":\"" ID(
	"a") "\",\"RepoTags\":[\"r:5000/x/t:1\"],"
	     "\"RepoDigests\":[\"r:5000/x/t@" ID(
		     "1") "\"],\"Created\":100,"
			  "\"Size\":1000},"
			  "{\"Id\":\"" ID(
				  "b") "\",\"RepoTags\":[\"r:5000/x/"
				       "t:2\",\"other:1\"],"
				       "\"RepoDigests\":[],\"Created\":200,"
				       "\"Size\":2000},"
				       "{\"Id\":\"" ID(
					       "c") "\",\"RepoTags\":null,"
						    "\"RepoDigests\":[\"r:5000/"
						    "x/t@" ID(
							    "3") "\"],"
								 "\"Created\":"
								 "150,"
								 "\"Size\":"
								 "1e300},"
								 "{\"Id\":"
								 "\"" ID("d") "\",\"RepoTags\":[\"vendors/v/f:0123456789ab\"],"
									      "\"Created\":120,\"Size\":-5,"
									      "\"Labels\":{\"regatta.context\":\"0123\"}},"
									      "{\"Id\":\"" ID(
										      "e") "\",\"RepoTags\":[\"<none>:<none>\"],"
											   "\"RepoDigests\":[\"<none>@<none>\"],\"Created\":90,\"Size\":\"x\"},"
											   "{\"Id\":\"" ID(
												   "f") "\",\"RepoTags\":[\"foreign:latest\"],"
													"\"Created\":80,\"Size\":9e15}]";

static void read_list(struct image_inventory *inventory)
{
	struct error err;
	cJSON *json = codec_parse(list, strlen(list), &err);

	ok(json && image_inventory_read(json, inventory, &err) == 0,
	   "the engine's list is read");
	cJSON_Delete(json);
	is_int((int)inventory->count, IMAGES, "all of it");
}

/* All are ours but the last; used in the order of their letters. */
static void make_ours(struct image_inventory *inventory)
{
	for (size_t i = 0; i + 1 < inventory->count; i++) {
		struct image_info *image = &inventory->images[i];

		if (!image->origin)
			image->origin = strdup("pulled");
		image->used_ms = 1000000 + i;
	}
}

/* "abc": the images that may go, in their order. */
static char *going(struct image_inventory *inventory, struct image_needs needs,
		   uint32_t keep)
{
	static char text[IMAGES + 1];
	size_t order[IMAGES];
	long count = prune_candidates_make(inventory->images, inventory->count,
					   needs, keep, order, NULL);

	for (long i = 0; i < count; i++)
		text[i] = inventory->images[order[i]].id[7];
	text[count < 0 ? 0 : count] = 0;
	return text;
}

static char *going_but(struct image_inventory *inventory, const char *reference,
		       const char *build)
{
	struct image_need need = { (char *)reference, (char *)build, 7, 2 };

	return going(inventory, (struct image_needs){ &need, 1 }, 0);
}

static void test_survey(struct image_inventory *inventory)
{
	const struct image_info *images = inventory->images;

	is(images[3].origin, "built", "a label tells one that was built");
	ok(!images[0].origin, "others are not known to be ours");
	ok(images[2].bytes == 0 && images[3].bytes == 0 && images[4].bytes == 0,
	   "sizes that are none are none");
	is_int((int)(images[4].tags.count + images[4].digests.count), 0,
	       "<none> is no name");
	is_int((int)images[1].tags.count, 2, "names are");
}

static void test_going(struct image_inventory *inventory)
{
	const struct image_needs none = { 0 };
	struct image_info *images = inventory->images;

	is(going(inventory, none, 0), "abcde",
	   "the one used longest ago first");
	images[2].used_ms = 10;
	images[4].used_ms = 0;
	is(going(inventory, none, 0), "ceabd",
	   "one of unknown use is as old as itself");
	images[2].used_ms = 1000002;
	images[4].used_ms = 1000004;
	is(going(inventory, none, 1), "ace",
	   "the newest of each repository stays");
	is(images[1].needed, "one of the 1 newest", "and why is told");
	is(going(inventory, none, 2), "ae", "the two newest stay");
	images[0].containers = 2;
	is(going(inventory, none, 0), "bcde", "none that has a container");
	is(images[0].needed, "2 containers are made from it", "in words");
	images[0].containers = 0;
}

static void test_needs(struct image_inventory *inventory)
{
	const struct image_info *images = inventory->images;

	is(going_but(inventory, "r:5000/x/t:1", NULL), "bde",
	   "a name that jobs need, and one that it may be without its tag");
	is(images[0].needed, "sweep 7 has 2 jobs left that need it",
	   "and who, in words");
	is(going_but(inventory, "r:5000/x/t@" ID("3"), NULL), "abde",
	   "a digest that jobs are pinned to");
	is(going_but(inventory, ID("b"), NULL), "acde", "an id");
	is(going_but(inventory, "other", NULL), "abcde",
	   "another tag is another");
	is(going_but(inventory, "other:1", NULL), "acde",
	   "the tag is the image");
	is(going_but(inventory, "vendors/v/f", "vendors/v/f"), "abce",
	   "what is built is needed in each state of its folder");
	is(going_but(inventory, "vendors/v/f:2", "vendors/v/f"), "abcde",
	   "but under the tag that it gets");
	is(going_but(inventory, "x/t:1", NULL), "abcde",
	   "a repository elsewhere is another");
	is(going_but(inventory, "no reference!", NULL), "abcde",
	   "what is no name is nothing");
}

static void finds(const struct image_inventory *inventory, const char *word,
		  char letter, int code)
{
	struct error err = { 0 };
	size_t found = 99;
	int rc = prune_candidates_find(inventory->images, inventory->count,
				       word, &found, &err);

	if (letter)
		ok(rc == 0 && inventory->images[found].id[7] == letter,
		   "%s is found", word);
	else
		ok(rc < 0 && err.code == code, "%s is not: %s", word, err.text);
}

static void rename_id(struct image_info *image, char letter, size_t digits)
{
	for (size_t i = 0; i < digits; i++)
		image->id[7 + i] = letter;
}

static void test_find(struct image_inventory *inventory)
{

	finds(inventory, "r:5000/x/t:2", 'b', 0);
	finds(inventory, "foreign", 'f', 0);
	finds(inventory, "r:5000/x/t@" ID("3"), 'c', 0);
	finds(inventory, ID("e"), 'e', 0);
	finds(inventory, "dddd", 'd', 0);
	finds(inventory, "ddd", 0, ENOENT);
	finds(inventory, "r:5000/x/t", 0, ENOENT);
	finds(inventory, "Not A Name", 0, EINVAL);
	rename_id(&inventory->images[5], 'e', 4);
	finds(inventory, "eeee", 0, EINVAL);
	finds(inventory, "eeeee", 'e', 0);
	rename_id(&inventory->images[5], 'f', 4);
}

static void test_sizes(void)
{
	struct free_space floor = { 0 };
	struct error err;

	ok(prune_candidates_add(UINT64_MAX - 1, 5) == UINT64_MAX,
	   "sums of hostile sizes end at the largest number");
	ok(prune_candidates_add(2, 3) == 5, "others are sums");
	ok(free_space_parse("50GiB", &floor, &err) == 0 &&
		   floor.bytes == UINT64_C(50) << 30 && !floor.percent,
	   "a floor in bytes");
	ok(free_space_on(&floor, UINT64_MAX) == UINT64_C(50) << 30, "is that");
	ok(free_space_parse("20%", &floor, &err) == 0 && !floor.bytes &&
		   floor.percent == 20,
	   "a floor as a share");
	ok(free_space_on(&floor, 1000) == 200, "is one of the disk");
	ok(free_space_on(&floor, UINT64_MAX) == UINT64_MAX / 100 * 20,
	   "of whatever size");
	for (size_t i = 0; i < 6; i++) {
		static const char *const wrong[] = { "101%", "0%",    "-1",
						     "much", "99.9%", "" };

		ok(free_space_parse(wrong[i], &floor, &err) < 0 &&
			   err.code == EINVAL,
		   "'%s' is no floor: %s", wrong[i], err.text);
	}
	ok(!floor.bytes && floor.percent == 20, "and changes nothing");
}

int main(void)
{
	owned(image_inventory_clear) struct image_inventory inventory = { 0 };
	struct error err;
	cJSON *json = cJSON_Parse("[{\"Id\":5}]");

	tap_begin(60);
	ok(image_inventory_read(json, &inventory, &err) < 0 &&
		   err.code == EPROTO && !inventory.count,
	   "an image without an id is none: %s", err.text);
	cJSON_Delete(json);
	json = cJSON_CreateObject();
	ok(image_inventory_read(json, &inventory, &err) < 0 &&
		   err.code == EPROTO,
	   "what is no list is none: %s", err.text);
	cJSON_Delete(json);
	read_list(&inventory);
	test_survey(&inventory);
	make_ours(&inventory);
	test_going(&inventory);
	test_needs(&inventory);
	test_find(&inventory);
	test_sizes();
	return tap_done();
}
