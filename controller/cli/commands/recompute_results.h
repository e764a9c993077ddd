/* recompute_results.h - results again, from the logs that they were read from.
 */
#ifndef CONTROLLER_CLI_COMMANDS_RECOMPUTE_RESULTS_H
#define CONTROLLER_CLI_COMMANDS_RECOMPUTE_RESULTS_H

#include "controller/catalog/catalog.h"
#include "controller/cli/cli.h"
#include "controller/cli/commands/streams.h"
#include "controller/results/extract.h"

struct recompute_results_rules;
struct recompute_results_own;

/* What rows are read again with; each framework's rules are compiled once. */
struct recompute_results {
	struct catalog *catalog;
	struct client *client; /* borrowed; NULL: logs are files */
	const char *framework; /* borrowed; NULL: as each row says */
	const char *log;       /* borrowed: a file, or "-"; NULL: ask the
				  client */
	struct recompute_results_rules *rules;
	size_t rules_count;
	struct recompute_results_own *own; /* of jobs that brought some */
	size_t own_count;
};

/* Loads the catalog; the caller sets the borrowed members. */
int recompute_results_init(struct recompute_results *reread, struct cli *cli,
			   struct error *err);
void recompute_results_clear(struct recompute_results *reread);
OWNED_VALUE(struct recompute_results, recompute_results_clear)

/* The row's result (controller/report/report.h) by today's rules and figures,
 * which the caller deletes. rules gets their hash. ENOENT: the log is gone;
 * EINVAL: nothing says how it is read; what stops the client.
 */
cJSON *recompute_results_result(struct recompute_results *reread,
				const cJSON *row, char rules[65],
				struct error *err);

/* Replace the results of all rows that have one by such ones, and tell each
 * field that differs, and why; those whose log is gone stay, which is told.
 */
int recompute_results_rows(struct recompute_results *reread, struct cli *cli,
			   cJSON *rows, struct error *err);

#endif
