/* imagelist_test.c - the lists in image files, good and hostile.
 */
#include "controller/cli/imagelist.h"

#include "tests/tap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HEX(c) c c c c c c c c c c c c c c c c
#define A HEX("aaaa")
#define B HEX("bbbb")
#define C HEX("cccc")
#define D HEX("dddd")
#define E HEX("eeee")
#define F HEX("ffff")
#define BLOB(h) "blobs/sha256/" h
#define OF(h) "{\"digest\":\"sha256:" h "\"}"
#define CONFIG(h)                                                              \
	"{\"mediaType\":\"application/vnd.oci.image.config.v1+json\","         \
	"\"digest\":\"sha256:" h "\"}"

/* A file whose hash is the last letter of its path 64 times, none after '-';
 * or, with "->", a link.
 */
struct file {
	const char *path, *text;
};

static int read_files(const struct file *files, struct image_bundle *bundle,
		      struct error *err)
{
	struct image_file_entries entries = { 0 };
	int rc = 0;

	*err = (struct error){ 0 };
	for (size_t i = 0; rc == 0 && files[i].path; i++) {
		const char *arrow = strstr(files[i].path, "->");
		owned_free char *path =
			strndup(files[i].path,
				arrow ? (size_t)(arrow - files[i].path)
				      : strlen(files[i].path));
		struct image_file_entry *entry =
			image_file_entry_add(&entries, path,
					     arrow ? arrow + 2 : NULL, err);

		if (!entry) {
			rc = -1;
			break;
		}
		if (path[strlen(path) - 1] != '-')
			memset(entry->hash, path[strlen(path) - 1], 64);
		entry->bytes = 10;
		if (files[i].text)
			rc = image_file_entry_keep(&entries, entry,
						   files[i].text,
						   strlen(files[i].text), err);
	}
	if (rc == 0)
		rc = image_list(&entries, bundle, err);
	image_file_entries_clear(&entries);
	return rc;
}

/* "config platform tag... layers; ... | blob blob", by first letters. */
static const char *listed(const struct file *files)
{
	static char result[600];
	owned(buffer_clear) struct buffer text;
	struct image_bundle bundle = { 0 };
	struct error err;

	buffer_init(&text, sizeof(result));
	if (read_files(files, &bundle, &err) < 0) {
		image_bundle_clear(&bundle);
		snprintf(result, sizeof(result), "%s", err.text);
		return result;
	}
	for (size_t i = 0; i < bundle.images_count; i++) {
		const struct image_bundle_image *image = &bundle.images[i];

		buffer_printf(&text, NULL, "%c %s", *image->config,
			      image->platform ? image->platform : "?");
		for (size_t k = 0; k < image->tags.count; k++)
			buffer_printf(&text, NULL, " %s", image->tags.items[k]);
		buffer_text(&text, " ", NULL);
		for (size_t k = 0; k < image->layers.count; k++)
			buffer_printf(&text, NULL, "%c",
				      *image->layers.items[k]);
		buffer_text(&text, "; ", NULL);
	}
	buffer_text(&text, "|", NULL);
	for (size_t i = 0; i < bundle.blobs_count; i++)
		buffer_printf(&text, NULL, " %c", *bundle.blobs[i].hash);
	image_bundle_clear(&bundle);
	snprintf(result, sizeof(result), "%s", text.data);
	return result;
}

#define FILES(...) ((const struct file[]){ __VA_ARGS__, { NULL, NULL } })

