/* results.h - fetches the result rows of a sweep and prints them.
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/report/report.h"

#define RESULTS_MAX 268435456 /* bytes of a table */

/* Fetch the rows, with their alignment if the sweep names a baseline, and with
 * `curves` also their series. The caller clears them.
 */
int results_fetch(struct client *client, uint64_t sweep, bool curves,
		  struct report_rows *rows, struct error *err);

/* Query the rows of a job's sweep (QUERY_RESULTS, QUERY_SERIES) from this job
 * on, at most one.
 */
int results_of_job(struct client *client, enum query_kind what, uint64_t job,
		   struct answer *answer, struct error *err);

/* The facts of a sweep, for a report. */
struct results_about {
	struct report_about about; /* its texts belong to the answers */
	struct answer sweep, text;
	char title[120];
};

/* Fetch the facts of the sweep; with `file` also the text of the sweep file,
 * which viewers may not read.
 */
int results_about_read(struct results_about *about, struct client *client,
		       uint64_t sweep, bool file, struct error *err);
void results_about_clear(struct results_about *about);
OWNED_VALUE(struct results_about, results_about_clear)

/* Add to each failed row the last lines (its tail) of the stream that
 * its reason names, else of its first rank. Missing logs are skipped.
 */
int results_add_tails(struct client *client, struct report_rows *rows,
		      struct error *err);

/* The form of the report. Texts are borrowed; NULL: the default. */
struct gate;

struct results_form {
	const char *format;   /* "markdown" (default), "csv", "json", "html" */
	bool reference;       /* the page of controller/report/reference.h */
	const char *language; /* of a page: "en" (default), "zh" */
	const struct report_about *about; /* NULL: nothing is known */
	/* Of results_print(): */
	bool recompute;          /* from the stored logs */
	bool runs;               /* show single runs */
	const struct gate *gate; /* gate.h; NULL: only that of the sweep */
};

/* Append the report to *out. */
int results_format(const struct report_rows *rows,
		   const struct results_form *form, struct buffer *out,
		   struct error *err);

/* Print rows for a terminal, in its width; if that is unknown, 80 columns. The
 * words that all rows share are printed once, above the table; cells are named
 * by the keys in which the rows differ. Columns that do not fit are left out,
 * the least important first, and named below the table.
 */
int results_table(struct cli *cli, const struct report_about *about,
		  const struct report_rows *rows, struct error *err);

/* Print rows: without a format, a terminal gets results_table(). */
int results_show(struct cli *cli, const struct report_rows *rows,
		 const struct results_form *form, struct error *err);

/* Print the rows, and judge them. client: of the logs; NULL: there is
 * none. 1: a requirement is not met.
 */
int results_print(struct cli *cli, struct client *client,
		  struct report_about *about, struct report_rows *rows,
		  const struct results_form *form, struct error *err);
