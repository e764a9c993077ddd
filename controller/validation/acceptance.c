/* acceptance.c - what a validation says of each node, device and link.
 */
#include "controller/validation/acceptance.h"

#include "protocol/base/list.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const unit_kind_names[UNIT_KINDS + 1] = { "", "node", "device",
						      "link", NULL };

/* clang-format off */
static const struct schema check_schema = SCHEMA(accepted_check,
	FIELD_NULLABLE(accepted_check, test),
	FIELD_NAMED(accepted_check, verdict, verdict_names),
	FIELD_FIGURE(accepted_check, value),
	FIELD_FIGURE(accepted_check, median),
	FIELD_FIGURE(accepted_check, percent),
	FIELD_FIGURE(accepted_check, chance),
	FIELD(accepted_check, peers),
	FIELD_NULLABLE(accepted_check, text));

static const struct schema unit_schema = SCHEMA(accepted_unit,
	FIELD_NULLABLE(accepted_unit, name),
	FIELD_NAMED(accepted_unit, kind, unit_kind_names),
	FIELD_NAMED(accepted_unit, verdict, verdict_names),
	FIELD_ROWS(accepted_unit, checks, check_schema));

const struct schema acceptance_schema = SCHEMA(acceptance,
	FIELD_NULLABLE(acceptance, set),
	FIELD(acceptance, family),
	FIELD(acceptance, sweeps),
	FIELD(acceptance, notes),
	FIELD_ROWS(acceptance, units, unit_schema));
/* clang-format on */

void acceptance_clear(struct acceptance *acceptance)
{
	codec_clear(&acceptance_schema, acceptance);
}

static struct accepted_unit *acceptance_find(const struct acceptance *in,
					     const char *name)
{
	for (size_t i = 0; i < in->units_count; i++)
		if (!strcmp(in->units[i].name, name))
			return &in->units[i];
	return NULL;
}

/* The unit of that name, which may be new; NULL: ENOMEM. */
static struct accepted_unit *acceptance_unit(struct acceptance *to,
					     const char *name,
					     enum unit_kind kind,
					     struct error *err)
{
	struct accepted_unit *known = acceptance_find(to, name);

	if (known)
		return known;
	known = LIST_ADD(to->units, to->units_count, err);
	if (!known || string_set(&known->name, name, err) < 0)
		return NULL;
	known->kind = kind;
	known->verdict = VERDICT_GOOD;
	return known;
}

int acceptance_add_node(struct acceptance *to, const char *name,
			struct error *err)
{
	return acceptance_unit(to, name, UNIT_NODE, err) ? 0 : -1;
}

int acceptance_add_sweep(struct acceptance *to, uint64_t sweep,
			 struct error *err)
{
	return numbers_add(&to->sweeps, sweep, err);
}

/* Add a check without numbers to a unit; its name is cut at `device`. */
static struct accepted_check *unit_check(struct acceptance *to,
					 const char *name, enum unit_kind kind,
					 const char *test, enum verdict verdict,
					 const char *text, struct error *err)
{
	struct accepted_unit *unit = acceptance_unit(to, name, kind, err);
	struct accepted_check *added =
		unit ? LIST_ADD(unit->checks, unit->checks_count, err) : NULL;

	if (!added)
		return NULL;
	*added = (struct accepted_check){ .verdict = verdict,
					  .value = NAN,
					  .median = NAN,
					  .percent = NAN,
					  .chance = NAN };
	if (unit->verdict < verdict)
		unit->verdict = verdict;
	return string_set(&added->test, test, err) < 0 ||
			       string_set(&added->text, text, err) < 0
		       ? NULL
		       : added;
}

static void value_words(const struct peer_value *of, char *to, size_t size)
{
	snprintf(to, size, "%s: %.5g, %.1f %% %s than %.5g of the %zu like it",
		 of->test, of->value, 100 * fabs(of->worse),
		 of->less ? "more" : "less", of->median, of->peers);
	if (of->value < of->floor)
		text_append(to, size, ", below %.5g, the floor of its chip",
			    of->floor);
	if (isfinite(of->chance))
		text_append(to, size, " (chance %.1g)", of->chance);
	else if (of->value >= of->floor)
		text_append(to, size, " (fewer than %d: not certain)",
			    PEERS_LEAST);
}

