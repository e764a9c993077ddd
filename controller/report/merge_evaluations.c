/* merge_evaluations.c - merges the rows of evaluations into the rows of the
 * evaluated cells.
 */
#include "controller/report/merge_evaluations.h"

#include "controller/report/labels.h"

#include <math.h>
#include <string.h>

static bool is_evaluation(const struct report_row *row)
{
	return row->info.follows && row_completed(row) && row->info.result &&
	       row->info.result->metrics_count &&
	       row_rate(row).unit != RATE_TOKENS;
}

/* The row before it that it evaluates; NULL: none. */
static struct report_row *evaluated(struct report_rows *rows,
				    const struct report_row *evaluation)
{
	struct report_row *found = NULL;

	for (size_t i = 0; i < rows->count; i++) {
		struct report_row *row = &rows->items[i];

		if (!row->info.cell || !row_completed(row) ||
		    !labels_hold(row->info.cell, evaluation->info.follows) ||
		    (found && found->info.repeat == evaluation->info.repeat))
			continue;
		found = row;
	}
	return found && found->info.result ? found : NULL;
}

static int merge_names(struct strings *to, const struct strings *from,
		       struct error *err)
{
	for (size_t i = 0; i < from->count; i++)
		if (strings_add(to, from->items[i], err) < 0)
			return -1;
	return 0;
}

/* Take over the metrics that the result does not have. */
static int merge_metrics(struct report_row *row, struct result *from,
			 struct error *err)
{
	struct result *to = row->info.result;
	struct named_number *all =
		realloc(to->metrics, (to->metrics_count + from->metrics_count) *
					     sizeof(*all));

	if (!all)
		return error_nomem(err, "report");
	to->metrics = all;
	for (size_t i = 0; i < from->metrics_count; i++)
		if (isnan(row_metric(row, from->metrics[i].name))) {
			all[to->metrics_count++] = from->metrics[i];
			from->metrics[i].name = NULL;
		}
	if (merge_names(&to->metric_columns, &from->metric_columns, err) < 0)
		return -1;
	return merge_names(&to->metric_percents, &from->metric_percents, err);
}

/* The copy of a row is merged into an earlier one, or becomes the last. */
static int merge_row(struct report_rows *merged, const struct report_row *row,
		     struct error *err)
{
	struct report_row *last = &merged->items[merged->count];
	struct report_row *of =
		is_evaluation(row) ? evaluated(merged, row) : NULL;
	int rc = 0;

	if (codec_copy(&report_row_schema, row, last, err) < 0)
		return -1;
	if (of) {
		rc = merge_metrics(of, last->info.result, err);
		codec_clear(&report_row_schema, last);
	} else {
		merged->count++;
	}
	return rc;
}

int rows_merge_evaluations(const struct report_rows *rows,
			   struct report_rows *merged, struct error *err)
{
	merged->items = calloc(rows->count + 1, sizeof(*merged->items));
	if (!merged->items)
		return error_nomem(err, "report");
	ROWS_EACH(row, rows)
	{
		if (merge_row(merged, row, err) < 0)
			return -1;
	}
	return 0;
}
