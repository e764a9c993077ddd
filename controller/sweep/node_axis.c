/* node_axis.c - `nodes: each`, `nodes: pairs`, `nodes: {scale: [1, all]}` and
 * `nodes: [n3]`.
 *
 * They become entries of an axis, as if the matrix had them:
 *
 *	each	{node: n1, nodes: 1}, {node: n2, nodes: 1} ...
 *	pairs	{node: n1+n2, nodes: 2} ...
 *	scale	{nodes: 1}, {nodes: 16}
 *	[n3]	{node: n3, nodes: 1}
 *
 * The names are in the file, {each: [n1, n2]}, or those of the site. Where the
 * vendor of a node is known, the cell is of it, unless the sweep wants others.
 */
#include "controller/sweep/sweep_internal.h"

#include <string.h>

#define AXIS_BYTES (1 << 20)

enum node_axis { AXIS_EACH, AXIS_PAIRS, AXIS_SCALE };
static const char *const axis_names[] = { "each", "pairs", "scale", NULL };

bool node_axis_asks(const struct value *nodes)
{
	const char *text = nodes ? value_text(nodes) : "";

	return nodes && (value_kind(nodes) == VALUE_MAP ||
			 value_kind(nodes) == VALUE_LIST ||
			 !strcmp(text, axis_names[AXIS_EACH]) ||
			 !strcmp(text, axis_names[AXIS_PAIRS]));
}

/* Does the sweep run on nodes of this vendor? */
static bool axis_wants(const struct sweep *sweep, const char *vendor)
{
	const struct value *wanted =
		value_get(document_root(sweep->document), "vendor");

	if (!wanted)
		return true;
	for (size_t i = 0; i < value_count(wanted); i++)
		if (!strcmp(value_text(value_at(wanted, i)), vendor))
			return true;
	return !strcmp(value_text(wanted), vendor);
}

static int axis_put(struct buffer *text, const char *names, const char *more,
		    const char *vendor, unsigned nodes, struct error *err)
{
	if (buffer_printf(text, err, "  - {nodes: %u", nodes) < 0 ||
	    (names && buffer_printf(text, err, ", node: \"%s%s%s\"", names,
				    more ? "+" : "", more ? more : "") < 0) ||
	    (vendor &&
	     buffer_printf(text, err, ", vendor: \"%s\"", vendor) < 0))
		return -1;
	return buffer_text(text, "}\n", err);
}

/* Each node of the site, or each with the next one of its vendor: the last of
 * an odd number with the one before.
 */
static int axis_of_site(const struct sweep *sweep, enum node_axis axis,
			struct buffer *text, struct error *err)
{
	const struct sweep_site *site = sweep->site;

	for (size_t i = 0; i < site->count; i++) {
		const struct site_node *node = &site->nodes[i];
		const struct site_node *before = NULL;
		size_t place = 0;
		bool last = true;

		if (!axis_wants(sweep, node->vendor))
			continue;
		for (size_t k = 0; k < site->count; k++) {
			if (k == i ||
			    strcmp(site->nodes[k].vendor, node->vendor) != 0)
				continue;
			place += k < i;
			before = k < i ? &site->nodes[k] : before;
			last = last && k < i;
		}
		if (axis == AXIS_EACH &&
		    axis_put(text, node->name, NULL, node->vendor, 1, err) < 0)
			return -1;
		if (axis == AXIS_PAIRS && before && (place % 2 || last) &&
		    axis_put(text, before->name, node->name, node->vendor, 2,
			     err) < 0)
			return -1;
	}
	return 0;
}

/* The vendor of a node of the site, "n1" or the first of "n1+n2"; NULL: not
 * known.
 */
static const char *site_vendor(const struct sweep_site *site, const char *names)
{
	size_t length = strcspn(names, "+");

	for (size_t i = 0; site && i < site->count; i++)
		if (!strncmp(site->nodes[i].name, names, length) &&
		    !site->nodes[i].name[length])
			return site->nodes[i].vendor;
	return NULL;
}

static int axis_of_names(const struct sweep *sweep, const struct value *list,
			 enum node_axis axis, struct buffer *text,
			 struct error *err)
{
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *item = value_at(list, i);
		const char *names, *vendor;

