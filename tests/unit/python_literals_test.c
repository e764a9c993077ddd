/* python_literals_test.c - Python's literals: read as Python would, the rest
 * told with its line.
 */
#include "controller/sweep/flagperf/python_literals.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>

/* A value in one line, as Python would print it, but with double quotes. */
static void show(const struct python_value *value, char *out, size_t size)
{
	size_t used;

	switch (value->kind) {
	case PYTHON_NONE:
		snprintf(out, size, "None");
		return;
	case PYTHON_BOOL:
		snprintf(out, size, "%s", value->truth ? "True" : "False");
		return;
	case PYTHON_NUMBER:
		snprintf(out, size, "%s", value->text);
		return;
	case PYTHON_OPAQUE:
		snprintf(out, size, "<%s>", value->text);
		return;
	case PYTHON_TEXT:
		snprintf(out, size, "\"%s\"", value->text);
		return;
	default:
		break;
	}
	snprintf(out, size, "%s",
		 value->kind == PYTHON_LIST    ? "["
		 : value->kind == PYTHON_TUPLE ? "("
					       : "{");
	for (size_t i = 0; i < value->count; i++) {
		used = strlen(out);
		snprintf(out + used, size - used, "%s", i ? ", " : "");
		used = strlen(out);
		if (value->kind == PYTHON_DICT) {
			show(value->keys[i], out + used, size - used);
			used = strlen(out);
			snprintf(out + used, size - used, ": ");
			used = strlen(out);
		}
		show(value->items[i], out + used, size - used);
	}
	used = strlen(out);
	snprintf(out + used, size - used, "%s",
		 value->kind == PYTHON_LIST    ? "]"
		 : value->kind == PYTHON_TUPLE ? ")"
					       : "}");
}

/* clang-format off */
static const struct {
	const char *name, *text, *want; /* what X is, or the error */
} files[] = {
	{ "a string", "X = 'a'", "\"a\"" },
	{ "double quotes and a comment", "X = \"a # b\" # c\n", "\"a # b\"" },
	{ "strings side by side", "X = 'a' \"b\" r'\\c'", "\"ab\\c\"" },
	{ "escapes", "X = '\\x41\\101\\u00e9\\'\\q'", "\"AA\xc3\xa9'\\q\"" },
	{ "a joined line in a string", "X = 'a\\\nb'", "\"ab\"" },
	{ "three quotes", "X = '''a\n'b''c\n'''", "\"a\n'b''c\n\"" },
	{ "+ and continuation lines",
	  "P = '/a'\nX = P + \\\n  \"/b\" + \\\n '/c'\n", "\"/a/b/c\"" },
	{ "+ in brackets", "X = ('a' + # x\n\n 'b'\n)", "\"ab\"" },
	{ "+=", "X = 'a'\nX += 'b'\n", "\"ab\"" },
	{ "numbers", "X = [1, -2, 0x10, 1_000, 1.5e3, .5]",
	  "[1, -2, 16, 1000, 1500, 0.5]" },
	{ "sums", "X = [1 + 2, 1.5 + 1, [1] + [2], (1,) + (2,)]",
	  "[3, 2.5, [1, 2], (1, 2)]" },
	{ "words", "X = (None, True, False)", "(None, True, False)" },
	{ "brackets around one", "X = (1)", "1" },
	{ "a tuple of one, and none", "X = [(1,), ()]", "[(1), ()]" },
	{ "a dict with comments",
	  "X = {\n  # 'no': 1,\n  'a:b': '/d', # yes\n  2: [],\n}\n",
	  "{\"a:b\": \"/d\", 2: []}" },
	{ "a key twice: the last one", "X = {'a': 1, 'b': 2, 'a': 3}",
	  "{\"a\": 3, \"b\": 2}" },
	{ "a name assigned before", "A = [1]\nX = {'a': A}\nA = 2",
	  "{\"a\": [1]}" },
	{ "a later value", "X = 1\nX = 2", "2" },
	{ "semicolons", "A = 1; X = A + 1; B = 3", "2" },
	{ "a docstring, a coding line and DOS line ends",
	  "'''Doc\r\n'''\r\n# -*-coding:utf-8 -*-\r\nX = 'a'\r\n", "\"a\"" },
	{ "a string that is a statement", "X = 1\n'''\nX = 2\n'''\n", "1" },
	{ "the rest is left alone",
	  "import os\nfrom a import b\ndef f(x):\n  return [\n x]\n"
	  "@f\nclass A: pass\nif b == 1:\n  Y = 2\nX = 3\nprint(X)\n", "3" },

	{ "a dict, of which one value is more",
	  "X = {'a': f(1, {2: [3]}), 'b': 'c', 'd': [e,\n 1] + g}\n",
	  "{\"a\": <f(1, {2: [3]}), 'b': 'c', 'd': [e,>, \"b\": \"c\", "
	  "\"d\": <e,>}" },
	{ "a call", "A = 1\nX = os.getcwd()\n",
	  "f:2: X: found \"os.getcwd()\", which is more than a literal" },
	{ "arithmetic", "X = 130 * 1024", "f:1: X: found \"* 1024\", which is "
	  "more than a literal" },
	{ "a name that is not there", "X = [1,\n Y]",
	  "f:1: X: found \"Y]\", which is more than a literal" },
	{ "a formatted string", "X = f'{a}'", "f:1: X: found \"f'{a}'\", which "
	  "is more than a literal" },
	{ "bytes", "X = b'a'", "f:1: X: found \"b'a'\", which is more than a "
	  "literal" },
	{ "a set", "X = {1, 2}", "f:1: X: found \", 2}\", which is more than a "
	  "literal" },
	{ "a sum of two kinds", "X = 'a' + 1", "f:1: X: found \"\", which is "
	  "more than a literal" },
	{ "a change of one item", "X = {}\nX['a'] = 1\n",
	  "f:2: X: found \"X['a'] = 1\", which is more than a literal" },
	{ "a method", "X = {}\nX.update(a)\n",
	  "f:2: X: found \"X.update(a)\", which is more than a literal" },
	{ "a change in a block", "X = 1\nif a:\n    X = 2\n",
	  "f:3: X: found \"X = 2\", which is more than a literal" },
	{ "a change behind a colon", "X = 1\nif a: X = 2\n",
	  "f:2: X: found \"if a: X = 2\", which is more than a literal" },
	{ "names from elsewhere", "X = 1\nfrom a import *\n",
	  "f:2: X: found \"from a import *\", which is more than a literal" },
	{ "two targets", "X, Y = 1, 2",
	  "f:1: X: found \"X, Y = 1, 2\", which is more than a literal" },
	{ "a chain", "A = X = 1",
	  "f:1: X: found \"X = 1\", which is more than a literal" },
	{ "an escape for what is no text", "X = '\\0'",
	  "f:1: X: found \"'\\0'\", which is more than a literal" },
	{ "nothing", "", "f: found no X" },
	{ "a comparison", "X == 1", "f: found no X" },

	{ "an open string", "A = 1\nX = 'a\n",
	  "f:2: found a string that nothing closes" },
	{ "an open string of many lines", "A = 1\nX = '''a\n\n",
	  "f:2: found a string that nothing closes" },
	{ "an open bracket", "X = [1,\n 2\n",
	  "f:3: found a bracket that nothing closes" },
	{ "an open bracket in what is not read", "a(\n",
	  "f:2: found a bracket that nothing closes" },
};
/* clang-format on */

