/* results_table.h - prints the results of a sweep on a terminal.
 *
 * The words that all rows share are printed once, above the table; cells are
 * named by the keys in which the rows differ. Columns that do not fit are left
 * out, the least important first, and named below the table.
 */
#ifndef CONTROLLER_CLI_COMMANDS_RESULTS_TABLE_H
#define CONTROLLER_CLI_COMMANDS_RESULTS_TABLE_H

#include "controller/cli/cli.h"

/* Print rows (controller/report/report.h) to cli->out, in the width of the
 * terminal; if it is unknown, 80 columns.
 */
int results_table(struct cli *cli, const cJSON *rows, struct error *err);

#endif
