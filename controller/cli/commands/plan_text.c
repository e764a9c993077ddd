/* plan_text.c - prints a plan as text.
 */
#include "controller/cli/commands/plan_text.h"

#include "controller/view/render.h"
#include "controller/results/json_object.h"

#include <math.h>
#include <string.h>

/* The time of a cell, its waves ("1", "1-3") and its nodes ("n1,n2"). */
static void place_cell(struct table *table, const struct plan_cell *cell)
{
	char nodes[200];

	table_text(table, cell->runs > 0
				  ? human_time((int64_t)cell->time_ms).text
				  : "?");
	if (!isfinite(cell->wave)) {
		table_text(table, "-");
		table_cell(table, YELLOW, "%s", cell->lacks ? cell->lacks : "");
		return;
	}
	if (cell->last_wave > cell->wave)
		table_cell(table, PLAIN, "%.0f-%.0f", cell->wave,
			   cell->last_wave);
	else
		table_cell(table, PLAIN, "%.0f", cell->wave);
	table_text(table, job_nodes(&cell->on, nodes, sizeof(nodes)));
}

/* A cell that the controller did not describe. */
static void place_unknown(struct table *table)
{
	for (int i = 0; i < 3; i++)
		table_text(table, "?");
}

static void print_repeats(struct table *table, const cJSON *row)
{
	double repeats = row_double(row, "repeats");
	double max = row_double(row, "repeats_max");

	if (max > repeats)
		table_cell(table, PLAIN, "%.0f to %.0f", repeats, max);
	else
		table_cell(table, PLAIN, "%.0f", repeats);
}

static int print_kept(struct cli *cli, const cJSON *plan,
		      const struct reply_plan *placed, struct error *err)
{
	static const struct column columns[] = {
		{ "CELL", false }, { "REPEATS", true }, { "VENDOR", false },
		{ "NODES", true }, { "DEVICES", true }, { "IMAGE", false },
		{ NULL, false },
	};
	static const struct column more[] = {
		{ "CELL", false }, { "REPEATS", true }, { "VENDOR", false },
		{ "NODES", true }, { "DEVICES", true }, { "IMAGE", false },
		{ "TIME", true },  { "WAVE", true },    { "ON", false },
		{ NULL, false },
	};
	static const char *const droppable[] = { "VENDOR",  "DEVICES", "IMAGE",
						 "REPEATS", "WAVE",    NULL };
	owned(table_clear) struct table table = { .columns = placed ? more
								    : columns };
	size_t cell = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		double devices = row_double(row, "devices");

		table_text(&table, row_text(row, "cell"));
		print_repeats(&table, row);
		table_text(&table, row_text(row, "vendor"));
		table_cell(&table, PLAIN, "%.0f", row_double(row, "nodes"));
		if (devices > 0)
			table_cell(&table, PLAIN, "%.0f", devices);
		else
			table_text(&table, "all");
		table_text(&table, row_text(row, "image"));
		if (placed && cell < placed->cells_count)
			place_cell(&table, &placed->cells[cell]);
		else if (placed)
			place_unknown(&table);
		cell++;
	}
	return cli_print_table(cli, "", &table, droppable, err);
}

/* A table of two texts of each row that has the second one. once: rows with the
 * same second text are shown once.
 */
static int print_pairs(struct cli *cli, const cJSON *rows,
		       const struct column *columns, const char *const *names,
		       bool once, struct error *err)
{
	owned(table_clear) struct table table = { .columns = columns };
	owned(strings_clear) struct strings seen = { 0 };
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const char *second = row_text(row, names[1]);

		if (!second || (once && strings_has(&seen, second)))
			continue;
		if (once && strings_add(&seen, second, err) < 0)
			return -1;
		table_text(&table, row_text(row, names[0]));
		table_text(&table, second);
	}
	return cli_print_table(cli, "\n", &table, NULL, err);
}

/* The order of cells, dropped cells, and images that the nodes must have
 * because the tree lacks the files to build them.
 */
