/* results_table.h - the results of a sweep as a terminal shows them.
 *
 * Above the table stands once what all rows have in common; a cell is named by
 * the keys in which the rows differ. Columns that do not fit are left out, the
 * least important first, and named below.
 */
#ifndef CONTROLLER_CLI_COMMANDS_RESULTS_TABLE_H
#define CONTROLLER_CLI_COMMANDS_RESULTS_TABLE_H

#include "controller/cli/cli.h"

/* Print rows (controller/report/report.h) to cli->out, as wide as that
 * terminal; 80 columns where it does not say.
 */
int results_table(struct cli *cli, const cJSON *rows, struct error *err);

#endif
