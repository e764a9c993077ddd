/* row.h - a row of a report: the result of a job, and what its neighbours tell
 * about it.
 *
 * `info` is the row as the controller sends it (protocol/message/reply_jobs.h).
 * The other members are filled where the rows are read; a schema writes all of
 * them, those of `info` first.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"
#include "protocol/message/rate.h"
#include "protocol/message/reply_jobs.h"

#include <stdint.h>

/* How a cell's rate compares with that of another cell. */
enum relation {
	RELATION_NONE,
	RELATION_BEST,     /* it is the best one */
	RELATION_BASELINE, /* it is the baseline */
	RELATION_SAME,     /* within the interval */
	RELATION_SLOWER,
	RELATION_FASTER,
	RELATIONS
};
extern const char *const relation_names[RELATIONS + 1];

/* The completed repeats of a cell (anomalies.h). */
struct repeats_info {
	uint64_t n;                     /* that have a rate */
	double mean, stdev, cv_percent; /* of their rates */
	double margin; /* half the width of the mean's 95 % interval; NAN */
	double min, max;
	/* Only in the row of a cell (cells.h): */
	uint64_t runs, completed, failed;
	double relative; /* the faster rate over the slower one; NAN: none */
	double relative_margin; /* half its 95 % interval; NAN: not known */
	uint32_t relation;
};

/* The losses of a row against its baseline (compare.h). */
struct alignment_info {
	char *verdict; /* "True", "False" or "baseline" */
	uint64_t steps;
	double mean_percent, largest_percent; /* NAN: no step is common */
	uint64_t at_step;
	double tolerance_percent;
	char *baseline; /* "job 17" */
};

struct report_row {
	struct result_info info;
	struct alignment_info *alignment; /* NULL: the sweep has no baseline */
	struct repeats_info *repeats;     /* NULL: fewer than two */
	struct remark *anomalies;
	size_t anomalies_count;
	cJSON *series; /* curves, for a page (report.h) */
	char *tail;    /* the last lines of a failed job's log, for a page */
};
extern const struct schema report_row_schema;

struct report_rows {
	struct report_row *items;
	size_t count;
};
void report_rows_clear(struct report_rows *rows);
OWNED_VALUE(struct report_rows, report_rows_clear)

/* Make rows of what the controller sent, whose contents are taken; on failure
 * (ENOMEM) they are not.
 */
int report_rows_make(struct report_rows *rows, struct result_info *infos,
		     size_t count, struct error *err);

/* A loop over rows: ROWS_EACH(row, rows) uses(row); */
#define ROWS_EACH(row, rows)                                                   \
	for (const struct report_row *row = (rows)->items;                     \
	     row != (rows)->items + (rows)->count; row++)

/* A row in a list that rows_group() puts in order. */
struct grouped_row {
	const char *key; /* rows with the same key are a group */
	double order;    /* in the group */
	const struct report_row *row;
	const struct remark *remark; /* for the caller */
	size_t index, first; /* places in the list before: its own, and that
				of the first row of the group */
};

/* Put the rows of each group together, sorted by their order. Groups stand in
 * the order of their first rows.
 */
void rows_group(struct grouped_row *rows, size_t count);

/* Move the repeats of each cell behind its first row, sorted by number. (Later
 * repeats are at the end of the list.) ENOMEM.
 */
int rows_gather(struct report_rows *rows, struct error *err);

bool row_completed(const struct report_row *row);

/* Is it the heat of a race? It is no repeat of its cell, and has no flags. */
bool row_heat(const struct report_row *row);

/* The rate of a completed row; others have none. Of a cell the mean. */
struct rate row_rate(const struct report_row *row);

/* The unit of all rates of these rows; RATE_NONE: there are none, or they
 * differ.
 */
enum rate_unit rows_unit(const struct report_rows *rows);

/* The model FLOPs utilisation, a fraction; NAN: none. */
double row_mfu(const struct report_row *row);

/* The name of its cell; "": none. */
const char *row_cell(const struct report_row *row);

/* The failure class, if it says more than the state; NULL: none. */
const char *row_failure(const struct report_row *row);

/* Did the job end without a result? */
bool row_failed(const struct report_row *row);

/* Why the row has no result: class and sentence. NULL: it has one, or has not
 * ended.
 */
#define ROW_NOTE_BYTES 512
const char *row_reason(const struct report_row *row,
		       char words[ROW_NOTE_BYTES]);

/* Do tables show this metric of the row by default? */
bool row_shows(const struct report_row *row, const char *metric);

/* The metric of that name; NAN: the row has none. */
double row_metric(const struct report_row *row, const char *metric);

/* Why a completed row is suspect: the flags of its result, then its anomalies,
 * by index. NULL past the last.
 */
const struct remark *row_flag(const struct report_row *row, size_t flag);

/* "from job 3 of sweep 1" for a row that was reused; NULL: it was not. */
const char *row_origin(const struct report_row *row,
		       char words[ROW_NOTE_BYTES]);

/* What only the author of the sweep knows (reference.h); NULL: not told. */
const char *row_about(const struct report_row *row, const char *name);
