/* micro_ladder.c - the rungs of `batch.micro: fit`.
 *
 * Cells are data before they run, so `fit` stands for a cell of each micro
 * batch that may turn out to be the largest: the divisors of the global batches
 * of the sweep, or without one 1 to 16, and from there eight to each power of
 * two. Their race finds the largest that runs (controller/race/race_rules.h).
 */
#include "controller/sweep/sweep_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MICRO_MAX 4096
#define LIST_BYTES 65536

static bool asks_for_ladder(const struct value *micro)
{
	return micro && value_kind(micro) == VALUE_SCALAR &&
	       !value_quoted(micro) &&
	       (!strcmp(value_text(micro), "fit") ||
		!strcmp(value_text(micro), "max"));
}

/* Does a micro batch divide a global batch of the sweep? *any: there is one. */
static bool divides_global(const struct sweep *sweep, uint64_t micro, bool *any)
{
	const struct overlay *layer;

	*any = false;
	for (size_t i = 0; (layer = sweep_layer(sweep, i)); i++) {
		const struct value *global =
			layer_value(layer, KEY_BATCH_GLOBAL);
		uint64_t samples;

		if (!global ||
		    value_u64(global, 1, UINT64_MAX, &samples, NULL) < 0)
			continue;
		*any = true;
		if (samples % micro == 0)
			return true;
	}
	return false;
}

/* Does a micro batch have at most four significant bits? */
static bool is_round(uint64_t micro)
{
	while (micro >= 16 && micro % 2 == 0)
		micro /= 2;
	return micro < 16;
}

static int ladder_make(struct sweep *sweep, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(LIST_BYTES);
	const struct value *list;
	int rc;

	rc = buffer_text(&text, "[1", err);
	for (uint64_t micro = 2; rc == 0 && micro <= MICRO_MAX; micro++) {
		bool any, divides = divides_global(sweep, micro, &any);

		if (any ? divides : is_round(micro))
			rc = buffer_printf(&text, err, ", %" PRIu64, micro);
	}
	if (rc < 0 || buffer_text(&text, "]", err) < 0)
		return -1;
	sweep->ladder =
		document_parse(text.data, text.size,
			       document_file(sweep->document), NULL, err);
	if (!sweep->ladder)
		return -1;
	list = sweep->cells.rungs = document_root(sweep->ladder);
	sweep->rungs = calloc(value_count(list), sizeof(*sweep->rungs));
	if (!sweep->rungs)
		return sweep_nomem(sweep, err);
	while (sweep->rung_count < value_count(list)) {
		size_t at = sweep->rung_count++;

		if (overlay_add(&sweep->rungs[at], sweep->paths, "batch.micro",
				value_at(list, at), err) < 0)
			return -1;
	}
	return 0;
}

/* *asks: the cells of the matrix do. The last value of micro batches counts, so
 * an axis with other ones would be lost.
 */
static int matrix_asks(const struct sweep *sweep, bool *asks, struct error *err)
{
	const struct value *other = NULL;

	*asks = false;
	for (size_t i = 0; i < sweep->axis_count; i++)
		for (size_t k = 0; k < sweep->axes[i].count; k++) {
			const struct value *micro =
				layer_value(&sweep->axes[i].layers[k],
					    KEY_BATCH_MICRO);

			if (asks_for_ladder(micro))
				*asks = true;
			else if (micro)
				other = micro;
		}
	if (*asks && other)
		return value_error(other, err,
				   "not valid beside fit, which tries all "
				   "micro "
				   "batches");
	if (!other)
		*asks |= asks_for_ladder(
			layer_value(&sweep->base, KEY_BATCH_MICRO));
	return 0;
}

static int add_axis(struct sweep *sweep, struct error *err)
{
	struct axis *axis = &sweep->axes[sweep->axis_count++];

	axis->key = key_rules[KEY_BATCH_MICRO].path;
	axis->layers = calloc(sweep->rung_count, sizeof(*axis->layers));
	if (!axis->layers)
		return sweep_nomem(sweep, err);
	for (; axis->count < sweep->rung_count; axis->count++)
		if (overlay_add(&axis->layers[axis->count], sweep->paths,
				axis->key,
				value_at(sweep->cells.rungs, axis->count),
				err) < 0)
			return -1;
	sweep->product *= axis->count;
	if (sweep->product <= SWEEP_CELLS_MAX)
		return 0;
	return value_error(document_root(sweep->document), err,
			   "batch.micro: %zu cells with those of fit; expected "
			   "at most %d",
			   sweep->product, SWEEP_CELLS_MAX);
}

int micro_ladder_expand(struct sweep *sweep, struct error *err)
{
	const struct overlay *layer;
	bool any = false, matrix;

	for (size_t i = 0; !any && (layer = sweep_layer(sweep, i)); i++)
		any = asks_for_ladder(layer_value(layer, KEY_BATCH_MICRO));
	if (!any)
		return 0;
	if (ladder_make(sweep, err) < 0 || matrix_asks(sweep, &matrix, err) < 0)
		return -1;
	return matrix && sweep->product ? add_axis(sweep, err) : 0;
}

size_t micro_ladder_rungs(const struct sweep *sweep,
			  const struct overlay *include)
{
	const struct value *own = layer_value(include, KEY_BATCH_MICRO);

	return asks_for_ladder(own ? own
				   : layer_value(&sweep->base, KEY_BATCH_MICRO))
		       ? sweep->rung_count
		       : 0;
}
