/* image_bundle_test.c - recipes of image files that are refused.
 */
#include "protocol/blob/image_bundle.h"
#include "tests/tap.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define FILE_OF(path) "{\"path\":\"" path "\",\"content\":\"" ZEROS "\"}"
#define LINK_OF(path, to) "{\"path\":\"" path "\",\"link\":\"" to "\"}"

/* why NULL: it is a bundle. */
static void expect(const char *entries, const char *why)
{
	struct image_bundle bundle = { 0 };
	struct error err = { 0 };
	char text[4096];
	int rc;

	snprintf(text, sizeof(text),
		 "{\"images\":[{\"id\":\"sha256:" ZEROS "\"}],"
		 "\"entries\":[%s]}",
		 entries);
	rc = image_bundle_parse(text, strlen(text), &bundle, &err);
	ok(why ? rc < 0 && strstr(err.text, why) : rc == 0, "%s",
	   why ? err.text : "a bundle");
	image_bundle_clear(&bundle);
}

int main(void)
{
	tap_begin(60);
	expect(FILE_OF("manifest.json"), NULL);
	expect(LINK_OF("a/layer.tar",
		       "../b/layer.tar") "," FILE_OF("b/layer.tar"),
	       NULL);
	expect(FILE_OF("../a"),
	       "\"../a\": a path or link leads out of the file");
	expect(LINK_OF("d", "..") "," FILE_OF("a"),
	       "\"d\": a path or link leads out of the file");
	expect(LINK_OF("d", ".") "," FILE_OF("d/manifest.json"),
	       "\"d/manifest.json\": is below the link \"d\"");
	expect(FILE_OF("./a//d/x/manifest.json") "," LINK_OF("a/./d", ".."),
	       "is below the link \"a/d\"");
	expect(LINK_OF("d", ".") "," FILE_OF("dd/manifest.json"), NULL);
	expect(FILE_OF("a/b") "," LINK_OF("./a//b", "c"),
	       "\"a/b\": duplicate path");
	expect(FILE_OF("a/b") "," FILE_OF("a-b") "," FILE_OF("a/b/c"), NULL);
	expect("", "0 files");
	return tap_done();
}
