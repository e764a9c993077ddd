/* imagelist_test.c - the lists in image files, and recipes, good and hostile.
 */
#include "controller/cli/imagelist.h"

#include "protocol/base/file.h"
#include "protocol/blob/incoming.h"
#include "tests/tap.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <sodium.h>

#define HEX(c) c c c c c c c c c c c c c c c c
#define A HEX("aaaa")
#define B HEX("bbbb")
#define C HEX("cccc")

/* A bundle with these paths; each is of the content that its last letter names
 * 64 times.
 */
static void fill(struct image_bundle *bundle, const char *const *paths)
{
	size_t count = 0;

	while (paths[count])
		count++;
	bundle->entries = calloc(count + 1, sizeof(*bundle->entries));
	for (size_t i = 0; i < count; i++) {
		struct image_bundle_entry *entry =
			&bundle->entries[bundle->entries_count++];
		char hash[CONTENT_HASH_SIZE];

		memset(hash, paths[i][strlen(paths[i]) - 1], 64);
		hash[64] = 0;
		entry->path = strdup(paths[i]);
		entry->content = strdup(hash);
		entry->bytes = 10;
	}
}

static int list(const char *manifest, const char *index, const char *blob,
		const char *const *paths, struct texts *texts,
		struct image_bundle *bundle, struct error *err)
{
	fill(bundle, paths);
	if (manifest)
		texts_add(texts, "./manifest.json", manifest, strlen(manifest),
			  NULL);
	if (index)
		texts_add(texts, "index.json", index, strlen(index), NULL);
	if (blob)
		texts_add(texts, "blobs/sha256/" A, blob, strlen(blob), NULL);
	return image_list(texts, bundle, err);
}

static void docker(void)
{
	static const char *const paths[] = { "l/a", "./config.c", NULL };
	struct texts texts = { 0 };
	struct image_bundle bundle = { 0 };

	is_int(list("[{\"Config\":\"config.c\",\"RepoTags\":[\"x:1\",\"y:2\"],"
		    "\"Layers\":[\"l/a\"]}]",
		    NULL, NULL, paths, &texts, &bundle, NULL),
	       0, "what docker save lists is read");
	is(bundle.images[0].id, "sha256:" C, "an image's id is its config's");
	ok(bundle.images[0].tags.count == 2 &&
		   !strcmp(bundle.images[0].tags.items[1], "y:2"),
	   "with all its names");
	is_int((long long)image_bundle_bytes(&bundle), 20,
	       "bytes of all its parts");
	texts_clear(&texts);
	image_bundle_clear(&bundle);
}

static void layout(void)
{
	static const char index[] =
		"{\"manifests\":[{\"digest\":\"sha256:" C "\"},"
		"{\"digest\":\"sha256:" A "\",\"annotations\":{"
		"\"org.opencontainers.image.ref.name\":\"me/x:3\"}}]}";
	static const char blob[] =
		"{\"config\":{\"mediaType\":"
		"\"application/vnd.oci.image.config.v1+json\",\"digest\":"
		"\"sha256:" B "\"},\"layers\":[{\"digest\":\"sha256:" C "\"}]}";
	static const char *const paths[] = { "blobs/sha256/" A,
					     "blobs/sha256/" B,
					     "blobs/sha256/" C, NULL };
	struct texts texts = { 0 };
	struct image_bundle bundle = { 0 };
	struct error err = { 0 };

	is_int(list(NULL, index, blob, paths, &texts, &bundle, &err), 1,
	       "an OCI layout gets a list: %s", err.text);
	is(texts.list[texts.count - 1].data,
	   "[{\"Config\":\"blobs/sha256/" B "\",\"RepoTags\":[\"me/x:3\"],"
	   "\"Layers\":[\"blobs/sha256/" C "\"]}]",
	   "as docker save would write it");
	is(bundle.images[0].id, "sha256:" B, "and an image");
	texts_clear(&texts);
	image_bundle_clear(&bundle);
}

