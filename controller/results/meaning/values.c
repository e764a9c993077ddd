/* values.c - the values that a record takes from a line. */
#include "controller/results/meaning/values.h"

#include "controller/results/rules/number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXAMPLE_TEXT_MAX 24 /* bytes of a number in an example */

/* What a record takes from a line. */
/* clang-format off */
static const struct {
	const char *field;
	enum line_value value;
	enum meaning_role role;
} taken[LINE_VALUES_TAKEN] = {
	{ "loss", LINE_LOSS, ROLE_LOSS },
	{ "iteration_ms", LINE_MS, ROLE_STEP_TIME },
	{ "tokens_per_second", LINE_TOKENS, ROLE_TOKENS },
	{ "tokens_per_second_per_device", LINE_TOKENS_PER_DEVICE, ROLE_TOKENS_PER_DEVICE },
	{ "samples_per_second", LINE_SAMPLES, ROLE_SAMPLES },
	{ "samples_per_second_per_device", LINE_SAMPLES_PER_DEVICE, ROLE_SAMPLES },
	{ "memory_mib", LINE_MEMORY, ROLE_MEMORY },
	{ "lr", LINE_LR, ROLE_LR },
	{ "grad_norm", LINE_GRAD_NORM, ROLE_GRAD_NORM },
	{ "accuracy", LINE_ACCURACY, ROLE_ACCURACY },
	{ "global_batch", LINE_GLOBAL_BATCH, ROLE_GLOBAL_BATCH },
	{ "consumed_samples", LINE_CONSUMED_SAMPLES, ROLE_CONSUMED_SAMPLES },
	{ "consumed_tokens", LINE_CONSUMED_TOKENS, ROLE_CONSUMED_TOKENS },
	{ "samples_in_epoch", LINE_SAMPLES_DONE, ROLE_CONSUMED_SAMPLES },
};
/* clang-format on */
#define TAKEN LINE_VALUES_TAKEN

void line_values_init(struct line_values *values)
{
	values->share = FIELD_NONE;
	for (size_t i = 0; i < TAKEN; i++)
		values->fields[i] = FIELD_NONE;
}

void line_values_name(struct meaning_found *found, const struct line_pick *pick,
		      enum meaning_role role)
{
	char *name = found->names[role];
	size_t size = pick->name_size, skip = 0;

	if (*name)
		return;
	while (size && pick->name[skip] == ' ') {
		skip++;
		size--;
	}
	if (!size)
		size = (size_t)snprintf(name, MEANING_NAME_MAX, "(unit)");
	else
		memcpy(name, pick->name + skip, size);
	name[size] = 0;
}

/* pick: what it was printed as; NULL: it was not. */
static void put_value(struct line_values *values, uint16_t field, double number,
		      const struct line_pick *pick)
{
	struct captured *captured = &values->captured;

	captured->values[captured->count++] = (struct captured_value){
		.field = field,
		.kind = CAPTURED_NUMBER,
		.number = number,
		.text = pick ? pick->text : "",
		.size = pick ? pick->text_size : 0,
	};
}

/* Of lines that are counted, a share of the epochs tells which ones are of the
 * same step.
 */
static int put_epoch_share(struct line_values *values, struct fields *names,
			   const struct line_pick *epoch)
{
	uint16_t *field = &values->share;
	double factor;

	if (!epoch->has || !memchr(epoch->text, '.', epoch->text_size))
		return 0;
	if (*field == FIELD_NONE &&
	    fields_add(names, "epoch", strlen("epoch"), field, &factor) < 0)
		return -1;
	if (*field == FIELD_NONE)
		return 0;
	put_value(values, *field, epoch->number, epoch);
	return 0;
}

static int put_taken(struct line_values *values, struct meaning_found *found,
		     struct fields *names, const struct line_reading *line)
{
	for (size_t i = 0; i < TAKEN; i++) {
		const struct line_pick *pick = &line->picks[taken[i].value];
		uint16_t *field = &values->fields[i];
		double factor;

		if (!pick->has)
			continue;
		if (*field == FIELD_NONE &&
		    fields_add(names, taken[i].field, strlen(taken[i].field),
			       field, &factor) < 0)
			return -1;
		if (*field == FIELD_NONE)
			continue;
		put_value(values, *field, pick->number, pick);
		line_values_name(found, pick, taken[i].role);
		found->decimal |= pick->decimal;
		found->scope_open |=
			(taken[i].value == LINE_TOKENS &&
			 !line->picks[LINE_TOKENS_PER_DEVICE].has) ||
			(taken[i].value == LINE_SAMPLES &&
			 !line->picks[LINE_SAMPLES_PER_DEVICE].has);
	}
	return 0;
}

