/* suspects.h - groups suspect results by cause.
 *
 * Remarks whose sentences differ only in their numbers are one cause. Of a
 * number that differs between its results, the cause shows the smallest and the
 * largest: "the 3 repeats differ by 5.2 to 18.1 %".
 */
#pragma once

#include "controller/report/row.h"
#include "controller/results/language.h"

struct suspect {
	enum language language;
	char *text;                     /* the common sentence */
	const struct report_row **rows; /* borrowed from the rows, */
	const struct remark **remarks;  /* and the remark of each */
	size_t count;
};

struct suspects {
	struct suspect *items; /* in the order of their first rows */
	size_t count;
	const struct report_row **rows; /* of all of them */
	const struct remark **remarks;
};

/* Find the causes in these rows, which must outlive *suspects. ENOMEM. */
int suspects_find(const struct report_rows *rows, enum language language,
		  struct suspects *suspects, struct error *err);
void suspects_clear(struct suspects *suspects);
OWNED_VALUE(struct suspects, suspects_clear)

/* "job 3", or "3 jobs (1, 4, 7)"; at most 12 are named. Returns text. */
#define SUSPECT_JOBS_SIZE 320
const char *suspect_jobs(const struct suspect *suspect,
			 char text[SUSPECT_JOBS_SIZE]);
