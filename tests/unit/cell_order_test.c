/* cell_order_test.c - cells that go after others, and that are repeated.
 */
#include "controller/sweep/sweep.h"

#include "tests/tap.h"

static struct catalog *catalog;

static struct sweep *parse(const char *text)
{
	struct error err = { 0 };
	struct sweep *sweep =
		sweep_parse(text, strlen(text), "f", catalog, &err);

	ok(sweep != NULL, "read (%s)", err.text);
	return sweep;
}

/* The jobs that a job goes after, as "1 3". */
static const char *after(struct sweep *sweep, size_t job, char text[80])
{
	struct job_spec spec = { 0 };
	size_t used = 0;

	text[0] = 0;
	sweep_job(sweep, job, &spec, NULL);
	for (size_t i = 0; i < spec.after_count; i++)
		used += (size_t)snprintf(text + used, 80 - used, "%s%u",
					 i ? " " : "",
					 (unsigned)spec.after[i].job);
	codec_clear(&job_spec_schema, &spec);
	return text;
}

static void test_order(void)
{
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [a, '${x}', '${do}']\n"
		      "repeat: 2\n"
		      "matrix:\n"
		      "  do: [{do: tune, after: {do: train}, repeat: 3}, "
		      "{do: train}]\n"
		      "  x: [1, 2]\n"
		      "include:\n"
		      "  - {do: test, x: 2, after: {do: tune}}\n"
		      "  - {do: all, x: 0, after: {do: train}, "
		      "same_nodes: false}\n");
	struct job_spec spec = { 0 };
	char text[80];

	/* tune x=1: 0 1 2, tune x=2: 3 4 5, train: 6 7, 8 9, test: 10 11 */
	ok(sweep && sweep_totals(sweep)->jobs == 14, "cells with an order");
	is(after(sweep, 0, text), "6", "tune x=1 goes after train x=1");
	is(after(sweep, 4, text), "9", "repeat 1 after repeat 1");
	is(after(sweep, 5, text), "9", "repeat 2 after the last there is");
	is(after(sweep, 6, text), "", "train begins at once");
	is(after(sweep, 11, text), "4", "an include after its like");
	is(after(sweep, 12, text), "6 8", "or after all that are as alike");
	sweep_job(sweep, 11, &spec, NULL);
	ok(spec.same_nodes, "on the same nodes,");
	is(spec.follows, "do=tune", "what it follows is told in words");
	is(spec.cell, "do=test repeat=2 x=2",
	   "which are not those of the cell");
	codec_clear(&job_spec_schema, &spec);
	sweep_job(sweep, 12, &spec, NULL);
	ok(!spec.same_nodes, "unless the sweep says otherwise");
	codec_clear(&job_spec_schema, &spec);
}

static void test_order_nodes(void)
{
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [a, '${do}']\ninclude:\n"
		      "  - {do: all, nodes: 4, after: {do: train}, "
		      "same_nodes: false}\n"
		      "  - {do: test, nodes: 2, after: {do: train}}\n"
		      "  - {do: train, nodes: 2}\n"
		      "  - {do: one, nodes: 1, after: {do: train}}\n");

	ok(sweep && sweep_totals(sweep)->kept == 4,
	   "as many or fewer nodes share those of the cell before; more do "
	   "where they need not");
}

static void test_order_dropped(void)
{
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\ncommand: [a, '${do}', '${x}']\n"
		      "matrix:\n  x: [1, 2]\n"
		      "  do: [train, {do: tune, after: {do: train}}, "
		      "{do: test, after: {do: tune}}]\n"
		      "exclude: [{x: 1, do: train}]\n");
	char cell[80], reason[200], text[80];

	ok(sweep && sweep_totals(sweep)->kept == 3 &&
		   sweep_totals(sweep)->jobs == 3,
	   "what goes after a dropped cell is dropped, and what is behind it");
	sweep_drop(sweep, 1, cell, sizeof(cell), reason, sizeof(reason), NULL);
	is(cell, "x=1 do=tune", "by name");
	is(reason, "do=train, on which it depends, is dropped",
	   "with the reason");
	sweep_drop(sweep, 2, cell, sizeof(cell), reason, sizeof(reason), NULL);
	is(cell, "x=1 do=test", "and the one behind it");
	is(after(sweep, 2, text), "1", "the others keep their order");
}

static void test_until(void)
{
	owned(sweep_free) struct sweep *sweep =
		parse("sweep: s\nimage: i\nuntil: {width: 1%}\n");
	struct job_spec spec = { 0 };

	ok(sweep && !sweep_job(sweep, 0, &spec, NULL) &&
		   spec.until.width == 0.01 && spec.until.confidence == 0.95 &&
		   spec.until.max == 10,
	   "a width is enough: 95 %%, at most ten repeats");
	codec_clear(&job_spec_schema, &spec);
}

int main(void)
{
	struct error err = { 0 };

	tap_begin(30);
	catalog = catalog_load("images", &err);
	if (!ok(catalog != NULL, "the catalog is loaded (%s)", err.text))
		return tap_done();
	test_order();
	test_order_nodes();
	test_order_dropped();
	test_until();
	catalog_free(catalog);
	return tap_done();
}
