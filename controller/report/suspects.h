/* suspects.h - groups suspect results by cause.
 *
 * Sentences that differ only in their numbers are one cause. The cause shows
 * "..." for each number that differs between its results.
 */
#ifndef CONTROLLER_REPORT_SUSPECTS_H
#define CONTROLLER_REPORT_SUSPECTS_H

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <cjson/cJSON.h>
#include <stddef.h>

struct suspect_row {
	const cJSON *row; /* borrowed from the rows */
	const char *text; /* its own sentence; borrowed */
};

struct suspect {
	char *text; /* the common sentence */
	struct suspect_row *rows;
	size_t count;
};

struct suspects {
	struct suspect *items; /* in the order of their first rows */
	size_t count;
	struct suspect_row *rows; /* of all of them */
};

/* Find the causes in these rows (report.h), which must outlive *suspects.
 * ENOMEM.
 */
int suspects_find(const cJSON *rows, struct suspects *suspects,
		  struct error *err);
void suspects_clear(struct suspects *suspects);
OWNED_VALUE(struct suspects, suspects_clear)

/* "job 3", or "3 jobs (1, 4, 7)"; at most 12 are named. Returns text. */
#define SUSPECT_JOBS_SIZE 320
const char *suspect_jobs(const struct suspect *suspect,
			 char text[SUSPECT_JOBS_SIZE]);

#endif
