/* results.c - fetches the result rows of a sweep and prints them.
 */
#include "controller/cli/commands/results.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/recompute_results.h"
#include "controller/view/render.h"
#include "controller/cli/commands/gate.h"
#include "controller/report/advice.h"
#include "controller/report/anomalies.h"
#include "controller/report/cells.h"
#include "controller/report/columns.h"
#include "controller/report/compare.h"
#include "controller/report/labels.h"
#include "controller/report/node_rates.h"
#include "controller/report/reference.h"
#include "controller/report/report.h"
#include "controller/report/suspects.h"
#include "controller/report/races.h"
#include "controller/results/json_object.h"
#include "protocol/base/utf8.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/reply_sweeps.h"

#include <errno.h>
#include <string.h>

#define KEYS_SHOWN 2     /* as columns; names of more keys are shortened */
#define WIDTH_DEFAULT 80 /* of a terminal that does not tell */
#define TAIL_LINES 30    /* of the end of a log */
#define TAIL_BYTES 8192  /* of those lines, at most */
#define TAIL_JOBS 40     /* only for the first failed jobs of a sweep */

static enum language language_of(const struct results_form *form)
{
	for (size_t i = 0; i < LANGUAGES; i++)
		if (form->language &&
		    !strcmp(form->language, language_names[i]))
			return (enum language)i;
	return LANGUAGE_EN;
}

int results_format(const struct report_rows *rows,
		   const struct results_form *form, struct buffer *out,
		   struct error *err)
{
	const char *format = form->format ? form->format : "markdown";
	enum language language = language_of(form);
	struct report_about own = { 0 };
	char title[200];
	const struct report_about *about = &own;

	if (form->about)
		own = *form->about;
	own.language = language;
	if (language != LANGUAGE_EN && own.sweep) {
		snprintf(title, sizeof(title),
			 phrase(language, "Sweep %llu: %s"),
			 (unsigned long long)own.sweep, own.name);
		own.title = title;
	}

	if (!strcmp(format, "csv"))
		return report_csv(about, rows, out, err);
	if (!strcmp(format, "json"))
		return report_json(about, rows, out, err);
	if (!strcmp(format, "html"))
		return form->reference
			       ? report_reference_html(about, rows, language,
						       out, err)
			       : report_html(about, rows, out, err);
	return form->reference
		       ? report_reference(about, rows, language, out, err)
		       : report_markdown(about, rows, out, err);
}

/* Add to the rows of a sweep their curves. */
static int curves_add(struct client *client, uint64_t sweep,
		      struct report_rows *rows, struct error *err)
{
	owned(rows_clear) struct rows curves = { 0 };
	size_t at = 0;

	if (client_rows(client, QUERY_SERIES, sweep, "job", &curves, err) < 0)
		return -1;
	/* Both lists are sorted by job; the second may have new jobs. */
	for (size_t i = 0; i < curves.count; i++) {
		struct series_info *of = (void *)rows_at(&curves, i);

		while (at < rows->count && rows->items[at].info.job < of->job)
			at++;
		if (at < rows->count && rows->items[at].info.job == of->job)
			rows->items[at].series = take(of->series);
	}
	return 0;
}

/* The baseline of the losses that the sweep names; NULL: none. */
static const cJSON *baseline(const struct report_rows *rows)
{
	ROWS_EACH(row, rows)
	{
		const cJSON *align =
			row->info.setup
				? row_at(row->info.setup->about, "align")
				: NULL;

		if (cJSON_IsObject(align))
			return align;
	}
	return NULL;
}

int results_of_job(struct client *client, enum query_kind what, uint64_t job,
		   struct answer *answer, struct error *err)
{
	owned(answer_clear) struct answer found = { 0 };
	struct message_query query = { .what = QUERY_JOB, .id = job };

	if (client_query(client, &query, &found, err) < 0)
		return -1;
	query = (struct message_query){
		.what = what,
		.id = ((const struct reply_job *)found.reply)->job.sweep,
		.after = job - 1,
		.limit = 1,
	};
	return client_query(client, &query, answer, err);
}

/* The curves of any job; *series stays NULL if it has none. */
static int job_curves(struct client *client, uint64_t job, cJSON **series,
		      struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct reply_series *reply;

	if (results_of_job(client, QUERY_SERIES, job, &answer, err) < 0)
		return error_prefix(err, "align.baseline");
	reply = answer.reply;
	if (reply->rows_count)
		*series = take(reply->rows->series);
	return 0;
}

