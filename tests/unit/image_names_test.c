/* image_names_test.c - what a manifest.json may name, and in which spelling.
 */
#include "agent/images/image_names.h"

#include "tests/tap.h"

#include <errno.h>
#include <string.h>

#define HEX(c) c c c c c c c c c c c c c c c c
#define A HEX("aaaa")
#define B HEX("bbbb")
#define ENTRY(path, hash) "{\"path\":\"" path "\",\"content\":\"" hash "\"}"
#define LINK(path, to) "{\"path\":\"" path "\",\"link\":\"" to "\"}"

static void parse(const char *entries, struct image_bundle *bundle)
{
	char text[4096];
	struct error err;

	snprintf(text, sizeof(text),
		 "{\"images\":[{\"id\":\"sha256:" A "\",\"tags\":[\"a/a:1\","
		 "\"a/a:1@sha256:" A "\"]},"
		 "{\"id\":\"sha256:" B "\",\"tags\":[\"b/b:1\"]}],"
		 "\"entries\":[%s]}",
		 entries);
	if (image_bundle_parse(text, strlen(text), bundle, &err) < 0)
		ok(false, "%s", err.text);
}

/* why NULL: the engine may have it. */
static void expect(const char *manifest, const char *why)
{
	owned(image_bundle_clear) struct image_bundle bundle = { 0 };
	struct error err = { 0 };
	int rc;

	parse(ENTRY("./x//a.json", A) "," ENTRY("b.json", B) "," LINK("l.json",
								      "b.json"),
	      &bundle);
	rc = image_names_read(&bundle, manifest, strlen(manifest), &err);
	ok(why ? rc < 0 && err.code == EPROTO && strstr(err.text, why)
	       : rc == 0,
	   "%s: %s", manifest, why ? err.text : "is good");
}

#define IMAGE(config, more) "{\"Config\":\"" config "\"" more "}"
#define TAGS(list) ",\"RepoTags\":[" list "]"

static void names(void)
{
	expect("[" IMAGE(
		       "x/a.json",
		       TAGS("\"a/a:1\"") ",\"Layers\":[]") "," IMAGE("./b.json",
								     ",\"RepoTa"
								     "gs\":"
								     "null,"
								     "\"Parent"
								     "\":\"\","
								     "\"LayerSo"
								     "urces\":{"
								     "}") "]",
	       NULL);
	expect("[" IMAGE("x/a.json", TAGS("\"b/b:1\"")) "]",
	       "contains an undeclared image b/b:1");
	expect("[" IMAGE("b.json", TAGS("\"b/b:1\",\"c/c:1\"")) "]", "c/c:1");
	expect("[" IMAGE("l.json", TAGS("\"b/b:1\"")) "]", "b/b:1");
	expect("[" IMAGE("x/../b.json", TAGS("\"b/b:1\"")) "]", "b/b:1");
	expect("[{\"RepoTags\":[\"a/a:1\"]}]", "a/a:1");
	expect("[" IMAGE("x/a.json", TAGS("\"a/a:1@sha256:" A "\"")) "]",
	       "a/a:1@sha256");
	expect("[" IMAGE("b.json", TAGS("[\"b/b:1\"]")) "]",
	       "contains an undeclared image");
	expect("[" IMAGE("b.json", ",\"RepoTags\":{\"b/b:1\":1}") "]",
	       "RepoTags is not a list");
}

static void spellings(void)
{
	expect("[" IMAGE("x/a.json", TAGS("\"a/a:1\"") TAGS("\"b/b:1\"")) "]",
	       "\"RepoTags\" is duplicate");
	expect("[" IMAGE("x/a.json", ",\"Config\":\"b.json\"") "]",
	       "\"Config\" is duplicate");
	expect("[" IMAGE("b.json", ",\"repotags\":[\"a/a:1\"]") "]",
	       "\"repotags\" is not known");
	expect("[" IMAGE("b.json", ",\"RepoTag\\u017f\":[\"a/a:1\"]") "]",
	       "is not known");
	expect("{\"a\":" IMAGE("b.json", "") "}", "not a JSON list");
	expect("[[" IMAGE("b.json", "") "]]", "expected objects");
	expect("[] []", "not a JSON list");
	expect("", "not a JSON list");
}

/* The paths that are left, or why none are. */
static void reduce(const char *entries, const char *want)
{
	owned(image_bundle_clear) struct image_bundle bundle = { 0 };
	char left[300] = "";
	struct error err = { 0 };

	parse(entries, &bundle);
	if (image_names_reduce(&bundle, &err) < 0)
		snprintf(left, sizeof(left), "%s", err.text);
	for (size_t i = 0; !err.code && i < bundle.entries_count; i++)
		snprintf(left + strlen(left), sizeof(left) - strlen(left),
			 "%s ", bundle.entries[i].path);
	is(left, want, "%s", want);
}

static void lists(void)
{
	reduce(ENTRY("./index.json", A) "," ENTRY("a", A) "," ENTRY(
		       ".//manifest.json/.",
		       B) "," ENTRY("oci-layout",
				    A) "," LINK("repositories",
						"a") "," ENTRY("x/index.json",
							       A),
	       "a .//manifest.json/. x/index.json ");
	reduce(ENTRY("index.json", A), "no manifest.json in the file");
	reduce(LINK("manifest.json", "a"), "manifest.json is a link");
}

int main(void)
{
	tap_begin(60);
	names();
	spellings();
	lists();
	return tap_done();
}