static void wrong_lists(void)
{
	static const char *const paths[] = { "l/a", "config.c", NULL };
	/* clang-format off */
	static const struct {
		const char *manifest, *index, *blob, *want;
	} cases[] = {
		{ NULL, NULL, NULL, "not an image file: neither manifest.json (docker save) nor index.json (an OCI layout)" },
		{ "{]", NULL, NULL, "manifest.json is not JSON" },
		{ "{}", NULL, NULL, "manifest.json lists no image; expected at least one" },
		{ "[5]", NULL, NULL, "no config  in the file" },
		{ "[{\"Config\":\"../../etc\"}]", NULL, NULL,
		  "no config ../../etc in the file" },
		{ "[{\"Config\":\"config.c\",\"Layers\":[\"none\"]}]", NULL, NULL,
		  "no layer none in the file" },
		{ "[{\"Config\":\"config.c\",\"Layers\":[7]}]", NULL, NULL,
		  "no layer  in the file" },
		{ NULL, "{\"manifests\":[{\"digest\":\"sha256:" A "\"}]}",
		  "{\"config\":{\"mediaType\":\"x.image.config\"}}",
		  "a manifest has no valid config digest; the file is damaged or not an image" },
		{ NULL, "{\"manifests\":[{\"digest\":\"sha256:" A "\"}]}",
		  "{\"manifests\":[{\"digest\":\"sha256:" A "\"}]}",
		  "manifest.json lists no image; expected at least one" },
		{ NULL, "{\"manifests\":{}}", NULL, "manifest.json lists no image; expected at least one" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct texts texts = { 0 };
		struct image_bundle bundle = { 0 };
		struct error err = { 0 };

		list(cases[i].manifest, cases[i].index, cases[i].blob, paths,
		     &texts, &bundle, &err);
		is(err.text, cases[i].want, "refused");
		texts_clear(&texts);
		image_bundle_clear(&bundle);
	}
}

static void recipes(void)
{
	/* clang-format off */
	static const char *const bad[] = {
		"", "{}", "[]",
		"{\"images\":[{\"id\":\"x\"}],\"entries\":[{\"path\":\"a\","
		"\"link\":\"b\"}]}",
		"{\"images\":[{\"id\":\"sha256:" A "\"}],\"entries\":[]}",
		"{\"images\":[{\"id\":\"sha256:" A "\"}],\"entries\":["
		"{\"path\":\"a\"}]}",
		"{\"images\":[{\"id\":\"sha256:" A "\"}],\"entries\":["
		"{\"path\":\"a\",\"content\":\"../x\"}]}",
		"{\"images\":[{\"id\":\"sha256:" A "\"}],\"entries\":["
		"{\"path\":\"a\",\"content\":\"" A "\",\"link\":\"b\"}]}",
		"{\"images\":[{\"id\":\"sha256:" A "\"}],\"entries\":["
		"{\"path\":\"a\",\"content\":\"" A "\","
		"\"bytes\":999999999999999}]}",
		"{\"images\":[{\"id\":\"sha256:" A "\"}],\"entries\":["
		"{\"path\":\"../a\",\"content\":\"" A "\"}]}",
		"{\"images\":[{\"id\":\"sha256:" A "\"}],\"entries\":["
		"{\"path\":\"/a\",\"content\":\"" A "\"}]}",
		"{\"images\":[{\"id\":\"sha256:" A "\"}],\"entries\":["
		"{\"path\":\"a\",\"link\":\"../b\"}]}",
	};
	/* clang-format on */
	struct image_bundle bundle;
	struct error err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(image_bundle_parse(bad[i], strlen(bad[i]), &bundle, &err) <
				   0 &&
			   err.code == EPROTO,
		   "no bundle: %s", err.text);
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

static void assembled(void)
{
	char top[] = "/tmp/imagelist-test-XXXXXX";
	owned(blob_store_free) struct blob_store *contents = NULL;
	owned(assembly_free) struct assembly *assembly = NULL;
	owned(buffer_clear) struct buffer tar, text;
	struct image_bundle_entry entries[] = {
		{ (char *)"a", NULL, 3, NULL },
		{ (char *)"l", NULL, 0, (char *)"a" },
		{ (char *)"b", NULL, 3, NULL },
	};
	struct image_bundle bundle = { .entries = entries, .entries_count = 3 };
	char hash[CONTENT_HASH_SIZE], bytes[100];
	struct archive_entry *entry;
	struct incoming *incoming;
	struct archive *in;
	ssize_t got;

	buffer_init(&tar, 1 << 20);
	buffer_init(&text, 1000);
	if (!mkdtemp(top))
		exit(1);
	contents = blob_store_new(top, NULL);
	incoming = incoming_new(contents, NULL, 10, NULL);
	incoming_write(incoming, "abc", 3, NULL);
	incoming_finish(incoming, hash, NULL);
	incoming_free(incoming);
	entries[0].content = entries[2].content = hash;
	is_int((long long)image_bundle_bytes(&bundle), 3,
	       "the same part counts once");
	assembly = assembly_new(contents, &bundle, NULL);
	ok(read_on(assembly, &tar) == EAGAIN && !tar.size,
	   "nothing of it before a part is there");
	assembly_let(assembly, 2);
	/* Two heads, and the first bytes. */
	ok(read_on(assembly, &tar) == EAGAIN && tar.size < 2048,
	   "then as far as they are");
	assembly_let(assembly, 3);
	is_int(read_on(assembly, &tar), 0, "to the end when all are");
	in = archive_read_new();
	archive_read_support_format_tar(in);
	archive_read_open_memory(in, tar.data, tar.size);
	while (archive_read_next_header(in, &entry) == ARCHIVE_OK) {
		const char *link = archive_entry_symlink(entry);

		got = archive_read_data(in, bytes, sizeof(bytes));
		buffer_printf(&text, NULL, "%s%s%s:%.*s ",
			      archive_entry_pathname(entry), link ? "->" : "",
			      link ? link : "", (int)got, bytes);
	}
	archive_read_free(in);
	is(text.data, "a:abc l->a: b:abc ", "put together it is a file again");
	blob_store_free(take(contents));
	file_remove_tree(AT_FDCWD, top, NULL);
}

int main(void)
{
	tap_begin(30);
	if (sodium_init() < 0)
		return 1;
	docker();
	layout();
	wrong_lists();
	recipes();
	assembled();
	return tap_done();
}
