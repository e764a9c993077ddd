/* rows.h - prints lists of the controller as a table or as JSON.
 */
#ifndef CONTROLLER_CLI_COMMANDS_ROWS_H
#define CONTROLLER_CLI_COMMANDS_ROWS_H

#include "controller/cli/cli.h"
#include "controller/cli/render.h"

struct rows_view {
	const char *name; /* of the list: {"NAME": [...]}; NULL: [...] */
	const struct column *columns;
	/* Add the cells of one row. */
	void (*row)(struct table *table, const void *row, int64_t now_ms);
	const char *none; /* the message if there are no rows, or NULL */
	/* Of cli_print_table(). */
	const char *const *droppable;
};

/* Print rows. now_ms: the controller's clock. Returns an exit code. */
int rows_show(struct cli *cli, const struct rows_view *view, int64_t now_ms,
	      const struct rows *rows, struct error *err);

/* Connect, fetch the rows by client_rows(), and print them. */
int rows_list(struct cli *cli, const struct rows_view *view,
	      enum query_kind what, const char *id, struct error *err);

/* The rows as an array of objects; the caller deletes it. */
cJSON *rows_json(const struct rows *rows, struct error *err);

#endif
