/* sweep_jobs.c - the jobs of a sweep's cells with their specs, and the dropped
 * cells with the reasons.
 */
#include "controller/sweep/sweep_internal.h"
#include "controller/sweep/cell_label.h"

#include <errno.h>

size_t sweep_cell_job(const struct sweep *sweep, size_t cell, uint32_t *repeats)
{
	const struct kept *kept = &sweep->kept[cell];

	if (repeats)
		*repeats = kept[1].job - kept[0].job;
	return kept->job;
}

size_t sweep_kinds(const struct sweep *sweep)
{
	return sweep->kind_count;
}

const struct sweep_kind *sweep_cell_kind(const struct sweep *sweep, size_t cell)
{
	return &sweep->kinds[sweep->kept[cell].kind];
}

int sweep_cell_key(struct sweep *sweep, size_t cell, char key[65],
		   struct error *err)
{
	owned(cell_clear) struct cell built = { 0 };

	if (sweep_set_values(sweep, sweep->kept[cell].cell, err) < 0 ||
	    cell_build(&sweep->cells, sweep->values, 0, &built, err) < 0)
		return -1;
	snprintf(key, 65, "%s", built.spec.key);
	return 0;
}

/* The kept cell that the job belongs to. */
static const struct kept *job_cell(const struct sweep *sweep, size_t job)
{
	size_t low = 0, high = sweep->totals.kept;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (sweep->kept[middle].job <= job)
			low = middle;
		else
			high = middle;
	}
	return &sweep->kept[low];
}

/* The job that this repeat follows: the same repeat, or the last one. */
static uint32_t job_before(const struct sweep *sweep,
			   const struct cell_order *order, uint32_t repeat)
{
	const struct kept *kept = cell_order_kept(sweep, order->before);
	uint32_t repeats = kept[1].job - kept[0].job;

	return kept->job + (repeat < repeats ? repeat : repeats - 1);
}

/* Set the jobs that this one follows. */
static int put_after(const struct sweep *sweep, uint32_t cell,
		     struct job_spec *spec, struct error *err)
{
	size_t count;
	const struct cell_order *orders = cell_order_of(sweep, cell, &count);

	if (!count)
		return 0;
	spec->after = calloc(count, sizeof(*spec->after));
	if (!spec->after)
		return sweep_nomem(sweep, err);
	for (size_t i = 0; i < count; i++)
		spec->after[spec->after_count++].job =
			job_before(sweep, &orders[i], spec->repeat);
	return 0;
}

int sweep_after(struct sweep *sweep, size_t cell, uint32_t repeat,
		uint32_t *jobs, bool *same_nodes, struct error *err)
{
	size_t count;
	const struct cell_order *orders =
		cell_order_of(sweep, sweep->kept[cell].cell, &count);
	const struct value *same;

	if (!count)
		return 0;
	if (sweep_set_values(sweep, sweep->kept[cell].cell, err) < 0)
		return -1;
	*same_nodes = true;
	same = sweep->values[KEY_SAME_NODES];
	if (same && value_bool(same, same_nodes, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		jobs[i] = job_before(sweep, &orders[i], repeat);
	return (int)count;
}

int sweep_job(struct sweep *sweep, size_t job, struct job_spec *spec,
	      struct error *err)
{
	owned(cell_clear) struct cell cell = { 0 };
	const struct kept *kept;

	if (job >= sweep->totals.jobs)
		return error_set(err, EINVAL, "no job %zu; %zu exist", job,
				 sweep->totals.jobs);
	kept = job_cell(sweep, job);
	if (sweep_set_values(sweep, kept->cell, err) < 0 ||
	    cell_build(&sweep->cells, sweep->values,
		       (uint32_t)(job - kept->job), &cell, err) < 0 ||
	    cell_label_set(&sweep->cells, sweep->values, &cell, err) < 0)
		return -1;
	if (put_after(sweep, kept->cell, &cell.spec, err) < 0)
		return -1;
	if (sweep->about &&
	    !(cell.spec.about = cJSON_Duplicate(sweep->about, true)))
		return sweep_nomem(sweep, err);
	*spec = cell.spec;
	cell.spec = (struct job_spec){ 0 };
	return 0;
}

/* Build and label a cell, also an impossible one. */
static int sweep_cell_describe(struct sweep *sweep, size_t number,
			       struct cell *cell, struct error *err)
{
	struct error why = { 0 };

	if (sweep_set_values(sweep, number, err) < 0)
		return -1;
	/* An excluded cell may be invalid. */
	if (cell_build(&sweep->cells, sweep->values, 0, cell, &why) < 0) {
		if (why.code == ENOMEM)
			return sweep_nomem(sweep, err);
		*cell = (struct cell){ 0 };
	}
	return cell_label_set(&sweep->cells, sweep->values, cell, err);
}

int sweep_drop(struct sweep *sweep, size_t drop, char *cell, size_t cell_size,
	       char *reason, size_t reason_size, struct error *err)
{
	owned(cell_clear) struct cell dropped = { 0 };
	owned(cell_clear) struct cell other = { 0 };
	const struct drop *what;

	if (drop >= sweep->totals.dropped)
		return error_set(err, EINVAL, "no dropped cell %zu; %zu exist",
				 drop, sweep->totals.dropped);
	what = &sweep->drops[drop];
	if (what->why == WHY_TWIN &&
	    sweep_cell_describe(sweep, what->other, &other, err) < 0)
		return -1;
	if (sweep_cell_describe(sweep, what->cell, &dropped, err) < 0)
		return -1;
	snprintf(cell, cell_size, "%s", dropped.spec.cell);
	switch (what->why) {
	case WHY_NOT:
		break;
	case WHY_SHAPE:
		snprintf(reason, reason_size, "%s", dropped.reason);
		break;
	case WHY_EXCLUDED:
		snprintf(reason, reason_size, "excluded on line %u",
			 value_line(sweep->exclude_values[what->other]));
		break;
	case WHY_TWIN:
		snprintf(reason, reason_size, "equal to %s", other.spec.cell);
		break;
	case WHY_CASE:
		snprintf(reason, reason_size, "%s",
			 sweep_case_reason(sweep, what->cell));
		break;
	case WHY_AFTER:
		snprintf(reason, reason_size,
			 "%s, on which it depends, is dropped",
			 dropped.spec.follows ? dropped.spec.follows : "");
		break;
	}
	return 0;
}

int sweep_cell_spec(struct sweep *sweep, size_t cell, struct job_spec *spec,
		    struct error *err)
{
	uint32_t repeats;

	return sweep_job(sweep, sweep_cell_job(sweep, cell, &repeats), spec,
			 err);
}

void job_spec_clear(struct job_spec *spec)
{
	codec_clear(&job_spec_schema, spec);
}
