/* cell_order.c - finds which cells of a sweep follow which.
 *
 *	after: {step: pretrain}
 *
 * in a cell means: its jobs start when the jobs of the cells of this sweep with
 * these values have completed. Of several such cells the most similar ones are
 * used: in a matrix, those that differ only in the keys of `after`. Repeat i
 * follows repeat i, or the last one.
 *
 * A cell that only follows dropped cells is dropped, too. Errors of the file:
 * no cell has these values, a cell follows itself, directly or through others,
 * or it needs more nodes than the cell whose nodes it shares.
 */
#include "controller/sweep/sweep_internal.h"
#include "protocol/base/strings.h"

#include <stdlib.h>
#include <string.h>

/* The search for the cells that one cell follows. */
struct search {
	struct sweep *sweep;
	uint32_t cell;
	const struct value *after; /* a map of single values */
	const struct value **own;  /* the cell's values, by path */
	uint32_t found[CELL_ORDER_BEFORE_MAX];
	size_t count;
	size_t likeness; /* of those found */
	bool dropped;    /* a dropped cell has the values */
};

/* Most sweeps have no `after`, so their cells need not be searched. */
static bool any_order(const struct sweep *sweep)
{
	const struct overlay *layer;

	for (size_t i = 0; (layer = sweep_layer(sweep, i)); i++)
		if (layer_value(layer, KEY_AFTER))
			return true;
	return false;
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

/* A variable in `after` counts as used. */
static int cell_order_check_paths(const struct search *search,
				  struct error *err)
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

/* Does the current cell have the values of `after`? */
static bool cell_order_has_values(const struct search *search)
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

/* The number of varying paths with the same value in both cells. */
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

/* Add the cell if it has the values and no better one was found. */
static int consider(struct search *search, size_t cell, struct error *err)
{
	size_t like;

	if (sweep_set_values(search->sweep, cell, err) < 0)
		return -1;
	if (!cell_order_has_values(search))
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

/* Does the entry of an axis set a key of `after`? *fits: all that it sets have
 * the value.
 */
static bool entry_sets(const struct search *search, const struct overlay *layer,
		       bool *fits)
{
	bool sets = false;

	*fits = true;
	for (size_t i = 0; i < value_count(search->after); i++) {
		const struct value *value =
			layer_value(layer,
				    (size_t)paths_find(search->sweep->paths,
						       value_key(search->after,
								 i)));

		sets |= value != NULL;
		*fits &= !value ||
			 !values_differ(value, value_at(search->after, i));
	}
	return sets;
}

static bool axis_sets(const struct search *search, const struct axis *axis)
{
	bool fits;

	for (size_t i = 0; i < axis->count; i++)
		if (entry_sets(search, &axis->layers[i], &fits))
			return true;
	return false;
}

/* Search the matrix: cells with the same entry of each axis, except for axes
 * that set keys of `after`, of which all fitting entries are tried.
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
	if (!axis_sets(search, at))
		return search_axes(search, axis + 1,
				   base + rest / below * below, below,
				   rest % below, err);
	for (size_t i = 0; i < at->count; i++) {
		entry_sets(search, &at->layers[i], &fits);
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

	if (cell_order_check_paths(search, err) < 0)
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

/* Add the orders of a kept cell. *drop: all cells that it follows are dropped.
 */
static int order_cell(struct sweep *sweep, uint32_t cell,
		      const struct value **own, bool *drop, struct error *err)
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

/* Cycles: a depth-first search along the orders. */

enum colour { WHITE, GREY, BLACK };

struct walk {
	uint32_t cell;
	size_t next; /* of its orders */
};

/* "after step=b (line 4)": what a cell follows. */
static int circle_add(struct sweep *sweep, uint32_t cell, char *names,
		      size_t size, struct error *err)
{
	const struct value *after;

	if (sweep_set_values(sweep, cell, err) < 0)
		return -1;
	after = sweep->values[KEY_AFTER];
	text_append(names, size, "%safter", *names ? ", " : "");
	for (size_t i = 0; i < value_count(after); i++)
		text_append(names, size, " %s=%s", value_key(after, i),
			    value_text(value_at(after, i)));
	text_append(names, size, " (line %u)", value_line(after));
	return 0;
}

/* Name the cells from `again` to the top of the stack, which it follows. */
static int circle_error(struct sweep *sweep, const struct walk *stack,
			size_t depth, uint32_t again, struct error *err)
{
	size_t at = depth;
	char names[160] = "";

	while (stack[--at].cell != again)
		;
	for (; at < depth; at++)
		if (circle_add(sweep, stack[at].cell, names, sizeof(names),
			       err) < 0)
			return -1;
	return value_error(document_root(sweep->document), err,
			   "after: the cells depend on each other in a cycle: "
			   "%s",
			   names);
}

static int walk_from(struct sweep *sweep, uint32_t cell, char *colours,
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
			return circle_error(sweep, stack, depth, before, err);
		if (colours[before] == BLACK)
			continue;
		colours[before] = GREY;
		stack[depth++] = (struct walk){ before, 0 };
	}
	return 0;
}

static int check_circles(struct sweep *sweep, struct error *err)
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

/* A cell that runs on the nodes of the first cell that it follows cannot need
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

/* A cell that would race runs for the winner of the race that it follows; a
 * race itself follows nothing.
 */
static int check_races(struct sweep *sweep, const struct cell_order *order,
		       struct error *err)
{
	const struct value *race;

	if (sweep_set_values(sweep, order->cell, err) < 0)
		return -1;
	race = sweep->values[KEY_RACE];
	if (!race)
		return 0;
	if (sweep_set_values(sweep, order->before, err) < 0)
		return -1;
	return sweep->values[KEY_RACE]
		       ? 0
		       : value_error(race, err,
				     "not valid in a cell that follows one "
				     "without race: a race has its own order");
}

static int check_orders(struct sweep *sweep, struct error *err)
{
	const struct cell_order *orders = sweep->orders;

	for (size_t i = 0; i < sweep->order_count; i++)
		if ((!i || orders[i].cell != orders[i - 1].cell) &&
		    (check_nodes(sweep, &orders[i], err) < 0 ||
		     check_races(sweep, &orders[i], err) < 0))
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
	/* Other cells may follow a dropped one, so all are searched again. */
	while (again) {
		again = false;
		sweep->order_count = 0;
		for (size_t i = 0; i < sweep->totals.kept && !again; i++) {
			uint32_t cell = sweep->kept[i].cell;

			if (order_cell(sweep, cell, own, &again, err) < 0)
				return -1;
			if (again)
				sweep_drop_kept(sweep, i);
		}
	}
	if (sweep->order_count && check_circles(sweep, err) < 0)
		return -1;
	return check_orders(sweep, err);
}
