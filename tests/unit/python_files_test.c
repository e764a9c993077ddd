/* python_files_test.c - Python's literals: read as Python would, the rest told
 * with its line; what python3 prints is checked.
 */
#include "controller/cli/commands/import_conf.h"
#include "protocol/base/file.h"
#include "tests/tap.h"
#include "tests/unit/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

static char folder[] = "/tmp/python_files_test.XXXXXX";

/* A value in one line, as Python would print it, but with double quotes, and
 * the line of a dict's entry behind a key whose line is not the first.
 */
static void show(const cJSON *value, FILE *out)
{
	const cJSON *dict = python_dict(value), *items = dict ? dict : value;
	const cJSON *item;
	unsigned line;

	if (python_found(value, &line)) {
		fprintf(out, "<%s>", python_found(value, &line));
	} else if (cJSON_IsNull(value)) {
		fputs("None", out);
	} else if (cJSON_IsBool(value)) {
		fputs(cJSON_IsTrue(value) ? "True" : "False", out);
	} else if (cJSON_IsNumber(value)) {
		fprintf(out, "%.17g", value->valuedouble);
	} else if (cJSON_IsString(value)) {
		fprintf(out, "\"%s\"", value->valuestring);
	} else if (!dict && cJSON_IsObject(value)) {
		fprintf(out, "%.17gf", value->child->valuedouble);
	} else {
		fputs(dict ? "{" : "[", out);
		cJSON_ArrayForEach(item, items) {
			if (item != items->child)
				fputs(", ", out);
			if (dict) {
				show(item->child, out);
				fputs(": ", out);
			}
			show(dict ? item->child->next->next : item, out);
		}
		fputs(dict ? "}" : "]", out);
	}
}

/* clang-format off */
#define TENS "0000000000"
#define ZEROS                                                                  \
	TENS TENS TENS TENS TENS TENS TENS TENS TENS TENS

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
	  "[1, -2, 16, 1000, 1500f, 0.5f]" },
	{ "sums", "X = [1 + 2, 1.5 + 1, [1] + [2], (1,) + (2,)]",
	  "[3, 2.5f, [1, 2], [1, 2]]" },
	{ "words", "X = (None, True, False)", "[None, True, False]" },
	{ "brackets around one", "X = (1)", "1" },
	{ "a tuple of one, and none", "X = [(1,), ()]", "[[1], []]" },
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
	  "f:2: X: \"os.getcwd()\" is not a literal" },
	{ "arithmetic", "X = 130 * 1024", "f:1: X: \"130 * 1024\" is not a literal" },
	{ "a name that is not there", "X = [1,\n Y]",
	  "f:2: X: \"Y]\" is not a literal" },
	{ "a formatted string", "X = f'{a}'", "f:1: X: \"f'{a}'\" is not a literal" },
	{ "bytes", "X = b'a'", "f:1: X: \"b'a'\" is not a literal" },
	{ "a set", "X = {1, 2}", "f:1: X: \"{1, 2}\" is not a literal" },
	{ "a sum of two kinds", "X = 'a' + 1", "f:1: X: \"'a' + 1\" is not a literal" },
	{ "a change of one item", "X = {}\nX['a'] = 1\n",
	  "f:2: X: \"X['a'] = 1\" is not a literal" },
	{ "a method", "X = {}\nX.update(a)\n",
	  "f:2: X: \"X.update(a)\" is not a literal" },
	{ "a change in a block", "X = 1\nif a:\n    X = 2\n",
	  "f:3: X: \"X = 2\" is not a literal" },
	{ "a change behind a colon", "X = 1\nif a: X = 2\n",
	  "f:2: X: \"X = 2\" is not a literal" },
	{ "names from elsewhere", "X = 1\nfrom a import *\n",
	  "f:2: X: \"from a import *\" is not a literal" },
	{ "two targets", "X, Y = 1, 2",
	  "f:1: X: \"X, Y = 1, 2\" is not a literal" },
	{ "a chain", "A = X = 1",
	  "f:1: X: \"A = X = 1\" is not a literal" },
	{ "an escape for what is no text", "X = '\\0'",
	  "f:1: X: \"'\\0'\" is not a literal" },
	{ "nothing", "", "no X" },
	{ "a comparison", "X == 1", "no X" },

	{ "a name that a function takes", "X = 1\ndef X(): pass\n",
	  "f:2: X: \"def X(): pass\" is not a literal" },
	{ "a name of a loop", "X = 1\nfor X in a: pass\n",
	  "f:2: X: \"for X in a: pass\" is not a literal" },
	{ "a name deleted", "X = 1\ndel X\n",
	  "f:2: X: \"del X\" is not a literal" },
	{ "an exponent past all numbers", "X = 1e999",
	  "f:1: X: \"1e999\" is not a literal" },
	{ "an integer past all floats", "X = 1" ZEROS ZEROS ZEROS ZEROS,
	  "f:1: X: \"1000000000000000000000000000000000000000\" is not a literal" },

	{ "an open string", "A = 1\nX = 'a\n", "f:2: this is not valid Python" },
	{ "an open bracket", "X = [1,\n 2\n", "f:1: this is not valid Python" },
	{ "no statement", "A = 1\nX = 2 3\n", "f:2: this is not valid Python" },
	{ "no UTF-8", "X = '\xff'\n", "f:1: this is not valid Python" },
};
/* clang-format on */

