/* ignore_test.c - patterns of what is left out of a folder.
 */
#include "protocol/blob/ignore.h"

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

static void docker(const char *patterns, const char *path, bool folder,
		   bool want)
{
	owned(ignore_free) struct ignore *ignore = ignore_new(NULL);

	ignore_docker_lines(ignore, patterns, NULL);
	ok(ignore_match(ignore, path, folder) == want, "'%s' of Docker %s %s%s",
	   strtok_r(strdupa(patterns), "\n", &(char *){ NULL }),
	   want ? "leaves out" : "keeps", path, folder ? "/" : "");
}

static bool inside(const char *patterns)
{
	owned(ignore_free) struct ignore *ignore = ignore_new(NULL);

	return ignore_docker_lines(ignore, patterns, NULL) == 0 &&
	       ignore_inside(ignore);
}

static void dockers(void)
{
	owned(ignore_free) struct ignore *ignore = ignore_new(NULL);
	struct error err = { 0 };

	docker("*.tmp", "x.tmp", false, true);
	docker("*.tmp", "a/x.tmp", false, false);
	docker("**/*.tmp", "a/b/x.tmp", false, true);
	docker("**/*.tmp", "x.tmp", false, true);
	docker("/a/./b/", "a/b", true, true);
	docker("a", "a/b/c", false, true);
	docker("a", "ab/c", false, false);
	docker("a\n!a/b", "a/b", true, false);
	docker("a\n!a/b", "a/b/c", false, false);
	docker("a\n!a/b", "a/c", false, true);
	docker("*\n!src", "src/x/y", false, false);
	docker("*\n!src\nsrc/x", "src/x/y", false, true);
	docker("# words\n.\n/\n", "a", false, false);
	ok(inside("a\n!a/b") && !inside("a\n!b\nc/d"),
	   "what is taken back in may lie in a folder that is left out");
	ok(ignore_docker_lines(ignore, "a\n!\n", &err) < 0 &&
		   err.code == EINVAL,
	   "nothing of Docker: %s", err.text);
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
	dockers();
	refused();
	return tap_done();
}
