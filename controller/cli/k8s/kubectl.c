/* kubectl.c - runs the kubectl of this machine.
 */
#include "controller/cli/k8s/kubectl.h"
#include "protocol/base/local_tool.h"

#include <errno.h>

static int kubectl_words(const struct strings *options,
			 const char *const *words, struct strings *argv,
			 struct error *err)
{
	if (strings_add(argv, "kubectl", err) < 0)
		return -1;
	for (size_t i = 0; i < options->count; i++)
		if (strings_add(argv, options->items[i], err) < 0)
			return -1;
	for (; *words; words++)
		if (strings_add(argv, *words, err) < 0)
			return -1;
	return 0;
}

int kubectl_run(const struct strings *options, const char *const *words,
		struct buffer *text, struct error *err)
{
	owned(strings_clear) struct strings argv = { 0 };

	buffer_init(text, KUBECTL_OUTPUT_MAX);
	if (kubectl_words(options, words, &argv, err) < 0)
		return -1;
	return local_tool_run(&argv, NULL, KUBECTL_MS, text, err);
}

int kubectl_json(const struct strings *options, const char *const *words,
		 cJSON **answer, struct error *err)
{
	owned(buffer_clear) struct buffer text = { 0 };

	if (kubectl_run(options, words, &text, err) < 0)
		return -1;
	*answer = cJSON_ParseWithLength(text.data, text.size);
	return *answer ? 0
		       : error_set(err, EPROTO,
				   "kubectl %.40s: its output is not JSON",
				   words[0]);
}