#define FILES (sizeof(files) / sizeof(files[0]))

/* Write a file below the folder, and add its path. */
static void write_file(struct strings *paths, const char *name,
		       const char *text, size_t size)
{
	struct error err;

	strings_printf(paths, &err, "%s/%s", folder, name);
	if (file_write(AT_FDCWD, paths->items[paths->count - 1], text, size,
		       0644, 0, &err) < 0)
		exit(tap_done());
}

/* What X is, or the error, with "f" for the file's path. */
static void show_x(const struct python_files *python, size_t file, char *text,
		   size_t size)
{
	FILE *out = fmemopen(text, size, "w");
	const char *path = python_file_path(python, file), *found;
	const cJSON *x = python_file_get(python, file, "X");
	struct error err;
	unsigned line;

	if (python_file_check(python, file, &err) < 0)
		fprintf(out, "f%.*s",
			(int)strlen("?:?: this is not valid Python") - 1,
			err.text + strlen(path));
	else if (!x)
		fputs("no X", out);
	else if ((found = python_found(x, &line)))
		fprintf(out, "f:%u: X: \"%s\" is not a literal", line, found);
	else
		show(x, out);
	fclose(out);
}

/* All of them in one process. */
static void each_is_read_as_python_would(void)
{
	owned(strings_clear) struct strings paths = { 0 };
	owned(python_files_free) struct python_files *python = NULL;
	struct error err = { 0 };
	char text[500];

	for (size_t i = 0; i < FILES; i++) {
		snprintf(text, sizeof(text), "%zu.py", i);
		write_file(&paths, text, files[i].text, strlen(files[i].text));
	}
	python = python_read(&paths, &err);
	ok(python != NULL, "all are read by one python3: %s", err.text);
	for (size_t i = 0; python && i < FILES; i++) {
		show_x(python, i, text, sizeof(text));
		is(text, files[i].want, "%s", files[i].name);
	}
}

/* Does reading the text alone end in the code, in words that hold these? */
static void refused(const char *text, size_t size, int code, const char *words,
		    const char *name)
{
	owned(strings_clear) struct strings paths = { 0 };
	owned(python_files_free) struct python_files *python = NULL;
	struct error err = { 0 };

	write_file(&paths, "limit.py", text, size);
	python = python_read(&paths, &err);
	if (python)
		python_file_check(python, 0, &err);
	ok(err.code == code && strstr(err.text, words), "%s: %s", name,
	   err.text + (python ? strlen(paths.items[0]) : 0));
}

