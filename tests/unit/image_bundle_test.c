/* image_bundle_test.c - bundles that are refused, images of several platforms,
 * and the archive that is made of a bundle.
 */
#include "protocol/blob/image_bundle.h"

#include "protocol/base/file.h"
#include "protocol/blob/incoming.h"
#include "tests/tap.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#define HEX(c) c c c c c c c c c c c c c c c c
#define A HEX("aaaa")
#define B HEX("bbbb")
#define IMAGE(more) "{\"config\":\"" A "\"" more "}"
#define BLOBS                                                                  \
	"{\"hash\":\"" A "\",\"bytes\":5},{\"hash\":\"" B "\",\"bytes\":7}"

/* why NULL: it is a bundle. */
static void expect(const char *images, const char *blobs, const char *why)
{
	struct image_bundle bundle = { 0 };
	struct error err = { 0 };
	char text[4096];
	int rc;

	snprintf(text, sizeof(text), "{\"images\":[%s],\"blobs\":[%s]}", images,
		 blobs);
	rc = image_bundle_parse(text, strlen(text), &bundle, &err);
	ok(why ? rc < 0 && err.code == EPROTO && strstr(err.text, why)
	       : rc == 0,
	   "%s", why ? err.text : "a bundle");
	image_bundle_clear(&bundle);
}

/* Two images of the same so many names. */
static void named(int count, const char *why)
{
	char one[1600], both[3400];
	size_t at = (size_t)snprintf(one, sizeof(one),
				     "{\"config\":\"" A "\",\"tags\":[");

	for (int i = 0; i < count; i++)
		at += (size_t)snprintf(one + at, sizeof(one) - at, "%s\"x:%d\"",
				       i ? "," : "", i);
	snprintf(one + at, sizeof(one) - at, "]}");
	snprintf(both, sizeof(both), "%s,%s", one, one);
	expect(both, BLOBS, why);
}

static void parsed(void)
{
	expect(IMAGE(",\"tags\":[\"x/y:1\"],\"layers\":[\"" B "\"]"), BLOBS,
	       NULL);
	expect(IMAGE(), "", "1 images, 0 blobs");
	expect("", BLOBS, "0 images");
	expect(IMAGE(), "{\"hash\":\"../x\",\"bytes\":1}", "not a hash");
	expect(IMAGE(), "{\"hash\":\"" A "\",\"bytes\":999999999999999}",
	       "too large");
	expect(IMAGE(), "{\"hash\":\"" A "\",\"bytes\":99999999}",
	       "the config is too large");
	expect(IMAGE(), BLOBS "," BLOBS, "duplicate blob");
	expect("{\"config\":\"" HEX("cccc") "\"}", BLOBS, "no such config");
	expect(IMAGE(",\"layers\":[\"../x\"]"), BLOBS, "no such layer");
	expect(IMAGE(",\"tags\":[\"x\"]"), BLOBS, "expected name:tag");
	expect(IMAGE(",\"tags\":[\"x@sha256:" A "\"]"), BLOBS,
	       "expected name:tag");
	expect(IMAGE(",\"tags\":[\"X:1\"]"), BLOBS, "not an image name");
	named(IMAGE_BUNDLE_TAGS_MAX, NULL);
	named(IMAGE_BUNDLE_TAGS_MAX + 1, "more than 128 names of images");
}

#define FOR(platform, name)                                                    \
	IMAGE(",\"platform\":\"" platform "\",\"tags\":[\"" name "\"]")

/* The platforms that are left, or why not. */
static const char *chosen(const char *images)
{
	struct image_bundle bundle = { 0 };
	static char result[300];
	struct error err = { 0 };
	char text[2000];

	snprintf(text, sizeof(text), "{\"images\":[%s],\"blobs\":[" BLOBS "]}",
		 images);
	result[0] = 0;
	image_bundle_parse(text, strlen(text), &bundle, NULL);
	if (image_bundle_choose(&bundle, "linux/amd64", &err) < 0)
		snprintf(result, sizeof(result), "%s", err.text);
	for (size_t i = 0; !err.code && i < bundle.images_count; i++)
		snprintf(result + strlen(result),
			 sizeof(result) - strlen(result), "%s ",
			 bundle.images[i].platform ? bundle.images[i].platform
						   : "?");
	image_bundle_clear(&bundle);
	return result;
}