/* Compare the losses with the baseline: a job, or cells of the sweep. */
static int align(struct client *client, const cJSON *with,
		 struct report_rows *rows, struct error *err)
{
	owned(cJSON_Delete) cJSON *series = NULL;
	const cJSON *job = row_at(with, "job");

	if (cJSON_IsNumber(job) && job->valuedouble >= 1 &&
	    job_curves(client, (uint64_t)job->valuedouble, &series, err) < 0)
		return -1;
	return align_rows(rows, series, err);
}

int results_fetch(struct client *client, uint64_t sweep, bool curves,
		  struct report_rows *rows, struct error *err)
{
	owned(rows_clear) struct rows infos = { 0 };
	owned(report_rows_clear) struct report_rows made = { 0 };
	const cJSON *with;

	if (client_rows(client, QUERY_RESULTS, sweep, "job", &infos, err) < 0 ||
	    report_rows_make(&made, (void *)infos.items, infos.count, err) < 0)
		return -1;
	with = baseline(&made);
	if (((curves || with) && curves_add(client, sweep, &made, err) < 0) ||
	    (with && align(client, with, &made, err) < 0))
		return -1;
	for (size_t i = 0; !curves && i < made.count; i++)
		cJSON_Delete(take(made.items[i].series));
	if (rows_gather(&made, err) < 0 || anomalies_add(&made, err) < 0)
		return -1;
	*rows = made;
	made = (struct report_rows){ 0 };
	return 0;
}

int results_about_read(struct results_about *about, struct client *client,
		       uint64_t sweep, bool file, struct error *err)
{
	struct message_query query = { .what = QUERY_SWEEP, .id = sweep };
	const struct sweep_info *info;
	struct error refused;

	if (client_query(client, &query, &about->sweep, err) < 0)
		return -1;
	info = &((const struct reply_sweep *)about->sweep.reply)->sweep;
	snprintf(about->title, sizeof(about->title), "Sweep %llu: %.80s",
		 (unsigned long long)info->id, info->name ? info->name : "-");
	about->about = (struct report_about){
		.title = about->title,
		.sweep = info->id,
		.name = info->name,
		.client = info->client,
		.submitted_ms = info->submitted_ms,
	};
	query = (struct message_query){ .what = QUERY_TEXT, .id = sweep };
	if (!file)
		return 0;
	if (client_query(client, &query, &about->text, &refused) < 0)
		return refused.code == EPERM ? 0
					     : error_set(err, refused.code,
							 "%s", refused.text);
	about->about.file =
		((const struct reply_text *)about->text.reply)->text;
	return 0;
}

void results_about_clear(struct results_about *about)
{
	answer_clear(&about->sweep);
	answer_clear(&about->text);
	*about = (struct results_about){ 0 };
}

static int add_tail(struct client *client, struct report_row *row,
		    struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	const char *stream = row->info.reason ? row->info.reason->stream : NULL;
	struct message_log_read read = {
		.job = row->info.job,
		.stream = (char *)(stream ? stream : "rank-0"),
		.tail_lines = TAIL_LINES,
	};
	struct error refused = { 0 };
	const char *from;
	size_t size;

	if (client_call(client, MESSAGE_LOG_READ, &read, &answer, &refused) <
	    0) {
		bool gone = refused.code == ENOENT;

		if (!gone)
			error_set(err, refused.code, "%s", refused.text);
		return gone ? 0 : -1;
	}
	size = answer.size < TAIL_BYTES ? answer.size : TAIL_BYTES;
	if (!size)
		return 0;
	from = (const char *)answer.payload + answer.size - size;
	row->tail = strndup(from, size);
	return row->tail ? 0 : error_nomem(err, "report");
}

int results_add_tails(struct client *client, struct report_rows *rows,
		      struct error *err)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (row_failed(&rows->items[i]) && count++ < TAIL_JOBS &&
		    add_tail(client, &rows->items[i], err) < 0)
			return -1;
	return 0;
}

static int recompute(struct cli *cli, struct client *client,
		     struct report_rows *rows, struct error *err)
{
	owned(recompute_results_clear) struct recompute_results reread = {
		.catalog = cli_catalog(cli, err),
		.client = client,
	};