		if (value_string(item, 200, &names, err) < 0)
			return -1;
		if (!text_is_of(names, 200,
				ASCII_LETTERS ASCII_DIGITS "._-+") ||
		    (axis == AXIS_PAIRS) != (strchr(names, '+') != NULL))
			return value_invalid(item, err, "%s",
					     axis == AXIS_PAIRS
						     ? "two nodes, n1+n2"
						     : "the name of a node");
		vendor = site_vendor(sweep->site, names);
		if (vendor && !axis_wants(sweep, vendor))
			continue;
		if (axis_put(text, names, NULL, vendor,
			     axis == AXIS_PAIRS ? 2 : 1, err) < 0)
			return -1;
	}
	return 0;
}

/* One job on these nodes. */
static int axis_of_list(const struct sweep *sweep, const struct value *list,
			struct buffer *text, struct error *err)
{
	const char *vendor;

	owned(buffer_clear) struct buffer names = BUFFER_INIT(AXIS_BYTES);

	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *item = value_at(list, i);
		const char *name;

		if (value_string(item, 200, &name, err) < 0)
			return -1;
		if (!text_is_of(name, 200, ASCII_LETTERS ASCII_DIGITS "._-") ||
		    !name[strspn(name, ASCII_DIGITS)])
			return value_invalid(item, err,
					     "the name of a node (lists of "
					     "numbers stand in `matrix`)");
		if (buffer_printf(&names, err, "%s%s", i ? "+" : "", name) < 0)
			return -1;
	}
	if (!value_count(list))
		return value_invalid(list, err, "names of nodes");
	vendor = site_vendor(sweep->site, names.data);
	if (vendor && !axis_wants(sweep, vendor))
		vendor = NULL;
	return axis_put(text, names.data, NULL, vendor,
			(unsigned)value_count(list), err);
}

/* all: every node of the site that suits; without a site it is left out. */
static int axis_of_scale(const struct sweep *sweep, const struct value *list,
			 struct buffer *text, struct error *err)
{
	for (size_t i = 0; i < value_count(list); i++) {
		const struct value *item = value_at(list, i);
		uint32_t nodes = 0;

		if (strcmp(value_text(item), "all") != 0) {
			if (value_u32(item, 1, 4096, &nodes, err) < 0)
				return -1;
		} else if (sweep->site) {
			for (size_t k = 0; k < sweep->site->count; k++)
				nodes += axis_wants(sweep, sweep->site->nodes[k]
								   .vendor);
		}
		if (nodes && axis_put(text, NULL, NULL, NULL, nodes, err) < 0)
			return -1;
	}
	return 0;
}

static int axis_text(const struct sweep *sweep, const struct value *nodes,
		     struct buffer *text, struct error *err)
{
	const struct value *list = value_at(nodes, 0);
	const char *key;
	size_t axis;

	if (value_kind(nodes) == VALUE_LIST)
		return axis_of_list(sweep, nodes, text, err);
	if (value_kind(nodes) == VALUE_MAP &&
	    value_check_keys(nodes, axis_names, err) < 0)
		return -1;
	if (value_kind(nodes) != VALUE_MAP) {
		if (value_enum(nodes, axis_names, &axis, err) < 0)
			return -1;
		return sweep->site ? axis_of_site(sweep, axis, text, err)
				   : axis_put(text, NULL, NULL, NULL,
					      axis == AXIS_PAIRS ? 2 : 1, err);
	}
	if (value_count(nodes) != 1 || value_expect(list, VALUE_LIST, err) < 0)
		return value_invalid(nodes, err,
				     "one of each: [...], pairs: [...], "
				     "scale: [...]");
	key = value_key(nodes, 0);
	for (axis = 0;
	     key && axis < AXIS_SCALE && strcmp(axis_names[axis], key) != 0;)
		axis++;
	return axis == AXIS_SCALE ? axis_of_scale(sweep, list, text, err)
				  : axis_of_names(sweep, list, axis, text, err);
}

const struct value *node_axis_read(struct sweep *sweep,
				   const struct value *nodes, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(AXIS_BYTES);
	size_t begun;

	if (buffer_text(&text, "nodes:\n", err) < 0)
		return NULL;
	begun = text.size;
	if (axis_text(sweep, nodes, &text, err) < 0)
		return NULL;
	if (text.size == begun) {
		value_error(nodes, err, "no node of the cluster suits");
		return NULL;
	}
	sweep->node_axis =
		document_parse(text.data, text.size,
			       document_file(sweep->document), NULL, err);
	return sweep->node_axis ? document_root(sweep->node_axis) : NULL;
}