static void docker(void)
{
	is(listed(FILES({ "l/b", NULL }, { "l/a", NULL },
			{ "./config.c", "{\"os\":\"linux\","
					"\"architecture\":\"arm64\"}" },
			{ "manifest.json",
			  "[{\"Config\":\"config.c\",\"RepoTags\":[\"x:1\","
			  "\"y/z\"],\"Layers\":[\"./l/a\",\"l//b\"]}]" })),
	   "c linux/arm64 x:1 y/z:latest ab; | c b a",
	   "what docker save lists; blobs come in the order of the file, "
	   "configs first");
	is(listed(FILES({ "one/-", NULL }, { "l/b", NULL },
			{ "c", "{\"rootfs\":{\"diff_ids\":[\"sha256:" D
			       "\",\"sha256:" A "\"]}}" },
			{ "manifest.json",
			  "[{\"Config\":\"c\",\"RepoTags\":[\"x:1\"],"
			  "\"Layers\":[\"l/b\",\"one/-\"]}]" })),
	   "c ? x:1 ba; | c a b", "the config tells the hash of a layer");
	is(listed(FILES({ "one/-", NULL },
			{ "c", "{\"rootfs\":{\"diff_ids\":[\"md5:1\"]}}" },
			{ "manifest.json",
			  "[{\"Config\":\"c\",\"RepoTags\":[\"x:1\"],"
			  "\"Layers\":[\"one/-\"]}]" })),
	   "the config of its image does not tell the hash of layer one/-",
	   "or the file is refused");
	is(listed(FILES({ "one/layer.a", NULL },
			{ "two/layer.b->../one/layer.a", NULL }, { "c", NULL },
			{ "manifest.json",
			  "[{\"Config\":\"c\",\"RepoTags\":null,\"Layers\":["
			  "\"one/layer.a\",\"two/layer.b\"]}]" })),
	   "c ? aa; | c a", "a layer that is a link to another");
	is(listed(FILES({ "c", NULL }, { "d", NULL }, { "index.json", "{}" },
			{ "manifest.json",
			  "[{\"Config\":\"c\",\"RepoTags\":[\"a:1\"]},"
			  "{\"Config\":\"d\",\"repotags\":[\"b:1\"]}]" })),
	   "c ? a:1 ; d ? ; | c d",
	   "only manifest.json counts, and only its own keys");
}

static void layouts(void)
{
	is(listed(FILES({ BLOB(A),
			  "{\"config\":" CONFIG(B) ","
						   "\"layers\":[" OF(C) "]}" },
			{ BLOB(B), NULL }, { BLOB(C), NULL },
			{ "index.json",
			  "{\"manifests\":[" OF(
				  C) ",{\"digest\":\"sha256:" A
				     "\",\"annotations\":{"
				     "\"org.opencontainers.image.ref.name\":"
				     "\"me/x:3\"}}]}" })),
	   "b ? me/x:3 c; | b c", "an OCI layout");
	is(listed(FILES({ BLOB(A), "{\"manifests\":[" OF(B) "," OF(
					   C) ",{\"digest\":\"sha256:" D
					      "\",\"platform\":{"
					      "\"os\":\"unknown\","
					      "\"architecture\":\"unknown\"}},"
					      "{\"digest\":\"sha256:" D
					      "\",\"annotations\":{"
					      "\"vnd.docker.reference.type\":"
					      "\"attestation-manifest\"}}]}" },
			{ BLOB(B),
			  "{\"config\":" CONFIG(E) ",\"layers\":[" OF(F) "]}" },
			{ BLOB(C), "{\"config\":" CONFIG(F) ",\"layers\":[" OF(
					   "77") "]}" },
			{ BLOB(D),
			  "{\"config\":" CONFIG(E) ",\"layers\":[" OF(F) "]}" },
			{ BLOB(E), "{\"os\":\"linux\","
				   "\"architecture\":\"amd64\"}" },
			{ BLOB(F), NULL },
			{ "index.json",
			  "{\"manifests\":[{\"digest\":\"sha256:" A
			  "\",\"annotations\":{\"io.containerd.image.name\":"
			  "\"docker.io/me/x:3\"}}]}" })),
	   "e linux/amd64 docker.io/me/x:3 f; | e f",
	   "of several platforms those that are there; attestations are none");
}