static int acceptance_add_value(struct acceptance *to,
				const struct peer_value *of, struct error *err)
{
	bool device = strstr(of->unit, " device ") != NULL;
	struct accepted_check *check;
	char text[400];

	/* A cluster has many devices, and good ones are not news. */
	if (device && of->verdict == VERDICT_GOOD)
		return 0;
	value_words(of, text, sizeof(text));
	check = unit_check(to, of->unit, device ? UNIT_DEVICE : UNIT_NODE,
			   of->test, of->verdict,
			   of->verdict == VERDICT_GOOD ? NULL : text, err);
	if (!check)
		return -1;
	check->value = of->value;
	check->median = of->median;
	check->percent = 100 * of->worse;
	check->chance = of->chance;
	check->peers = of->peers;
	return 0;
}

/* Once for each group in two heaps. */
static int note_heaps(struct acceptance *to, const struct peer_value *values,
		      size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		const struct peer_value *of = &values[i];

		if (!of->others ||
		    (i && !strcmp(of->test, values[i - 1].test) &&
		     !strcmp(of->group, values[i - 1].group)))
			continue;
		if (strings_printf(&to->notes, err,
				   "%s: %zu have about %.5g, %zu about %.5g: "
				   "two groups, each judged for itself",
				   of->test, of->peers, of->median, of->others,
				   of->other_median) < 0)
			return -1;
	}
	return 0;
}

static const struct measured_row *
measured_row_find(const struct measured_row *rows, size_t count,
		  const struct measured_row *like)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(rows[i].unit, like->unit) &&
		    !strcmp(rows[i].test, like->test))
			return &rows[i];
	return NULL;
}

static int acceptance_add_failures(struct acceptance *to,
				   const struct measured *first,
				   const struct measured *second,
				   struct error *err)
{
	for (size_t i = 0; i < first->failures_count; i++) {
		const struct measured_row *of = &first->failures[i];
		bool again =
			second && measured_row_find(second->failures,
						    second->failures_count, of);
		char text[ROW_NOTE_BYTES + 80];

		snprintf(text, sizeof(text), "%s failed: %s", of->test,
			 of->text);
		if (!unit_check(to, of->unit, UNIT_NODE, of->test,
				again ? VERDICT_BAD : VERDICT_SUSPECT, text,
				err))
			return -1;
	}
	return 0;
}

/* The second measurement is of suspects only, so it has no majority of its own:
 * its losses are compared with those of the first one's majority.
 */
static int acceptance_add_losses(struct acceptance *to,
				 const struct measured *first,
				 const struct measured *second,
				 struct error *err)
{
	for (size_t i = 0; i < first->losses_count; i++) {
		const struct measured_row *of = &first->losses[i];
		const struct measured_row *again =
			second ? measured_row_find(second->losses,
						   second->losses_count, of)
			       : NULL;
		bool bad = of->differs && again;
		char text[200];

		for (size_t k = 0; bad && k < first->losses_count; k++)
			bad = strcmp(first->losses[k].text, again->text) ||
			      first->losses[k].differs;
		snprintf(text, sizeof(text),
			 "losses differ from those of %zu of %zu like it, with "
			 "one seed: it computes something else",
			 of->rows - of->same, of->rows);
		if (!unit_check(to, of->unit, UNIT_NODE, "losses",
				bad           ? VERDICT_BAD
				: of->differs ? VERDICT_SUSPECT
					      : VERDICT_GOOD,
				of->differs ? text : NULL, err))
			return -1;
	}
	return 0;
}