static void platforms(void)
{
	is(chosen(FOR("linux/arm64", "x:1") "," FOR("linux/amd64", "x:1")),
	   "linux/amd64 ", "of several platforms this node's is taken");
	is(chosen(IMAGE() "," FOR("linux/amd64", "x:1")), "? linux/amd64 ",
	   "an image that does not say is taken");
	is(chosen(FOR("linux/arm64", "x:1")),
	   "x:1 is for linux/arm64; expected an image for linux/amd64, as this "
	   "node is",
	   "none for this node is refused in words");
	is(chosen(FOR("linux/arm64", "x:1") "," FOR("linux/amd64", "y:1")),
	   "x:1 is for linux/arm64; expected an image for linux/amd64, as this "
	   "node is",
	   "also if another name has one");
}

/* As far as it goes: why no further. */
static int read_on(struct assembly *assembly, struct buffer *tar)
{
	struct error err = { 0 };
	char bytes[100];
	ssize_t got;

	while ((got = assembly_read(assembly, bytes, sizeof(bytes), &err)) > 0)
		buffer_append(tar, bytes, (size_t)got, NULL);
	return got < 0 ? err.code : 0;
}

static void put(struct blob_store *contents, const char *text,
		char hash[BLOB_HASH_SIZE])
{
	struct incoming *incoming = incoming_new(contents, NULL, 10, NULL);

	incoming_write(incoming, text, strlen(text), NULL);
	while (incoming_finish(incoming, hash, NULL) > 0)
		;
	incoming_free(incoming);
}

static void assembled(struct blob_store *contents)
{
	owned(assembly_free) struct assembly *assembly = NULL;
	owned(buffer_clear) struct buffer tar = BUFFER_INIT(1 << 20);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(2000);
	char config[BLOB_HASH_SIZE], layer[BLOB_HASH_SIZE];
	char *layers[] = { layer, (char *)B, layer }, *tag = (char *)"x:1";
	struct image_bundle_blob blobs[] = { { config, 3, false },
					     { (char *)B, 9, true },
					     { layer, 4, false } };
	struct image_bundle_image image = { .config = config,
					    .tags = { &tag, 1 },
					    .layers = { layers, 3 } };
	struct image_bundle bundle = { &image, 1, blobs, 3 };
	char bytes[1000], want[1000];
	struct archive_entry *entry;
	struct archive *in;

	put(contents, "abc", config);
	put(contents, "defg", layer);
	is_int((long long)image_bundle_bytes(&bundle), 7,
	       "what is spare does not count");
	assembly = assembly_new(contents, &bundle, NULL);
	is_int(read_on(assembly, &tar), EAGAIN, "an archive waits for a blob");
	assembly_grow(assembly, 2);
	is_int(read_on(assembly, &tar), EAGAIN, "then for the next");
	assembly_grow(assembly, 3);
	is_int(read_on(assembly, &tar), 0, "and is read to its end");
	in = archive_read_new();
	archive_read_support_format_tar(in);
	archive_read_open_memory(in, tar.data, tar.size);
	while (archive_read_next_header(in, &entry) == ARCHIVE_OK) {
		ssize_t got = archive_read_data(in, bytes, sizeof(bytes));

		buffer_printf(&text, NULL, "%s:%.*s ",
			      archive_entry_pathname(entry), (int)got, bytes);
	}
	archive_read_free(in);
	snprintf(want, sizeof(want),
		 "manifest.json:[{\"Config\":\"blobs/sha256/%s\","
		 "\"RepoTags\":[\"x:1\"],\"Layers\":[\"blobs/sha256/%s\","
		 "\"blobs/sha256/" B "\",\"blobs/sha256/%s\"]}] "
		 "blobs/sha256/%s:abc blobs/sha256/%s:defg ",
		 config, layer, layer, config, layer);
	is(text.data, want, "the archive has a list, and each blob once");
}

int main(void)
{
	char top[] = "/tmp/image-bundle-test-XXXXXX";
	struct blob_store *contents;

	tap_begin(60);
	if (sodium_init() < 0 || !mkdtemp(top))
		return 1;
	contents = blob_store_new(top, NULL);
	parsed();
	platforms();
	assembled(contents);
	blob_store_free(contents);
	file_remove_tree(AT_FDCWD, top, NULL);
	return tap_done();
}
