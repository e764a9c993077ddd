/* result_tree.h - results as trees, whose members a test names by their paths.
 * Remarks are their sentences. The callers delete the trees.
 */
#pragma once

#include "controller/results/remarks.h"
#include "controller/results/result.h"

/* The tree of a result that is given up; NULL: none. */
static inline cJSON *result_tree_of(struct result *result)
{
	cJSON *tree = codec_object(&result_schema, result, NULL);

	cJSON_ReplaceItemInObjectCaseSensitive(
		tree, "flags",
		remarks_sentences(result->flags, result->flags_count));
	result_clear(result);
	return tree;
}

/* The input keeps its usage and warnings. */
static inline cJSON *result_tree(const struct result_input *input)
{
	struct result_input once = *input;
	struct result copy,
		result = { .usage = input->usage, .inputs = input->inputs };

	codec_copy(&result_schema, &result, &copy, NULL);
	once.usage = copy.usage;
	once.inputs = copy.inputs;
	result_compute(&once, &result, NULL);
	return result_tree_of(&result);
}