static void limits_hold(void)
{
	static const char prefix[] = { 'X', ' ', '=', ' ' };
	static char text[1 << 21];
	size_t used;

	memset(text, '[', 70);
	memset(text + 70, ']', 70);
	memcpy(text + 140, " + []", 6);
	memmove(text + 4, text, 146);
	memcpy(text, prefix, sizeof(prefix));
	refused(text, 149, E2BIG, "deeper than the 64", "nesting is limited");
	memset(text, '[', 100000);
	memcpy(text, prefix, sizeof(prefix));
	refused(text, 100000, EINVAL, "not valid Python",
		"what Python itself does not nest is no Python");
	used = (size_t)snprintf(text, sizeof(text), "X = 'aaaaaaaaaaaaaaaa'\n");
	for (int i = 0; i < 40; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "X = X + X\n");
	refused(text, used, E2BIG, "larger than allowed",
		"so is what `+` makes");
	used = (size_t)snprintf(text, sizeof(text), "X = [1]\n");
	for (int i = 0; i < 40; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "X = [X, X]\n");
	refused(text, used, E2BIG, "larger than allowed",
		"and what names are used for again and again");
	memset(text, '\n', sizeof(text));
	refused(text, sizeof(text), E2BIG, "1 MiB", "and the file");
	refused("a\0b", 3, EINVAL, "not valid Python", "a NUL is refused");
	used = 0;
	for (int i = 0; i < 4097; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
					 "x%d = 1\n", i);
	refused(text, used, E2BIG, "4096 names", "names are counted");
}

static void a_file_that_is_not_there_leaves_the_others(void)
{
	static const char text[] = "import os\nA = 1\n\nB = os.x\nA = 2\n";
	owned(strings_clear) struct strings paths = { 0 };
	owned(python_files_free) struct python_files *python = NULL;
	struct error err = { 0 };
	const cJSON *value;
	unsigned line;

	strings_printf(&paths, &err, "%s/nowhere.py", folder);
	strings_add(&paths, folder, &err);
	write_file(&paths, "there.py", text, strlen(text));
	python = python_read(&paths, &err);
	ok(python != NULL, "a file that is not there is no error");
	ok(python_file_check(python, 0, &err) < 0 && err.code == ENOENT &&
		   strstr(err.text, "nowhere.py: No such file"),
	   "of the others: %s", strrchr(err.text, '/'));
	ok(python_file_check(python, 1, &err) < 0 && err.code == EINVAL,
	   "nor is a folder: %s", strrchr(err.text, ':'));
	ok(!python_file_name(python, 0, 0, &line, &value), "it has no names");
	is(python_file_name(python, 2, 0, &line, &value), "A",
	   "the first name");
	ok(line == 2 && value->valueint == 2, "is of line %u", line);
	is(python_file_name(python, 2, 1, &line, &value), "B",
	   "the second one");
	is(python_found(value, &line), "os.x", "is more than a literal");
	ok(line == 4, "in line %u", line);
	ok(!python_file_name(python, 2, 2, &line, &value), "there are no more");
}

static void nothing_is_executed(void)
{
	owned(strings_clear) struct strings paths = { 0 };
	owned(python_files_free) struct python_files *python = NULL;
	char text[500], mark[100];
	struct error err = { 0 };

	snprintf(mark, sizeof(mark), "%s/executed", folder);
	snprintf(text, sizeof(text),
		 "open('%s', 'w')\nX = open('%s', 'w')\n"
		 "def f(a=open('%s', 'w')): pass\n",
		 mark, mark, mark);
	write_file(&paths, "mark.py", text, strlen(text));
	python = python_read(&paths, &err);
	ok(python && access(mark, F_OK) < 0, "nothing is executed");
}

static void without_python_the_package_is_named(void)
{
	owned(strings_clear) struct strings paths = { 0 };
	struct error err = { 0 };
	const char *found = getenv("PATH");
	char *path = strdup(found ? found : "");

	setenv("PATH", folder, 1);
	write_file(&paths, "a.py", "A = 1\n", 6);
	ok(!python_read(&paths, &err) &&
		   strstr(err.text, "install the package python3"),
	   "without python3: %s", strrchr(err.text, ':'));
	setenv("PATH", path, 1);
	free(path);
}

