/* differences.h - what two jobs differ in: settings, command, environment,
 * image, driver and all else that their specs and the provenance of their
 * results tell.
 */
#pragma once

#include "controller/report/table.h"
#include "protocol/message/reply_jobs.h"

struct differences {
	struct column columns[4]; /* what, and each job */
	char titles[2][32];
	struct table table; /* of these columns; the first row has the rates */
};
void differences_clear(struct differences *differences);
OWNED_VALUE(struct differences, differences_clear)

/* jobs as in the reply `job`; their packages: texts
 * (protocol/blob/packages.h) of any origin, "": not known. ENOMEM.
 */
int differences_find(const struct job_info *one, const struct job_info *other,
		     const char *const packages[2],
		     struct differences *differences, struct error *err);
