/* marks_test.c - a mark is found wherever it begins, and refused if it is too
 * short.
 */
#include "controller/results/rules/rule.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

static struct strings list;
static struct marks *marks;

static void finds(const char *text, long want)
{
	const char *end = text + strlen(text);

	is_int(marks_next(marks, text, end) - text,
	       want < 0 ? (long)strlen(text) : want, "in \"%s\"", text);
}

int main(void)
{
	static const char *const texts[] = { "loss", "lost", "it/s",
					     "\xe6\x8d\x9f" };
	struct error err = { 0 };

	tap_begin(10);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		strings_add(&list, texts[i], NULL);
	marks = marks_new(&list, &err);
	if (ok(marks != NULL, "the marks are taken %s", err.text)) {
		finds("loss", 0);
		finds("a lost loss", 2);
		finds("los 5 it/s", 6);
		finds("lo\xe6\x8d\x9f", 2);
		finds("los", -1);
		finds("", -1);
		finds("it/", -1);
	}
	free(marks);
	strings_add(&list, "it", NULL);
	ok(!marks_new(&list, &err), "a mark of two bytes is refused");
	is(err.text,
	   "the mark \"it\" is not valid here; expected up to 128 marks of 3 "
	   "to "
	   "255 bytes",
	   "and the error says why");
	strings_clear(&list);
	return tap_done();
}
