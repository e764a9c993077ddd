/* recompute_results.h - computes results again from the stored logs.
 */
#pragma once

#include "controller/catalog/catalog.h"
#include "controller/cli/cli.h"
#include "controller/cli/commands/streams.h"
#include "controller/report/row.h"
#include "controller/results/result.h"

struct recompute_results_rules;
struct recompute_results_own;

/* State for several rows. The caller sets the first members, and zeroes the
 * others. The rules of each framework are compiled once.
 */
struct recompute_results {
	struct catalog *catalog; /* owned */
	struct client *client;   /* borrowed; NULL: logs are files */
	const char *framework;   /* borrowed; NULL: that of each row */
	const char *log;    /* borrowed: a file, or "-"; NULL: use the client */
	const char *folder; /* borrowed: with the logs of bundle_read(), instead
			       of the client; or NULL */
	struct recompute_results_rules *rules;
	size_t rules_count;
	struct recompute_results_own
		*own; /* catalogs that jobs had of their own */
	size_t own_count;
};

void recompute_results_clear(struct recompute_results *reread);
OWNED_VALUE(struct recompute_results, recompute_results_clear)

/* Compute the result of a row with the present rules and formulas; the caller
 * clears *to. `rules` gets the hash of the rules. ENOENT: the log was deleted;
 * EINVAL: the log's format is unknown; errors of the client.
 */
int recompute_results_result(struct recompute_results *reread,
			     const struct result_info *row, char rules[65],
			     struct result *to, struct error *err);

/* Recompute the results of all rows that have one, and print each field that
 * changed, and why. Rows whose log was deleted keep their result, with a
 * message.
 */
int recompute_results_rows(struct recompute_results *reread, struct cli *cli,
			   struct report_rows *rows, struct error *err);
