/* rows.c - what the controller lists: a table for people, or JSON.
 */
#include "controller/cli/commands/rows.h"

#include "controller/cli/json.h"
#include "protocol/base/program.h"

static int show_json(struct cli *cli, const char *name, cJSON *list,
		     struct error *err)
{
	owned(json_free) cJSON *object = cJSON_CreateObject();

	if (!cJSON_AddItemReferenceToObject(object, name, list))
		return error_nomem(err, "output");
	return cli_print_json(cli, object, err) < 0 ? -1 : EXIT_GOOD;
}

static int show_rows_json(struct cli *cli, const char *name,
			  const struct rows *rows, struct error *err)
{
	owned(json_free) cJSON *list = cJSON_CreateArray();

	for (size_t i = 0; list && i < rows->count; i++) {
		cJSON *row = codec_object(rows->schema, rows_at(rows, i), err);

		if (!row)
			return -1;
		cJSON_AddItemToArray(list, row);
	}
	return show_json(cli, name, list, err);
}

static int show_table(struct cli *cli, const struct rows_view *view,
		      const struct table *table, struct error *err)
{
	if (!table_rows(table)) {
		cli_say(cli, "%s", view->none);
		return EXIT_GOOD;
	}
	return table_print(table, cli->out, cli_out_colour(cli), err) < 0
		       ? -1
		       : EXIT_GOOD;
}

int rows_show(struct cli *cli, const struct rows_view *view,
	      const struct client *client, const struct rows *rows,
	      struct error *err)
{
	owned(table_free) struct table *table = NULL;

	if (cli_format(cli, "json"))
		return show_rows_json(cli, view->name, rows, err);
	table = table_new(view->columns, err);
	if (!table)
		return -1;
	for (size_t i = 0; i < rows->count; i++)
		view->row(table, rows_at(rows, i), client_clock_ms(client));
	return show_table(cli, view, table, err);
}

int rows_show_made(struct cli *cli, const struct rows_view *view,
		   const struct client *client, cJSON *rows, struct error *err)
{
	owned(table_free) struct table *table = NULL;
	const cJSON *row;

	if (cli_format(cli, "json"))
		return show_json(cli, view->name, rows, err);
	table = table_new(view->columns, err);
	if (!table)
		return -1;
	cJSON_ArrayForEach(row, rows)
	{
		view->row(table, row, client_clock_ms(client));
	}
	return show_table(cli, view, table, err);
}
