/* race_key.c - reads `race` of a cell.
 */
#include "controller/cell/race_key.h"

#include <string.h>

#define PER_MAX 16
#define NAME_MAX_BYTES 64
#define BUDGET_MAX_MS (UINT64_C(1000000) * 3600 * 1000)

static const char *const race_keys[] = { "steps", "margin", "tie", "confidence",
					 "max",   "budget", "per", "figure",
					 "order", NULL };
static const char *const orders[] = { "most", "least", NULL };
static const char *const per_default[] = { "vendor", "chip", "model" };

static int read_share(const struct value *race, const char *name, double most,
		      double *to, struct error *err)
{
	const struct value *value = value_get(race, name);

	if (!value)
		return 0;
	if (value_share(value, to, err) < 0)
		return -1;
	return *to <= most ? 0
			   : value_error(value, err,
					 "more than %g %%, which is the limit",
					 most * 100);
}

static int read_confidence(const struct value *race, struct race_spec *to,
			   struct error *err)
{
	const struct value *value = value_get(race, "confidence");

	if (read_share(race, "confidence", 0.999, &to->confidence, err) < 0)
		return -1;
	return to->confidence >= 0.5 ? 0
				     : value_error(value, err,
						   "less than 50 %%, which is "
						   "the limit");
}

static int race_key_read_count(const struct value *race, const char *name,
			       uint32_t min, uint32_t max, uint32_t *to,
			       struct error *err)
{
	const struct value *value = value_get(race, name);

	return value ? value_u32(value, min, max, to, err) : 0;
}

static int read_budget(const struct value *race, struct race_spec *to,
		       struct error *err)
{
	const struct value *value = value_get(race, "budget");
	uint64_t ms = 0;

	if (value &&
	    value_duration_ms(value, 1000, BUDGET_MAX_MS, &ms, err) < 0)
		return -1;
	to->budget_s = (double)ms / 1000;
	return 0;
}

static int race_key_read_figure(const struct value *race, struct race_spec *to,
				struct error *err)
{
	const struct value *figure = value_get(race, "figure");
	const struct value *order = value_get(race, "order");
	size_t number = 0, least = 0;

	if ((figure && value_enum(figure, race_figures, &number, err) < 0) ||
	    (order && value_enum(order, orders, &least, err) < 0))
		return -1;
	to->figure = (uint32_t)number;
	to->least = least;
	return 0;
}

static int read_per(const struct value *race, struct race_spec *to,
		    struct error *err)
{
	const struct value *list = value_get(race, "per");
	const char *name;

	for (size_t i = 0; !list && i < sizeof(per_default) / sizeof(char *);
	     i++)
		if (strings_add(&to->per, per_default[i], err) < 0)
			return -1;
	if (!list)
		return 0;
	if (value_expect(list, VALUE_LIST, err) < 0)
		return -1;
	if (value_count(list) > PER_MAX)
		return value_error(list, err, "%zu keys; expected at most %d",
				   value_count(list), PER_MAX);
	for (size_t i = 0; i < value_count(list); i++)
		if (value_string(value_at(list, i), NAME_MAX_BYTES, &name,
				 err) < 0 ||
		    strings_add(&to->per, name, err) < 0)
			return -1;
	return 0;
}

int race_key_read(const struct value *race, bool rung, struct cell *cell,
		  struct error *err)
{
	struct race_spec *to = &cell->spec.race;

	if (race && (value_expect(race, VALUE_MAP, err) < 0 ||
		     value_check_keys(race, race_keys, err) < 0))
		return -1;
	if ((!race && !rung) || cell->spec.follows)
		return 0;
	*to = (struct race_spec){ .heat = true,
				  .fit = rung,
				  .own = !race,
				  .steps = 10,
				  .margin = 0.05,
				  .tie = 0.01,
				  .confidence = 0.95,
				  .max = 5,
				  .repeat = cell->repeats,
				  .until = cell->spec.until };
	cell->repeats = 1;
	cell->spec.until = (struct until_spec){ 0 };
	if (race_key_read_count(race, "steps", 3, 100000, &to->steps, err) <
		    0 ||
	    read_share(race, "margin", 0.5, &to->margin, err) < 0 ||
	    read_share(race, "tie", 0.5, &to->tie, err) < 0 ||
	    read_confidence(race, to, err) < 0 ||
	    race_key_read_count(race, "max", 2, 1000, &to->max, err) < 0 ||
	    read_budget(race, to, err) < 0 ||
	    race_key_read_figure(race, to, err) < 0)
		return -1;
	if (to->tie > to->margin)
		return value_error(race, err,
				   "tie is larger than margin (%g %%)",
				   to->margin * 100);
	return read_per(race, to, err);
}

static double at_least(uint32_t degree)
{
	return degree ? degree : 1;
}

double race_key_order(const struct cell *cell)
{
	const struct parallel_layout *shape = &cell->shape;
	const char *recompute = cell->spec.measure.recompute;
	double kept = 1;

	if (recompute && !strcmp(recompute, "selective"))
		kept = 0.5;
	else if (recompute && !strcmp(recompute, "full"))
		kept = 0.1;
	return kept * at_least(shape->micro) * at_least(shape->sequence) /
	       (at_least(shape->tp) * at_least(shape->pp) *
		at_least(shape->sp));
}