static void check(size_t i)
{
	struct error err = { 0 };
	char text[500];
	owned(python_free) struct python *python =
		python_read(files[i].text, strlen(files[i].text), "f", &err);
	const struct python_value *x =
		python ? python_get(python, "X", &err) : NULL;

	if (x)
		show(x, text, sizeof(text));
	else
		snprintf(text, sizeof(text), "%s", err.text);
	is(text, files[i].want, "%s", files[i].name);
}

static void limits_hold(void)
{
	static char text[1 << 21];
	struct error err = { 0 };
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), "X = ");
	memset(text + used, '[', 1000 - used);
	ok(!python_read(text, 1000, "f", &err) && err.code == E2BIG,
	   "brackets in brackets are limited: %s", err.text);
	used = (size_t)snprintf(text, sizeof(text), "X = 'aaaaaaaaaaaaaaaa'\n");
	for (int i = 0; i < 40; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "X = X + X\n");
	ok(!python_read(text, used, "f", &err) && err.code == E2BIG,
	   "so is what `+` makes: %s", err.text);
	memset(text, '\n', sizeof(text));
	ok(!python_read(text, sizeof(text), "f", &err) && err.code == E2BIG,
	   "and the file: %s", err.text);
	ok(!python_read("a\0b", 3, "f", &err) && err.code == EINVAL,
	   "a NUL is refused: %s", err.text);
	used = 0;
	for (int i = 0; i < PYTHON_NAMES_MAX + 1; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "x%d = 1\n", i);
	ok(!python_read(text, used, "f", &err) && err.code == E2BIG,
	   "names are counted: %s", err.text);
}

static void what_there_is_can_be_listed(void)
{
	static const char text[] = "import os\nA = 1\n\nB = os.x\nA = 2\n";
	struct error err = { 0 };
	owned(python_free) struct python *python =
		python_read(text, strlen(text), "f", &err);
	const char *out;
	unsigned line;

	is(python_name(python, 0, &line), "A", "the first name");
	ok(line == 2, "is of line %u", line);
	is(python_name(python, 1, &line), "B", "the second one");
	ok(line == 4, "is of line %u", line);
	ok(!python_name(python, 2, &line), "there are no more");
	is(python_skipped(python, 0, &line), "import os",
	   "what was not read is listed, too");
	is(python_skipped(python, 1, &line), "B = os.x", "all of it");
	ok(line == 4, "with its line, %u", line);
	ok(python_text(python, "A", false, &out, &err) < 0, "a number: %s",
	   err.text);
	is(err.text, "f:5: A: allowed is a string",
	   "is told from a string, with its line");
}

static void memory_may_run_out(void)
{
	static const char text[] = "A = 'a' 'b'\nB = [A, {A: (1, -2)}]\n"
				   "C = A + 'c'\nB += [None]\nD = f()\n"
				   "from x import *\n";
	bool good = true;
	long n;

	for (n = 1;; n++) {
		struct error err = { 0 };
		struct python *python;
		bool failed;

		fault_arm(n);
		python = python_read(text, strlen(text), "f", &err);
		failed = fault_disarm();
		if (failed == (python != NULL) ||
		    (failed && err.code != ENOMEM))
			good = ok(false, "allocation %ld: %s", n, err.text);
		python_free(python);
		if (!failed || !good)
			break;
	}
	ok(good && n > 20, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	size_t count = sizeof(files) / sizeof(files[0]);

	tap_begin((int)count + 16);
	for (size_t i = 0; i < count; i++)
		check(i);
	limits_hold();
	what_there_is_can_be_listed();
	memory_may_run_out();
	return tap_done();
}
