/* rows.c - prints lists of the controller as a table or as JSON.
 */
#include "controller/cli/commands/rows.h"

#include "controller/cli/run/session.h"

cJSON *rows_json(const struct rows *rows, struct error *err)
{
	owned(cJSON_Delete) cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; list && i < rows->count; i++) {
		cJSON *row = codec_object(rows->schema, rows_at(rows, i), err);

		if (!row)
			return NULL;
		cJSON_AddItemToArray(list, row);
	}
	if (!list)
		error_nomem(err, "rows");
	return take(list);
}

int rows_table(struct cli *cli, const char *title, const struct view *view,
	       const void *items, size_t count, int64_t at_ms, bool whole,
	       struct error *err)
{
	struct view_table shown = { 0 };
	int rc;

	view_table_fill(&shown, view, items, count, at_ms);
	rc = cli_print_table(cli, title, &shown.table,
			     whole || !view->narrows ? NULL : shown.droppable,
			     err);
	table_clear(&shown.table);
	return rc;
}

int rows_show(struct cli *cli, const struct view *view, int64_t at_ms,
	      const struct rows *rows, struct error *err)
{
	owned(cJSON_Delete) cJSON *list = NULL;

	if (cli_format(cli, "json")) {
		list = rows_json(rows, err);
		if (!list)
			return -1;
		return view->name ? cli_print_list(cli, view->name, take(list),
						   err)
				  : cli_print_json(cli, list, err);
	}
	if (!rows->count && view->none)
		cli_say(cli, "%s", view->none);
	return rows_table(cli, "", view, rows->items, rows->count, at_ms, false,
			  err);
}

int rows_list(struct cli *cli, const struct view *view, enum query_kind what,
	      const char *id, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(rows_clear) struct rows rows = { 0 };

	if (session_open(&session, cli, err) < 0 ||
	    client_rows(session.client, what, 0, id, &rows, err) < 0)
		return -1;
	return rows_show(cli, view, client_clock_ms(session.client), &rows,
			 err);
}
