/* cell_order.c - which cells of a sweep go after which.
 *
 *	after: {step: pretrain}
 *
 * in a cell means: its jobs begin when the jobs of the cells of this sweep that
 * have these values are completed. Of several such cells those count that are
 * most like this one: of a matrix, the ones that differ from it only in the
 * keys that tell the values apart. Repeat i goes after repeat i, or after the
 * last one.
 *
 *	until: {confidence: 0.95, width: 1%, max: 10}
 *
 * repeats a cell beyond `repeat` until the confidence interval of its mean rate
 * is at most so wide, as a share of the mean, or there are max repeats.
 *
 * A cell that goes after cells that are all dropped is dropped, too. Errors of
 * the file: no cell has these values, a cell goes after itself, directly or by
 * way of others, or it needs more nodes than the one whose nodes it shares.
 */
#include "controller/sweep/sweep_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The search for what one cell goes after. */
struct search {
	struct sweep *sweep;
	uint32_t cell;
	const struct value *after; /* a map of single values */
	const struct value **own;  /* the cell's values, by path */
	uint32_t found[CELL_ORDER_BEFORE_MAX];
	size_t count;
	size_t likeness; /* of those found */
	bool dropped;    /* there are some, but not kept */
};

static bool layer_has_order(const struct overlay *layer)
{
	return layer_value(layer, KEY_AFTER) != NULL;
}

/* Most sweeps have no order, and are not asked cell by cell. */
static bool any_order(const struct sweep *sweep)
{
	bool any = layer_has_order(&sweep->base);

	for (size_t i = 0; i < sweep->axis_count; i++)
		for (size_t k = 0; k < sweep->axes[i].count; k++)
			any |= layer_has_order(&sweep->axes[i].layers[k]);
	for (size_t i = 0; i < sweep->include_count; i++)
		any |= layer_has_order(&sweep->includes[i]);
	return any;
}

const struct kept *cell_order_kept(const struct sweep *sweep, uint32_t cell)
{
	size_t low = 0, high = sweep->totals.kept;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sweep->kept[middle].cell == cell)
			return &sweep->kept[middle];
		if (sweep->kept[middle].cell < cell)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* A variable that is only there to be gone after is used. */
static int check_paths(const struct search *search, struct error *err)
{
	for (size_t i = 0; i < value_count(search->after); i++) {
		int path = paths_find(search->sweep->paths,
				      value_key(search->after, i));

		if (path < 0)
			return value_key_error(search->after, i, err,
					       "no cell has this key");
		search->sweep->cells.used[path] = true;
	}
	return 0;
}

/* Do the values at hand, of some cell, have those of `after`? */
static bool has_values(const struct search *search)
{
	const struct sweep *sweep = search->sweep;

	for (size_t i = 0; i < value_count(search->after); i++) {
		int path =
			paths_find(sweep->paths, value_key(search->after, i));

		if (!sweep->values[path] ||
		    values_differ(sweep->values[path],
				  value_at(search->after, i)))
			return false;
	}
	return true;
}

static size_t likeness(const struct search *search)
{
	const struct sweep *sweep = search->sweep;
	size_t same = 0;

	for (size_t i = 0; i < sweep->cells.varying_count; i++) {
		size_t path = sweep->cells.varying[i];

		same += !values_differ(sweep->values[path], search->own[path]);
	}
	return same;
}

/* Take the cell if it has the values: the most alike ones stay. */
static int consider(struct search *search, size_t cell, struct error *err)
{
	size_t like;

	if (sweep_set_values(search->sweep, cell, err) < 0)
		return -1;
	if (!has_values(search))
		return 0;
	if (cell == search->cell)
		return value_error(search->after, err,
				   "these are values of the cell itself; a "
				   "cell cannot depend on itself");
	if (!cell_order_kept(search->sweep, (uint32_t)cell)) {
		search->dropped = true;
		return 0;
	}
	like = likeness(search);
	if (like < search->likeness)
		return 0;
	if (like > search->likeness)
		search->count = 0;
	search->likeness = like;
	if (search->count == CELL_ORDER_BEFORE_MAX)
		return value_error(search->after, err,
				   "more than %d equally similar cells have "
				   "these values, which is the limit",
				   CELL_ORDER_BEFORE_MAX);
	search->found[search->count++] = (uint32_t)cell;
	return 0;
}

