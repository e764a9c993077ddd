/* sweep_file.c - any bytes as a sweep file: read, expanded, or refused.
 *
 * Run in the root of the project: the catalog is read from images/.
 */
#include "controller/sweep/plan.h"

#include <stdint.h>

#define CELLS_MAX 2000 /* more are allowed, but take a fuzzer's time */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct catalog *catalog;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	struct error err;

	catalog = catalog_load("images", &err);
	if (!catalog)
		fprintf(stderr, "%s\n", err.text);
	return catalog ? 0 : -1;
}

/* The product of the matrix is small, or the text is none that is expanded. */
static bool small(const char *text, size_t size)
{
	owned(document_free) struct document *document =
		document_parse(text, size, "fuzz", NULL, NULL);
	const struct value *matrix =
		document ? value_get(document_root(document), "matrix") : NULL;
	size_t cells = 1;

	for (size_t i = 0; matrix && value_kind(matrix) == VALUE_MAP &&
			   i < value_count(matrix) && cells <= CELLS_MAX;
	     i++)
		cells *= value_count(value_at(matrix, i));
	return cells <= CELLS_MAX;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	struct error err = { 0 };
	owned(sweep_free) struct sweep *sweep = NULL;

	if (!catalog || !small(text, size))
		return 0;
	sweep = sweep_parse(text, size, "fuzz", catalog, &err);
	if (!sweep) {
		/* A refusal has a sentence. */
		if (!err.code || !*err.text)
			abort();
		return 0;
	}
	cJSON_Delete(plan_new(sweep, 20, &err));
	return 0;
}