static void wrong_lists(void)
{
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
		{ "[{\"Config\":\"config.c\",\"RepoTags\":[\"-x\"]}]", NULL, NULL,
		  "\"-x\"" },
		{ NULL, "{\"manifests\":[" OF(A) "]}",
		  "{\"config\":{\"mediaType\":\"x.image.config\"}}",
		  "a manifest has no valid config digest; the file is damaged or not an image" },
		{ NULL, "{\"manifests\":[" OF(A) "]}",
		  "{\"config\":" CONFIG(A) ",\"layers\":[" OF(B) "]}",
		  "no layer sha256:" B " in the file" },
		{ NULL, "{\"manifests\":[" OF(A) "]}",
		  "{\"manifests\":[" OF(A) "]}",
		  "index.json lists no image; expected at least one" },
		{ NULL, "{\"manifests\":{}}", NULL, "index.json lists no image; expected at least one" },
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct file files[6] = { { "l/a", NULL },
					 { "config.c", NULL } };
		const char *text;
		size_t count = 2;

		if (cases[i].manifest)
			files[count++] = (struct file){ "manifest.json",
							cases[i].manifest };
		if (cases[i].index)
			files[count++] =
				(struct file){ "index.json", cases[i].index };
		if (cases[i].blob)
			files[count] = (struct file){ BLOB(A), cases[i].blob };
		text = listed(files);
		ok(strstr(text, cases[i].want), "refused: %s", text);
	}
}

static void wrong_paths(void)
{
	is(listed(FILES({ "../x", NULL })),
	   "\"../x\" leads out of the file's root", "a path that leads out");
	is(listed(FILES({ "a/b->../../x", NULL })),
	   "\"a/b\" leads out of the file's root", "a link that does");
	is(listed(FILES({ "c.json", NULL }, { "./c.json", NULL })),
	   "\"c.json\": duplicate path", "a path that is there twice");
	is(listed(FILES({ "c->d", NULL }, { "d->c", NULL },
			{ "manifest.json", "[{\"Config\":\"c\"}]" })),
	   "no config c in the file", "links in a circle");
}

/* "[x,x,x ...]" with so many, between before and after. */
static char *repeated(const char *before, const char *x, int count,
		      const char *after)
{
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(IMAGE_FILE_TEXT_MAX);

	buffer_text(&text, before, NULL);
	for (int i = 0; i < count; i++)
		buffer_printf(&text, NULL, "%s%s", i ? "," : "", x);
	buffer_text(&text, after, NULL);
	return buffer_take(&text);
}

/* A few small texts that name each other often enough to fill any memory. */
static void too_many(void)
{
	const char *want = "it names more than 20000 parts of images";
	char names[10000] = "[{\"Config\":\"c\",\"RepoTags\":[";
	size_t at = strlen(names);
	owned_free char *index = repeated("{\"manifests\":[", OF(A), 300, "]}");
	owned_free char *layers = repeated("[{\"Config\":\"c\",\"Layers\":[",
					   "\"a\"", 30000, "]}]");

	for (int i = 0; i <= IMAGE_BUNDLE_TAGS_MAX; i++)
		at += (size_t)snprintf(names + at, sizeof(names) - at,
				       "%s\"x:%d\"", i ? "," : "", i);
	snprintf(names + at, sizeof(names) - at, "]}]");

	is(listed(FILES({ BLOB(A), index }, { "index.json", index })), want,
	   "indexes in indexes");
	is(listed(FILES({ "a", NULL }, { "c", NULL },
			{ "manifest.json", layers })),
	   want, "layers that are there again and again");
	is(listed(FILES({ "c", NULL }, { "manifest.json", names })),
	   "more than 128 names of images; use several files",
	   "names that would fill an engine's list");
}

int main(void)
{
	tap_begin(30);
	docker();
	layouts();
	wrong_lists();
	wrong_paths();
	too_many();
	return tap_done();
}