/* Does the entry of an axis say one of the keys, and if so, the value? */
static bool entry_says(const struct search *search, const struct overlay *layer,
		       bool *fits)
{
	bool says = false;

	*fits = true;
	for (size_t i = 0; i < value_count(search->after); i++) {
		const struct value *value =
			layer_value(layer,
				    (size_t)paths_find(search->sweep->paths,
						       value_key(search->after,
								 i)));

		says |= value != NULL;
		*fits &= !value ||
			 !values_differ(value, value_at(search->after, i));
	}
	return says;
}

static bool axis_says(const struct search *search, const struct axis *axis)
{
	bool fits;

	for (size_t i = 0; i < axis->count; i++)
		if (entry_says(search, &axis->layers[i], &fits))
			return true;
	return false;
}

/* Of the matrix: cells at the same place of every axis but those that say the
 * keys, where all entries that fit are tried.
 */
static int search_axes(struct search *search, size_t axis, size_t base,
		       size_t below, size_t rest, struct error *err)
{
	const struct sweep *sweep = search->sweep;
	const struct axis *at;
	bool fits;

	if (axis == sweep->axis_count)
		return consider(search, base, err);
	at = &sweep->axes[axis];
	below /= at->count;
	if (!axis_says(search, at))
		return search_axes(search, axis + 1,
				   base + rest / below * below, below,
				   rest % below, err);
	for (size_t i = 0; i < at->count; i++) {
		entry_says(search, &at->layers[i], &fits);
		if (fits && search_axes(search, axis + 1, base + i * below,
					below, rest % below, err) < 0)
			return -1;
	}
	return 0;
}

static int search_list(struct search *search, size_t from, size_t to,
		       struct error *err)
{
	if (to - from > CELL_ORDER_SCAN_MAX)
		return value_error(search->after, err,
				   "%zu cells to choose from; expected at most "
				   "%d; put both into the matrix",
				   to - from, CELL_ORDER_SCAN_MAX);
	for (size_t cell = from; cell < to; cell++)
		if (consider(search, cell, err) < 0)
			return -1;
	return 0;
}

static int search_all(struct search *search, struct error *err)
{
	struct sweep *sweep = search->sweep;

	if (check_paths(search, err) < 0)
		return -1;
	if (search->cell >= sweep->product)
		return search_list(search, 0, sweep->totals.cells, err);
	if (search_axes(search, 0, 0, sweep->product, search->cell, err) < 0)
		return -1;
	if (search->count || search->dropped)
		return 0;
	return search_list(search, sweep->product, sweep->totals.cells, err);
}

static int add_orders(const struct search *search, struct error *err)
{
	struct sweep *sweep = search->sweep;
	size_t room = sweep->order_count + search->count;
	struct cell_order *orders =
		reallocarray(sweep->orders, room, sizeof(*orders));

	if (!orders)
		return sweep_nomem(sweep, err);
	sweep->orders = orders;
	for (size_t i = 0; i < search->count; i++)
		orders[sweep->order_count++] =
			(struct cell_order){ search->cell, search->found[i] };
	return 0;
}

/* What the kept cell goes after. *drop: only after cells that are dropped. */
static int cell_order_cell(struct sweep *sweep, uint32_t cell,
			   const struct value **own, bool *drop,
			   struct error *err)
{
	size_t bytes = paths_count(sweep->paths) * sizeof(struct value *);
	struct search search = { .sweep = sweep, .cell = cell, .own = own };

	*drop = false;
	if (sweep_set_values(sweep, cell, err) < 0)
		return -1;
	search.after = sweep->values[KEY_AFTER];
	if (!search.after)
		return 0;
	memcpy(own, sweep->values, bytes);
	if (search_all(&search, err) < 0)
		return -1;
	*drop = !search.count && search.dropped;
	if (!search.count && !search.dropped)
		return value_error(search.after, err,
				   "no other cell has these values");
	return search.count ? add_orders(&search, err) : 0;
}