static void open_name(const struct line_pick *pick, char *name)
{
	size_t used = 0;

	for (size_t i = 0; i < pick->name_size && used < MEANING_NAME_MAX; i++)
		if (pick->name[i] > ' ' && pick->name[i] <= '~')
			name[used++] = pick->name[i];
		else if (used && name[used - 1] != '_')
			name[used++] = '_';
	while (used && name[used - 1] == '_')
		used--;
	name[used] = 0;
	/* Names of metrics are ASCII. */
	if (!used)
		snprintf(name, MEANING_NAME_MAX + 1, "%s",
			 meaning_role_name(pick->role));
}

/* Keep a number whose meaning is open under its own name. */
static int put_open_value(struct line_values *values,
			  struct meaning_found *found, struct fields *names,
			  const struct line_pick *pick)
{
	char name[MEANING_NAME_MAX + 1];
	struct meaning_open *open = found->open;
	double factor;
	int rc;

	open_name(pick, name);
	while (open < found->open + found->open_count &&
	       strcmp(open->name, name) != 0)
		open++;
	if (open == found->open + MEANING_OPEN_MAX)
		return 0;
	if (open == found->open + found->open_count) {
		rc = fields_add(names, name, strlen(name), &open->field,
				&factor);
		if (rc < 1 || open->field < RECORD_FIELDS)
			return rc < 0 ? -1 : 0;
		memcpy(open->name, name, sizeof(name));
		open->role = pick->role;
		open->unit_s = pick->unit_s;
		found->open_count++;
	}
	put_value(values, open->field, pick->number, pick);
	return 0;
}

static int example_add(struct strings *example, const char *name,
		       const struct line_pick *pick)
{
	char value[LINE_NAME_MAX + EXAMPLE_TEXT_MAX + 2];

	if (!pick->has || pick->text_size > EXAMPLE_TEXT_MAX)
		return 0;
	snprintf(value, sizeof(value), "%s=%.*s", name, (int)pick->text_size,
		 pick->text);
	return strings_add(example, value, NULL);
}

/* The name of what was taken, in the unit in which it is printed; NULL: it has
 * none.
 */
static const char *example_name(size_t i, const struct line_pick *pick)
{
	double printed = NAN;

	number_read(pick->text, pick->text_size, &printed);
	if (pick->number == printed)
		return taken[i].field;
	if (taken[i].value == LINE_MS && pick->number == printed * 1000)
		return "iteration_s";
	if (taken[i].value == LINE_MEMORY && pick->number == printed * 1024)
		return "memory_gib";
	return NULL;
}

/* Keep the values of a line that has more of them than those before; they stand
 * in it.
 */
static int keep_example(struct line_values *values, struct strings *example,
			const struct line_reading *line,
			const struct line_pick *step)
{
	if (values->captured.count <= values->example_count || !step->text_size)
		return 0;
	values->example_count = values->captured.count;
	strings_clear(example);
	if (example_add(example, "step", step) < 0)
		return -1;
	for (size_t i = 0; i < TAKEN; i++) {
		const struct line_pick *pick = &line->picks[taken[i].value];
		const char *name = pick->has ? example_name(i, pick) : NULL;

		if (name && example_add(example, name, pick) < 0)
			return -1;
	}
	return 0;
}

int line_values_put(struct line_values *values, struct meaning_found *found,
		    struct fields *names, const struct line_reading *line,
		    enum meaning_steps steps, uint64_t step, bool example)
{
	const struct line_pick *own = line->picks[LINE_STEP].has
					      ? &line->picks[LINE_STEP]
					      : &line->picks[LINE_BATCH];

	values->captured.count = 0;
	if (steps != STEPS_COUNTED)
		put_value(values, RECORD_STEP, (double)step,
			  steps == STEPS_EPOCHS ? &line->picks[LINE_EPOCH]
			  : own->has            ? own
						: NULL);
	if (steps == STEPS_NAMED && own->has) {
		found->nameless |= line->nameless;
		if (isfinite(own->total) && !found->epochs.begun)
			put_value(values, RECORD_STEPS, own->total, NULL);
		line_values_name(found, own, ROLE_STEP);
	}
	if (line->rank >= 0)
		put_value(values, RECORD_RANK, (double)line->rank, NULL);
	if (line->picks[LINE_EPOCH].has)
		line_values_name(found, &line->picks[LINE_EPOCH], ROLE_EPOCH);
	if (steps == STEPS_COUNTED &&
	    put_epoch_share(values, names, &line->picks[LINE_EPOCH]) < 0)
		return -1;
	found->data_time |= line->picks[LINE_DATA_TIME].has;
	if (put_taken(values, found, names, line) < 0 ||
	    (steps == STEPS_NAMED && example &&
	     keep_example(values, &found->example, line, own) < 0))
		return -1;
	for (int i = LINE_OPEN_STEP_TIME; i <= LINE_OPEN_RATE; i++)
		if (line->picks[i].has &&
		    put_open_value(values, found, names, &line->picks[i]) < 0)
			return -1;
	return 0;
}