int acceptance_add(struct acceptance *to, struct measured *first,
		   const struct measured *second, struct error *err)
{
	to->family = PEERS_ERROR;
	for (size_t i = 0; second && i < first->values_count; i++)
		for (size_t k = 0; k < second->values_count; k++)
			if (!strcmp(first->values[i].unit,
				    second->values[k].unit) &&
			    !strcmp(first->values[i].test,
				    second->values[k].test))
				peers_confirm(&first->values[i],
					      second->values[k].value);
	for (size_t i = 0; i < first->values_count; i++)
		if (acceptance_add_value(to, &first->values[i], err) < 0)
			return -1;
	return note_heaps(to, first->values, first->values_count, err) < 0 ||
			       acceptance_add_failures(to, first, second, err) <
				       0
		       ? -1
		       : acceptance_add_losses(to, first, second, err);
}

/* "slow with n2 and 3 others". */
static void partners_words(const struct pairs *pairs,
			   const struct strings *names, uint32_t node, char *to,
			   size_t size)
{
	size_t slow = 0, all = 0;

	snprintf(to, size, "slow with ");
	for (size_t i = 0; i < pairs->count; i++) {
		const struct node_pair *pair = &pairs->list[i];

		if (pair->a != node && pair->b != node)
			continue;
		all++;
		if (pair->slow && ++slow <= 3)
			text_append(to, size, "%s%s", slow > 1 ? ", " : "",
				    names->items[pair->a == node ? pair->b
								 : pair->a]);
	}
	text_append(to, size, "%s: %zu of %zu partners", slow > 3 ? " ..." : "",
		    slow, all);
}

static int acceptance_add_links(struct acceptance *to,
				const struct pairs *pairs,
				const enum verdict *nodes,
				const struct strings *names, struct error *err)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct node_pair *pair = &pairs->list[i];
		enum verdict verdict = pairs_link(pairs, nodes, i);
		char name[200], text[300];

		if (verdict == VERDICT_GOOD)
			continue;
		snprintf(name, sizeof(name), "%s+%s", names->items[pair->a],
			 names->items[pair->b]);
		if (acceptance_find(to, name))
			continue;
		snprintf(text, sizeof(text),
			 "%.1f %% of the median of all pairs, and each of the "
			 "two is good with others",
			 100 * pair->rate);
		if (!unit_check(to, name, UNIT_LINK, "pairs", verdict, text,
				err))
			return -1;
	}
	return 0;
}

int acceptance_add_pairs(struct acceptance *to, const struct pairs *pairs,
			 const struct strings *names, struct error *err)
{
	owned_free enum verdict *nodes =
		calloc(pairs->nodes + 1, sizeof(*nodes));

	if (!nodes)
		return error_nomem(err, "validation");
	to->family = PEERS_ERROR;
	pairs_judge(pairs, nodes);
	for (uint32_t i = 0; i < pairs->nodes; i++) {
		char text[300];

		partners_words(pairs, names, i, text, sizeof(text));
		if (!unit_check(to, names->items[i], UNIT_NODE, "pairs",
				nodes[i],
				nodes[i] == VERDICT_GOOD ? NULL : text, err))
			return -1;
	}
	return acceptance_add_links(to, pairs, nodes, names, err);
}

enum verdict acceptance_of(const struct acceptance *acceptance,
			   const char *node)
{
	size_t length = strlen(node);
	enum verdict verdict = VERDICT_GOOD;

	for (size_t i = 0; i < acceptance->units_count; i++) {
		const struct accepted_unit *of = &acceptance->units[i];

		if (of->kind != UNIT_LINK && of->verdict > verdict &&
		    !strncmp(of->name, node, length) &&
		    (!of->name[length] || of->name[length] == ' '))
			verdict = of->verdict;
	}
	return verdict;
}

size_t acceptance_count(const struct acceptance *acceptance,
			enum unit_kind kind, enum verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < acceptance->units_count; i++)
		count += acceptance->units[i].kind == kind &&
			 acceptance->units[i].verdict == verdict;
	return count;
}

const char *unit_why(const struct accepted_unit *unit,
		     char text[ACCEPTANCE_WHY])
{
	text[0] = 0;
	for (size_t i = 0; i < unit->checks_count; i++)
		if (unit->checks[i].verdict != VERDICT_GOOD)
			text_append(text, ACCEPTANCE_WHY, "%s%.300s",
				    *text ? "; " : "", unit->checks[i].text);
	return text;
}
