/* usage_tree.h - the summary of samples as a tree. The caller deletes it.
 */
#pragma once

#include "controller/results/usage.h"

static inline cJSON *usage_tree(const struct usage *const *streams,
				size_t count)
{
	struct usage_summary summary;
	cJSON *tree;

	usage_summarize(streams, count, NULL, &summary, NULL);
	tree = codec_object(&usage_summary_schema, &summary, NULL);
	codec_clear(&usage_summary_schema, &summary);
	return tree;
}
