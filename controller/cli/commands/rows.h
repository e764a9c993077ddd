/* rows.h - what the controller lists: a table for people, or JSON.
 */
#ifndef CONTROLLER_CLI_COMMANDS_ROWS_H
#define CONTROLLER_CLI_COMMANDS_ROWS_H

#include "controller/cli/cli.h"
#include "controller/cli/render.h"

struct rows_view {
	const char *name; /* of the list: {"NAME": [...]} */
	const struct column *columns;
	/* Add the cells of one row. */
	void (*row)(struct table *table, const void *row, int64_t now_ms);
	const char *none; /* said where there are no rows */
};

/* Show rows; now_ms: the controller's clock. Returns an exit code. */
int rows_show(struct cli *cli, const struct rows_view *view, int64_t now_ms,
	      const struct rows *rows, struct error *err);

/* Ask for them as client_rows() does, in a session, and show them. */
int rows_list(struct cli *cli, const struct rows_view *view,
	      enum query_kind what, const char *id, struct error *err);

/* An array of objects, which the caller deletes. */
cJSON *rows_json(const struct rows *rows, struct error *err);

#endif
