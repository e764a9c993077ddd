/* rows.h - prints lists of the controller as a table or as JSON.
 */
#pragma once

#include "controller/cli/cli.h"
#include "controller/view/render.h"
#include "controller/view/views.h"

/* Print rows. at_ms: as of view_table_fill(), the controller's clock. Returns
 * an exit code.
 */
int rows_show(struct cli *cli, const struct view *view, int64_t at_ms,
	      const struct rows *rows, struct error *err);

/* Print a title and a table of structs, if there are any. whole: as wide as it
 * is.
 */
int rows_table(struct cli *cli, const char *title, const struct view *view,
	       const void *items, size_t count, int64_t at_ms, bool whole,
	       struct error *err);

/* Connect, fetch the rows by client_rows(), and print them. */
int rows_list(struct cli *cli, const struct view *view, enum query_kind what,
	      const char *id, struct error *err);

/* The rows as an array of objects; the caller deletes it. */
cJSON *rows_json(const struct rows *rows, struct error *err);