	if (!reread.catalog)
		return -1;
	return recompute_results_rows(&reread, cli, rows, err) < 0
		       ? -1
		       : anomalies_add(rows, err);
}

/* On a terminal. */

/* The model, vendor, ... of the rows, and the words that all rows share. */
static void print_head(struct cli *cli, const struct report_rows *rows,
		       const struct labels *labels)
{
	char words[LABEL_SIZE], clean[LABEL_SIZE];
	const struct report_figure *figure;
	bool any = false;

	for (size_t i = 0; (figure = figure_used(AS_SUBJECT, i)); i++) {
		if (!*labels_values(rows, &figure->member, words))
			continue;
		fprintf(cli->out, "%s%s %s", any ? ", " : "", figure->label,
			escape(words, clean, sizeof(clean)));
		any = true;
	}
	if (any)
		fputc('\n', cli->out);
	if (*labels->common)
		cli_print_words(cli, "all: ", labels->common);
	if (any || *labels->common)
		fputc('\n', cli->out);
}

/* A cell is named by the words in which the rows differ, in brief if that takes
 * more than half of the terminal.
 */
static bool wants_brief(const struct report_rows *rows,
			const struct labels *labels, size_t width)
{
	char label[LABEL_SIZE];

	ROWS_EACH(row, rows)
	{
		if (utf8_width(labels_row(labels, row->info.cell,
					  row->info.repeat, label)) > width / 2)
			return true;
	}
	return false;
}

static void shown_row_add(struct table *table, const struct columns *columns,
			  const struct labels *labels, bool brief,
			  const struct report_row *row)
{
	enum job_state state = job_state_from(row->info.state);
	char text[COLUMN_TEXT], label[LABEL_SIZE];

	table_text(table, brief ? labels_brief(labels, row->info.cell,
					       row->info.repeat, label)
				: labels_row(labels, row->info.cell,
					     row->info.repeat, label));
	for (size_t c = 1; c < columns->count; c++)
		table_cell(table,
			   c + 1 == columns->count ? colour_of_job(state)
						   : PLAIN,
			   "%s", column_text(columns, c, row, text));
}

static int shown_rows_print(struct cli *cli, const struct report_rows *rows,
			    const struct labels *labels, struct error *err)
{
	size_t width = cli_out_width(cli) ? cli_out_width(cli) : WIDTH_DEFAULT;
	bool brief = wants_brief(rows, labels, width);
	const char *droppable[2 * COLUMNS_MAX];
	struct columns columns;
	owned(table_clear) struct table table = { .columns = columns.heads };

	columns_choose(rows, true, &columns);
	columns_split(&columns, rows, labels, KEYS_SHOWN);
	if (columns.keys_count) {
		columns_table(&columns, rows, labels, &table);
	} else {
		ROWS_EACH(row, rows)
		{
			shown_row_add(&table, &columns, labels, brief, row);
		}
	}
	columns_droppable(&columns, droppable);
	table_narrow(&table, width, width / 2, droppable);
	return cli_print_table(cli, "", &table, NULL, err);
}

/* Why rows have no result. */
static void print_failures(struct cli *cli, const struct report_rows *rows,
			   const struct labels *labels)
{
	char reason[ROW_NOTE_BYTES], label[LABEL_SIZE], clean[1000];
	bool any = false;

	ROWS_EACH(row, rows)
	{
		if (!row_reason(row, reason))
			continue;
		fprintf(cli->out, "%s  job %llu, ",
			any ? "" : "\nwithout a result:\n",
			(unsigned long long)row->info.job);
		any = true;
		labels_row(labels, row->info.cell, row->info.repeat, label);
		fprintf(cli->out, "%s: ", escape(label, clean, sizeof(clean)));
		fprintf(cli->out, "%s\n", escape(reason, clean, sizeof(clean)));
	}
}

static void print_advice(struct cli *cli, const struct report_rows *rows)
{
	struct advice_given given = { 0 };
	const char *head = "\nwhat to do:\n";

	ROWS_EACH(row, rows)
	{
		enum failure failure = failure_from(row->info.failure);
		const char *todo = advice_once(&given, failure, row->info.text,
					       LANGUAGE_EN);

		if (!todo)
			continue;
		fprintf(cli->out, "%s  %s: %s\n", head, failure_name(failure),
			todo);
		head = "";
	}
}