const struct cell_order *cell_order_of(const struct sweep *sweep, uint32_t cell,
				       size_t *count)
{
	size_t low = 0, high = sweep->order_count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sweep->orders[middle].cell < cell)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low;
	     end < sweep->order_count && sweep->orders[end].cell == cell;)
		end++;
	*count = end - low;
	return *count ? sweep->orders + low : NULL;
}

/* Circles: from each cell along what it goes after, deep first. */

enum colour { WHITE, GREY, BLACK };

struct walk {
	uint32_t cell;
	size_t next; /* of its orders */
};

static int circle_error(const struct sweep *sweep, struct error *err)
{
	return value_error(document_root(sweep->document), err,
			   "after: the cells depend on each other in a cycle");
}

static int walk_from(const struct sweep *sweep, uint32_t cell, char *colours,
		     struct walk *stack, struct error *err)
{
	size_t depth = 0, count;

	stack[depth++] = (struct walk){ cell, 0 };
	colours[cell] = GREY;
	while (depth) {
		struct walk *top = &stack[depth - 1];
		const struct cell_order *orders =
			cell_order_of(sweep, top->cell, &count);
		uint32_t before;

		if (top->next == count) {
			colours[top->cell] = BLACK;
			depth--;
			continue;
		}
		before = orders[top->next++].before;
		if (colours[before] == GREY)
			return circle_error(sweep, err);
		if (colours[before] == BLACK)
			continue;
		colours[before] = GREY;
		stack[depth++] = (struct walk){ before, 0 };
	}
	return 0;
}

static int check_circles(const struct sweep *sweep, struct error *err)
{
	size_t cells = sweep->totals.cells;
	owned_free char *colours = calloc(cells, 1);
	owned_free struct walk *stack = calloc(cells, sizeof(*stack));

	if (!colours || !stack)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < sweep->order_count; i++)
		if (colours[sweep->orders[i].cell] == WHITE &&
		    walk_from(sweep, sweep->orders[i].cell, colours, stack,
			      err) < 0)
			return -1;
	return 0;
}

/* A cell that shares the nodes of the first one that it goes after can have no
 * more of them.
 */
static int check_nodes(struct sweep *sweep, const struct cell_order *order,
		       struct error *err)
{
	const struct kept *kept = cell_order_kept(sweep, order->cell);
	const struct kept *before = cell_order_kept(sweep, order->before);
	uint32_t nodes = sweep->kinds[kept->kind].nodes;
	uint32_t most = sweep->kinds[before->kind].nodes;
	const struct value *same;
	bool share = true;

	if (nodes <= most)
		return 0;
	if (sweep_set_values(sweep, order->cell, err) < 0)
		return -1;
	same = sweep->values[KEY_SAME_NODES];
	if (same && value_bool(same, &share, err) < 0)
		return -1;
	if (!share)
		return 0;
	return value_error(sweep->values[KEY_AFTER], err,
			   "a cell with %u nodes depends on one with %u and "
			   "runs on its nodes; expected at most %u, or "
			   "\"same_nodes: false\"",
			   nodes, most, most);
}

static int check_all_nodes(struct sweep *sweep, struct error *err)
{
	const struct cell_order *orders = sweep->orders;

	for (size_t i = 0; i < sweep->order_count; i++)
		if ((!i || orders[i].cell != orders[i - 1].cell) &&
		    check_nodes(sweep, &orders[i], err) < 0)
			return -1;
	return 0;
}

int cell_order_cells(struct sweep *sweep, struct error *err)
{
	owned_free const struct value **own = NULL;
	bool again = any_order(sweep);

	own = calloc(paths_count(sweep->paths), sizeof(struct value *));
	if (!own)
		return sweep_nomem(sweep, err);
	/* What is dropped may be what others go after. */
	while (again) {
		again = false;
		sweep->order_count = 0;
		for (size_t i = 0; i < sweep->totals.kept && !again; i++) {
			uint32_t cell = sweep->kept[i].cell;

			if (cell_order_cell(sweep, cell, own, &again, err) <
				    0 ||
			    (again && sweep_drop_kept(sweep, i, err) < 0))
				return -1;
		}
	}
	if (sweep->order_count && check_circles(sweep, err) < 0)
		return -1;
	return check_all_nodes(sweep, err);
}
