/* image_reference_test.c - names of images: which are valid, and their parts.
 */
#include "protocol/registry/reference.h"
#include "tests/tap.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void references(void)
{
	static const char digest[] = "sha256:"
				     "0123456789abcdef0123456789abcdef"
				     "0123456789abcdef0123456789abcdef";
	static const char *const good[][4] = {
		{ "busybox", "busybox", "", "" },
		{ "a/b__c.d--e:T.1-x_", "a/b__c.d--e", "T.1-x_", "" },
		{ "localhost:5000/x", "localhost:5000/x", "", "" },
		{ "Registry.Example:5000/x:1", "Registry.Example:5000/x", "1",
		  "" },
		{ digest, "", "", digest },
	};
	static const char *const bad[] = {
		"",     ":t",     "@",    "a:",    "a@sha256:12", "A",
		"a/B",  "a//b",   "/a",   "a/",    "a b",         "a:t:u",
		"../x", "a/../b", "a:-t", "-a/b",  "a?x",         "a:5000000/b",
		"A/b",  "a..b",   "a._b", "a___b", "ab-/c",       "A.b/C",
	};
	struct reference parts;
	struct error err;
	char text[700];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ok(reference_parse(good[i][0], &parts, &err) == 0 &&
			   !strcmp(parts.name, good[i][1]) &&
			   !strcmp(parts.tag, good[i][2]) &&
			   !strcmp(parts.digest, good[i][3]),
		   "%s is a reference", good[i][0]);
	snprintf(text, sizeof(text), "a:t@%s", digest);
	ok(reference_parse(text, &parts, &err) == 0 &&
		   !strcmp(parts.tag, "t") && !strcmp(parts.digest, digest),
	   "a reference has tag and digest");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(reference_parse(bad[i], &parts, &err) < 0 &&
			   err.code == EINVAL,
		   "\"%s\" is none: %s", bad[i], err.text);
	memset(text, 'a', sizeof(text));
	text[REFERENCE_MAX + 1] = 0;
	ok(reference_parse(text, &parts, &err) < 0, "%s", err.text);
}

int main(void)
{
	tap_begin(16);
	references();
	return tap_done();
}
