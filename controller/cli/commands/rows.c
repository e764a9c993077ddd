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

static int show_json(struct cli *cli, const char *name, const struct rows *rows,
		     struct error *err)
{
	owned(cJSON_Delete) cJSON *list = rows_json(rows, err);

	if (!list)
		return -1;
	return name ? cli_print_list(cli, name, take(list), err)
		    : cli_print_json(cli, list, err);
}

int rows_show(struct cli *cli, const struct rows_view *view, int64_t now_ms,
	      const struct rows *rows, struct error *err)
{
	owned(table_clear) struct table table = { .columns = view->columns };

	if (cli_format(cli, "json"))
		return show_json(cli, view->name, rows, err);
	if (!rows->count && view->none)
		cli_say(cli, "%s", view->none);
	for (size_t i = 0; i < rows->count; i++)
		view->row(&table, rows_at(rows, i), now_ms);
	return cli_print_table(cli, "", &table, view->droppable, err);
}

int rows_list(struct cli *cli, const struct rows_view *view,
	      enum query_kind what, const char *id, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(rows_clear) struct rows rows = { 0 };

	if (session_open(&session, cli, err) < 0 ||
	    client_rows(session.client, what, 0, id, &rows, err) < 0)
		return -1;
	return rows_show(cli, view, client_clock_ms(session.client), &rows,
			 err);
}