static int print_notes(struct cli *cli, const cJSON *plan, struct error *err)
{
	static const struct {
		struct column columns[3];
		const char *rows, *names[2];
		bool once;
	} notes[] = {
		{ { { "CELL", false }, { "GOES AFTER", false } },
		  "kept",
		  { "cell", "after" },
		  false },
		{ { { "DROPPED CELL", false }, { "REASON", false } },
		  "dropped",
		  { "cell", "reason" },
		  false },
		{ { { "IMAGE THAT NODES MUST HAVE", false },
		    { "MISSING IN TREE", false } },
		  "kept",
		  { "image", "missing" },
		  true },
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (print_pairs(cli, row_at(plan, notes[i].rows),
				notes[i].columns, notes[i].names, notes[i].once,
				err) < 0)
			return -1;
	return 0;
}

/* Cells that policies refuse, with the first rule of each policy that does. */
static int print_refused(struct cli *cli, const cJSON *plan,
			 const struct plan_forecast *forecast,
			 struct error *err)
{
	static const struct column columns[] = {
		{ "CELL", false },
		{ "NODES", false },
		{ "REFUSED BY POLICY", false },
		{ NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };
	const cJSON *row, *refusal, *node;
	bool any = false;
	char names[200];

	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		cJSON_ArrayForEach(refusal, row_at(row, "refused"))
		{
			owned(strings_clear) struct strings nodes = { 0 };

			cJSON_ArrayForEach(node, row_at(refusal, "nodes"))
			{
				if (strings_add(&nodes, node->valuestring,
						err) < 0)
					return -1;
			}
			table_text(&table, row_text(row, "cell"));
			table_text(&table,
				   job_nodes(&nodes, names, sizeof(names)));
			table_cell(&table, YELLOW, "%s",
				   row_text(refusal, "text"));
			any = true;
		}
	}
	if (!any)
		return 0;
	if (cli_print_table(cli, "\n", &table, NULL, err) < 0)
		return -1;
	fputs("\nthese policy lines would allow the cells, see "
	      "regatta-policy(5):\n\n",
	      cli->out);
	least_policy_print(&forecast->least, cli->out);
	return 0;
}

static void print_totals(struct cli *cli, const struct sweep *sweep)
{
	const struct sweep_totals *totals = sweep_totals(sweep);

	if (totals->kept > PLAN_TEXT_ROWS || totals->dropped > PLAN_TEXT_ROWS)
		fprintf(cli->out,
			"\nonly the first %d of each are shown; --format json "
			"shows all\n",
			PLAN_TEXT_ROWS);
	fprintf(cli->out, "\n%s: %zu cell%s, %zu kept, %zu dropped",
		sweep_name(sweep), totals->cells, totals->cells == 1 ? "" : "s",
		totals->kept, totals->dropped);
	if (totals->jobs)
		fprintf(cli->out, "; %zu job%s, the largest on %u node%s",
			totals->jobs, totals->jobs == 1 ? "" : "s",
			totals->nodes_max, totals->nodes_max == 1 ? "" : "s");
	if (totals->timeout_ms)
		fprintf(cli->out, "; one by one at most %s",
			human_time((int64_t)totals->timeout_ms).text);
	fputc('\n', cli->out);
}

/* The number of cells whose log format must be detected. */
static void print_logs(struct cli *cli, const cJSON *plan)
{
	const cJSON *row;
	size_t count = 0;

	cJSON_ArrayForEach(row, row_at(plan, "kept")) count +=
		!strcmp(row_text(row, "log"), "auto");
	if (count)
		fprintf(cli->out,
			"%zu cell%s no framework and no log: the format of the "
			"log is detected; if none matches, the job has no "
			"metrics\n",
			count, count == 1 ? " names" : "s name");
}

static void print_time(struct cli *cli, const struct reply_plan *reply)
{
	if (reply->cut) {
		fputs("; the forecast ends here, the sweep or the queue is too "
		      "large",
		      cli->out);
	} else if (!isfinite(reply->time_ms)) {
		fputs("; time unknown: none of these cells has run before",
		      cli->out);
	} else {
		fprintf(cli->out, "; about %s",
			human_time((int64_t)reply->time_ms).text);
		if (reply->unknown)
			fprintf(cli->out,
				"; %llu of %llu cells have never run (?) and "
				"count as the median of the others",
				(unsigned long long)reply->unknown,
				(unsigned long long)reply->known +
					reply->unknown);
	}
	if (reply->timed < reply->cells_total)
		fprintf(cli->out,
			"; earlier runs were looked up for the first %llu "
			"cells only",
			(unsigned long long)reply->timed);
}

static void print_forecast(struct cli *cli,
			   const struct plan_forecast *forecast)
{
	const struct reply_plan *reply = forecast->reply;
	char clean[400];

	if (!reply) {
		fprintf(cli->out, "nodes and times were not checked: %s\n",
			escape(forecast->text, clean, sizeof(clean)));
		return;
	}
	fprintf(cli->out, "with %u of %u nodes, ", reply->usable, reply->nodes);
	if (reply->others)
		fprintf(cli->out,
			"besides %s: ", human_jobs(reply->others).text);
	else
		fputs("all free: ", cli->out);
	if (reply->waves) {
		fprintf(cli->out, "%u wave%s", reply->waves,
			reply->waves > 1 ? "s" : "");
		print_time(cli, reply);
	} else {
		fputs("nothing would start", cli->out);
	}
	if (reply->lacking)
		fprintf(cli->out, "; %llu cell%s would wait for nodes",
			(unsigned long long)reply->lacking,
			reply->lacking > 1 ? "s" : "");
	fputc('\n', cli->out);
	if (forecast->unchecked[0])
		fprintf(cli->out, "policies were not checked: %s\n",
			escape(forecast->unchecked, clean, sizeof(clean)));
}

int plan_text_print(struct cli *cli, const cJSON *plan,
		    const struct sweep *sweep,
		    const struct plan_forecast *forecast, struct error *err)
{
	if (print_kept(cli, plan, forecast->reply, err) < 0 ||
	    print_notes(cli, plan, err) < 0 ||
	    print_refused(cli, plan, forecast, err) < 0)
		return -1;
	print_totals(cli, sweep);
	print_logs(cli, plan);
	if (sweep_totals(sweep)->kept)
		print_forecast(cli, forecast);
	return 0;
}
