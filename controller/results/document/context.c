/* context.c - reads facts of a cell that its log does not contain and rates
 * need.
 */
#include "controller/results/document/context.h"

#include "protocol/base/nearest_word.h"
#include "protocol/yaml/document.h"

#include <stddef.h>
#include <string.h>

#define FIGURE_MAX 1e18

/* clang-format off */
static const struct {
	const char *key;
	size_t offset;
} figures[] = {
	{ "seq_length", offsetof(struct context, seq_length) },
	{ "global_batch", offsetof(struct context, global_batch) },
	{ "grad_accum", offsetof(struct context, grad_accum) },
	{ "world_size", offsetof(struct context, world_size) },
	{ "total_steps", offsetof(struct context, total_steps) },
	{ "n_params", offsetof(struct context, n_params) },
	{ "peak_flops_per_device",
	  offsetof(struct context, peak_flops_per_device) },
	{ "spec_tflops", offsetof(struct context, spec_tflops) },
	{ "layers", offsetof(struct context, layers) },
	{ "hidden", offsetof(struct context, hidden) },
	{ "warmup_steps", offsetof(struct context, warmup_steps) },
	{ "warmup_records", offsetof(struct context, warmup_records) },
};
/* clang-format on */

#define FIGURES (sizeof(figures) / sizeof(figures[0]))

void context_init(struct context *context)
{
	*context = (struct context){ .warmup_steps = -1, .warmup_records = -1 };
}

/* Refuse a key that looks like a misspelt one. */
static int check_spelling(const struct value *map, struct error *err)
{
	const char *keys[FIGURES + 1] = { NULL };

	for (size_t i = 0; i < FIGURES; i++)
		keys[i] = figures[i].key;
	for (size_t i = 0; i < value_count(map); i++) {
		const char *key = value_key(map, i);
		const char *near = nearest_word(key, keys);

		if (near && strcmp(near, key) != 0)
			return value_error(value_at(map, i), err,
					   "unknown key; did you mean \"%s\"?",
					   near);
	}
	return 0;
}

int context_take(struct context *context, const struct value *map,
		 struct error *err)
{
	if (value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < FIGURES; i++) {
		void *figure = (char *)context + figures[i].offset;
		const struct value *value = value_get(map, figures[i].key);

		if (value && value_kind(value) != VALUE_NULL &&
		    value_double(value, 0, FIGURE_MAX, figure, err) < 0)
			return -1;
	}
	return check_spelling(map, err);
}

int context_read(struct context *context, const char *path, struct error *err)
{
	owned(document_free) struct document *document =
		document_read(path, NULL, err);

	return document ? context_take(context, document_root(document), err)
			: -1;
}
