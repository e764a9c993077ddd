/* sweep_workspace_test.c - folders that the cells of a sweep take with them.
 */
#include "controller/sweep/sweep.h"

#include "tests/tap.h"

#include <errno.h>

static void workspaces(const struct catalog *catalog)
{
	static const char text[] = "sweep: s\nimage: i\ncommand: [a]\n"
				   "matrix: {workspace: [a, b, ./a]}\n"
				   "collect: [/out]\n";
	static const char hash[] = "0123456789abcdef0123456789abcdef"
				   "0123456789abcdef0123456789abcdef";
	static const char other[] = "f123456789abcdef0123456789abcdef"
				    "0123456789abcdef0123456789abcdef";
	owned(sweep_free) struct sweep *sweep =
		sweep_parse(text, strlen(text), "f", catalog, NULL);
	owned(ignore_free) struct ignore *ignore = ignore_new(NULL);
	struct job_spec one = { 0 }, two = { 0 };
	struct error err = { 0 };
	char key[65], again[65];

	ok(sweep && sweep_workspaces(sweep) == 3 &&
		   !strcmp(sweep_workspace(sweep, 1), "b") &&
		   !sweep_workspace_ignore(sweep, 1, ignore, NULL),
	   "the folders that cells take with them");
	is(sweep_unbound(sweep), "a", "of what content is not known at first");
	sweep_cell_key(sweep, 0, key, NULL);
	ok(sweep_bind(sweep, "a", "x", &err) < 0 && err.code == EPROTO,
	   "no hash: %s", err.text);
	sweep_bind(sweep, "a", hash, NULL);
	sweep_bind(sweep, "b", other, NULL);
	sweep_bind(sweep, "./a", hash, NULL);
	sweep_bind(sweep, "none", hash, NULL);
	ok(!sweep_unbound(sweep) && !sweep_job(sweep, 0, &one, NULL) &&
		   !sweep_job(sweep, 1, &two, NULL),
	   "until it is said");
	is(one.container.workspace, hash, "it is what jobs carry");
	is(two.container.workspace, other, "each its own");
	is(one.container.workdir, "/workspace", "the command runs in it");
	ok(one.container.collect.count == 1 &&
		   !strcmp(one.container.collect.items[0], "/out"),
	   "files are collected");
	sweep_cell_key(sweep, 0, again, NULL);
	ok(strcmp(key, again) != 0 && one.key && two.key &&
		   strcmp(one.key, two.key) != 0,
	   "the content is part of the cell");
	codec_clear(&job_spec_schema, &one);
	codec_clear(&job_spec_schema, &two);
}

int main(void)
{
	struct error err = { 0 };
	owned(catalog_free) struct catalog *catalog = NULL;

	tap_begin(30);
	catalog = catalog_load("images", &err);
	if (ok(catalog != NULL, "the catalog is loaded (%s)", err.text))
		workspaces(catalog);
	return tap_done();
}
