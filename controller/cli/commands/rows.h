/* rows.h - what the controller lists: a table for people, or JSON.
 */
#ifndef CONTROLLER_CLI_COMMANDS_ROWS_H
#define CONTROLLER_CLI_COMMANDS_ROWS_H

#include "controller/cli/cli.h"
#include "controller/cli/render.h"

struct rows_view {
	const char *name; /* of the list: {"NAME": [...]} */
	const struct column *columns;
	/* Add the cells of one row: a struct of the rows, or an object. */
	void (*row)(struct table *table, const void *row, int64_t now_ms);
	const char *none; /* said where there are no rows */
};

/* Show rows that came from the client. Returns an exit code. */
int rows_show(struct cli *cli, const struct rows_view *view,
	      const struct client *client, const struct rows *rows,
	      struct error *err);

/* The same of rows that the command made itself, JSON objects. */
int rows_show_made(struct cli *cli, const struct rows_view *view,
		   const struct client *client, cJSON *rows, struct error *err);

#endif
