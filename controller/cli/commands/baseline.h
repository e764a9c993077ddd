/* baseline.h - reads what --baseline names: a cell or a file.
 */
#ifndef CONTROLLER_CLI_COMMANDS_BASELINE_H
#define CONTROLLER_CLI_COMMANDS_BASELINE_H

#include "controller/report/about.h"
#include "controller/report/row.h"

struct baseline {
	struct report_rows rows; /* of a sweep or a file */
	char name[120];
};
void baseline_clear(struct baseline *baseline);
OWNED_VALUE(struct baseline, baseline_clear)

/* Set the baseline of *about, which then borrows *baseline and `text`: the JSON
 * of a report, or a folder of `regatta run` with one; else the words of a cell.
 * EPROTO: a file has no rows.
 */
int baseline_read(struct baseline *baseline, const char *text,
		  struct report_about *about, struct error *err);

/* The rows of the JSON of a report (report.h); path is for errors. EPROTO: it
 * has none, or they are not valid. The caller clears *rows, also then.
 */
int baseline_parse(const char *json, size_t size, const char *path,
		   struct report_rows *rows, struct error *err);

#endif