/* clang-format off */
static const struct {
	const char *name, *text;
} answers[] = {
	{ "nothing", "" },
	{ "half a line", "{\"names\": []}" },
	{ "no JSON", "Traceback\n" },
	{ "no object", "[]\n" },
	{ "two answers", "{\"names\": []}\n{\"names\": []}\n" },
	{ "another key", "{\"names\": [], \"a\": 1}\n" },
	{ "names that are no list", "{\"names\": {}}\n" },
	{ "a name alone", "{\"names\": [[\"A\"]]}\n" },
	{ "a name of no text", "{\"names\": [[1, 1, 1]]}\n" },
	{ "an empty name", "{\"names\": [[\"\", 1, 1]]}\n" },
	{ "line 0", "{\"names\": [[\"A\", 0, 1]]}\n" },
	{ "half a line number", "{\"names\": [[\"A\", 1.5, 1]]}\n" },
	{ "half an integer", "{\"names\": [[\"A\", 1, 1.5]]}\n" },
	{ "an object of another kind", "{\"names\": [[\"A\", 1, {}]]}\n" },
	{ "a float of text", "{\"names\": [[\"A\", 1, {\"float\": \"1\"}]]}\n" },
	{ "a float past all", "{\"names\": [[\"A\", 1, {\"float\": 1e999}]]}\n" },
	{ "something found in a list",
	  "{\"names\": [[\"A\", 1, [{\"found\": \"a\", \"line\": 1}]]]}\n" },
	{ "something found nowhere", "{\"names\": [[\"A\", 1, {\"found\": \"a\"}]]}\n" },
	{ "a dict of numbers", "{\"names\": [[\"A\", 1, {\"dict\": [1]}]]}\n" },
	{ "a dict with a list as key",
	  "{\"names\": [[\"A\", 1, {\"dict\": [[[], 1, 1]]}]]}\n" },
	{ "a dict without a line",
	  "{\"names\": [[\"A\", 1, {\"dict\": [[1, \"1\", 1]]}]]}\n" },
	{ "an error without a code", "{\"error\": \"a\", \"line\": 1}\n" },
	{ "an error of code 0", "{\"error\": \"a\", \"line\": 1, \"code\": 0}\n" },
};
/* clang-format on */
#define ANSWERS (sizeof(answers) / sizeof(answers[0]))

static const char good_answer[] =
	"{\"names\": [[\"A\", 1, {\"dict\": [[\"a\", 1, {\"found\": \"b\", "
	"\"line\": 2}], [{\"float\": 1.5}, 1, [null, true, 1, \"c\"]]]}]]}\n";

static struct python_files *decode(const char *text, struct error *err)
{
	char name[] = "f", *path = name;
	const struct strings paths = { .items = &path, .count = 1 };

	return python_files_decode(text, strlen(text), &paths, err);
}

static void answers_are_checked(void)
{
	struct python_files *python;
	struct error err;

	for (size_t i = 0; i < ANSWERS; i++) {
		python = decode(answers[i].text, &err);
		ok(!python && err.code == EPROTO, "%s: %s", answers[i].name,
		   python ? "taken" : err.text);
		python_files_free(python);
	}
	python = decode(good_answer, &err);
	ok(python != NULL, "one that is as described is taken");
	python_files_free(python);
}

static void memory_may_run_out(void)
{
	bool good = true;
	long n;

	fault_hook_cjson();
	for (n = 1;; n++) {
		struct error err = { 0 };
		struct python_files *python;
		bool failed;

		fault_arm(n);
		python = decode(good_answer, &err);
		failed = fault_disarm();
		if (failed == (python != NULL))
			good = ok(false, "allocation %ld: %s", n, err.text);
		python_files_free(python);
		if (!failed || !good)
			break;
	}
	ok(good && n > 10, "each of %ld allocations may fail", n - 1);
}

int main(void)
{
	tap_begin(300);
	ok(mkdtemp(folder) != NULL, "a folder is made");
	each_is_read_as_python_would();
	limits_hold();
	a_file_that_is_not_there_leaves_the_others();
	nothing_is_executed();
	without_python_the_package_is_named();
	answers_are_checked();
	memory_may_run_out();
	file_remove_tree(AT_FDCWD, folder, NULL);
	return tap_done();
}