/* Which results are suspect, and why. */
static int print_suspects(struct cli *cli, const struct report_rows *rows,
			  const struct labels *labels, struct error *err)
{
	owned(suspects_clear) struct suspects suspects = { 0 };
	char who[SUSPECT_JOBS_SIZE], label[LABEL_SIZE], clean[1000];

	if (suspects_find(rows, LANGUAGE_EN, &suspects, err) < 0)
		return -1;
	for (size_t i = 0; i < suspects.count; i++) {
		const struct suspect *suspect = &suspects.items[i];

		fprintf(cli->out, "%s  %s", i ? "" : "\nsuspect results (!):\n",
			suspect_jobs(suspect, who));
		if (suspect->count == 1)
			fprintf(cli->out, ", %s",
				escape(labels_row(labels,
						  suspect->rows[0]->info.cell,
						  suspect->rows[0]->info.repeat,
						  label),
				       clean, sizeof(clean)));
		fprintf(cli->out, ": %s\n",
			escape(suspect->text, clean, sizeof(clean)));
	}
	return 0;
}

static int print_races(struct cli *cli, const struct report_rows *rows,
		       struct error *err)
{
	owned(strings_clear) struct strings lines = { 0 };
	char clean[2000];

	if (races_lines(rows, &lines, err) < 0)
		return -1;
	for (size_t i = 0; i < lines.count; i++)
		fprintf(cli->out, "%s  %s\n", i ? "" : "\nrace:\n",
			escape(lines.items[i], clean, sizeof(clean)));
	return 0;
}

static int print_node_rates(struct cli *cli, const struct report_rows *rows,
			    struct error *err)
{
	owned(table_clear) struct table table = { 0 };

	if (node_rates_table(rows, LANGUAGE_EN, &table, err) < 0)
		return -1;
	return table.count
		       ? cli_print_table(cli, "\nnodes against each other:\n",
					 &table, NULL, err)
		       : 0;
}

int results_table(struct cli *cli, const struct report_about *about,
		  const struct report_rows *rows, struct error *err)
{
	owned(report_rows_clear) struct report_rows cells = { 0 };
	const struct report_rows *shown;
	char legend[CELLS_LEGEND], clean[2 * CELLS_LEGEND];
	struct labels labels;

	if (!rows->count) {
		cli_say(cli, "no jobs");
		return 0;
	}
	if (cells_make(rows, about, &cells, err) < 0)
		return -1;
	shown = cells_shown(rows, &cells, about);
	labels_find_rows(shown, &labels);
	print_head(cli, rows, &labels);
	if (shown_rows_print(cli, shown, &labels, err) < 0)
		return -1;
	if (*cells_legend(about, shown, LANGUAGE_EN, legend))
		fprintf(cli->out, "%s\n", escape(legend, clean, sizeof(clean)));
	if (print_races(cli, rows, err) < 0 ||
	    print_node_rates(cli, rows, err) < 0)
		return -1;
	print_failures(cli, rows, &labels);
	print_advice(cli, rows);
	return print_suspects(cli, rows, &labels, err);
}

static bool is_for_terminal(const struct cli *cli,
			    const struct results_form *form)
{
	return cli->out_terminal && !form->format && !form->reference;
}

int results_show(struct cli *cli, const struct report_rows *rows,
		 const struct results_form *form, struct error *err)
{
	static const struct report_about nothing;
	owned(buffer_clear) struct buffer text = BUFFER_INIT(RESULTS_MAX);

	if (is_for_terminal(cli, form))
		return results_table(cli, form->about ? form->about : &nothing,
				     rows, err);
	if (results_format(rows, form, &text, err) < 0)
		return -1;
	fwrite(text.data, 1, text.size, cli->out);
	return 0;
}

int results_print(struct cli *cli, struct client *client,
		  struct report_about *about, struct report_rows *rows,
		  const struct results_form *form, struct error *err)
{
	struct results_form full = *form;
	int passed;

	if (form->recompute && !client)
		return error_set(err, EINVAL,
				 "--recompute is not valid for a file; regatta "
				 "verify recomputes its results");
	if (form->recompute && recompute(cli, client, rows, err) < 0)
		return -1;
	full.about = about;
	about->runs = form->runs;
	if (results_show(cli, rows, &full, err) < 0)
		return -1;
	fflush(cli->out);
	passed = gate_judge(cli, form->gate ? form->gate : &(struct gate){ 0 },
			    about, rows, err);
	return passed < 0 ? -1 : !passed;
}
