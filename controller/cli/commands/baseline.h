/* baseline.h - reads what --baseline names.
 */
#pragma once

#include "controller/cli/commands/sweep_source.h"

/* Set the baseline of *about, which then borrows *source and `text`: a cell of
 * these runs that has these words, the JSON of a report, or what
 * sweep_source_read() takes. EINVAL: several cells have them; ENOENT: it has no
 * cell of these runs; EPROTO: a file has no rows. The caller clears *source.
 */
int baseline_read(struct sweep_source *source, struct cli *cli,
		  const char *text, const struct report_rows *runs,
		  struct report_about *about, struct error *err);
