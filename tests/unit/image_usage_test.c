/* image_usage_test.c - what was brought stays known as ours, whatever happens.
 */
#include "agent/images/image_usage.h"

#include "protocol/base/file.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#define ID_A                                                                   \
	"sha256:"                                                              \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define ID_B                                                                   \
	"sha256:"                                                              \
	"bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"

#define ID_C                                                                   \
	"sha256:"                                                              \
	"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"

static sd_event *loop;
static char folder[] = "/tmp/record-test-XXXXXX";

/* The origin of an image with that id and name; "" : others'. */
static const char *origin(struct image_usage *record, const char *id,
			  const char *tag, const char *digest)
{
	static char text[20];
	struct image_info image = { .id = strdup(id) };

	if (tag)
		strings_add(&image.tags, tag, NULL);
	if (digest)
		strings_add(&image.digests, digest, NULL);
	image_usage_tell(record, &image);
	snprintf(text, sizeof(text), "%s%s", image.origin ? image.origin : "",
		 image.used_ms ? "" : "-");
	codec_clear(&image_info_schema, &image);
	return text;
}

/* As after kill -9: another one reads what is on disk now. */
static struct image_usage *killed(void)
{
	struct error err;
	struct image_usage *record = image_usage_new(loop, folder, &err);

	if (!record)
		exit(1);
	return record;
}

static void test_foreign(void)
{
	owned(image_usage_free) struct image_usage *record = killed();
	owned(image_usage_free) struct image_usage *next = NULL;

	image_usage_used(record, "theirs:1", ID_C);
	is(origin(record, ID_C, "theirs:1", NULL), "",
	   "what a job used of others' stays theirs, but is known as used");
	image_usage_free(take(record));
	next = killed();
	is(origin(next, ID_C, NULL, NULL), "", "also by the next agent");
	image_usage_keep_only(next, NULL, 0);
	is(origin(next, ID_C, NULL, NULL), "-", "until it is gone");
}

static void test_coming(void)
{
	owned(image_usage_free) struct image_usage *record = killed();
	owned(image_usage_free) struct image_usage *next = NULL;
	struct error err;

	is(origin(record, ID_A, "x:1", NULL), "-", "nothing is ours at first");
	ok(image_usage_coming(record, "x:1", IMAGE_PULLED, &err) == 0 &&
		   image_usage_coming(record, "x:1", IMAGE_PULLED, &err) == 0 &&
		   image_usage_coming(record, "y", IMAGE_BUILT, &err) == 0 &&
		   image_usage_coming(record, ID_B, IMAGE_LOADED, &err) == 0,
	   "some are coming");
	next = killed();
	is(origin(next, ID_A, "x:2", NULL), "-", "another tag is not ours");
	is(origin(next, ID_A, "x:1", NULL), "pulled",
	   "one that came when we were killed is");
	is(origin(next, ID_A, NULL, NULL), "pulled",
	   "and is known by its id from then on");
	is(origin(next, ID_B, NULL, NULL), "loaded", "so is one by its id");
	image_usage_used(next, "y:latest", "sha256:y");
	is(origin(next, "sha256:y", NULL, NULL), "built",
	   "a name without a tag is the latest");
}

static void test_end(void)
{
	owned(image_usage_free) struct image_usage *record = killed();
	struct image_info left = { .id = (char *)ID_A };
	struct error err;

	is(origin(record, ID_A, NULL, NULL), "pulled",
	   "what is known is written at the end");
	image_usage_coming(record, "z:1", IMAGE_PULLED, &err);
	image_usage_failed(record, "z:1");
	is(origin(record, "sha256:z", "z:1", NULL), "-",
	   "one that did not come is not ours when somebody brings it");
	image_usage_coming(record, "x@" ID_B, IMAGE_PULLED, &err);
	image_usage_used(record, "x@" ID_B, ID_A);
	is(origin(record, "sha256:q", NULL, "x@" ID_B), "-",
	   "one that came again leaves nothing behind that waits");
	image_usage_coming(record, "w:1", IMAGE_PULLED, &err);
	image_usage_keep_only(record, &left, 1);
	is(origin(record, ID_B, NULL, NULL), "-",
	   "what is gone is forgotten: it may come back by others");
	is(origin(record, ID_A, NULL, NULL), "pulled", "what is there is not");
	is(origin(record, "sha256:w", "w:1", NULL), "pulled",
	   "nor what is still coming");
}

static void test_ruin(void)
{
	owned(image_usage_free) struct image_usage *record = NULL;
	char path[100];
	struct error err;

	snprintf(path, sizeof(path), "%s/images.json", folder);
	file_write(AT_FDCWD, path, "{\"items\":[{}]}", 14, 0600, 0, &err);
	record = killed();
	is(origin(record, ID_A, NULL, NULL), "-",
	   "of a file that cannot be read nothing is ours");
	file_remove_tree(AT_FDCWD, folder, NULL);
	ok(image_usage_coming(record, "x:1", IMAGE_PULLED, &err) < 0,
	   "what cannot be noted may not come: %s", err.text);
	is(origin(record, ID_A, "x:1", NULL), "-", "and is not ours");
}

int main(void)
{
	tap_begin(60);
	if (!mkdtemp(folder) || sd_event_new(&loop) < 0)
		return 1;
	test_foreign();
	test_coming();
	test_end();
	test_ruin();
	sd_event_unref(loop);
	return tap_done();
}
