/* ignore_test.c - patterns of what is left out of a folder.
 */
#include "protocol/content/ignore.h"

#include "tests/tap.h"

#include <errno.h>

static void check(const char *patterns, const char *path, bool folder,
		  bool want)
{
	owned(ignore_free) struct ignore *ignore = ignore_new(NULL);

	ignore_lines(ignore, patterns, NULL);
	ok(ignore_match(ignore, path, folder) == want, "'%s' %s %s%s",
	   strtok_r(strdupa(patterns), "\n", &(char *){ NULL }),
	   want ? "leaves out" : "keeps", path, folder ? "/" : "");
}

static void refused(void)
{
	owned(ignore_free) struct ignore *ignore = ignore_new(NULL);
	struct error err = { 0 };
	char text[1100];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	ok(ignore_add(ignore, text, &err) < 0 && err.code == EINVAL,
	   "too long: %s", err.text);
	ok(ignore_add(ignore, "!", &err) < 0 && err.code == EINVAL,
	   "nothing: %s", err.text);
	ok(ignore_add(ignore, "**/**/**/**/**/a", &err) < 0 &&
		   err.code == EINVAL,
	   "what takes too long: %s", err.text);
	for (int i = 0; i < IGNORE_MAX; i++)
		ignore_add(ignore, "a", NULL);
	ok(ignore_add(ignore, "a", &err) < 0 && err.code == E2BIG,
	   "too many: %s", err.text);
}

int main(void)
{
	tap_begin(10);
	check("*.pyc", "a/b/c.pyc", false, true);
	check("*.pyc", "a/b/c.py", false, false);
	check("build/", "a/build", true, true);
	check("build/", "a/build", false, false);
	check("/build", "build", true, true);
	check("/build", "a/build", true, false);
	check("a/*.o", "a/x.o", false, true);
	check("a/*.o", "a/b/x.o", false, false);
	check("a/**/x", "a/x", false, true);
	check("a/**/x", "a/b/c/x", false, true);
	check("a/**/x", "b/x", false, false);
	check("**/logs", "x/y/logs", true, true);
	check("logs/**", "logs/a", false, true);
	check("# words\n\n  \n*.log  \r\n!keep.log", "x.log", false, true);
	check("*.log\n!keep.log", "a/keep.log", false, false);
	check("!keep.log\n*.log", "keep.log", false, true);
	check("[ab]?", "b1", false, true);
	refused();
	return tap_done();
}
