/* reference.c - writes a sweep's rows as a page of published benchmark results.
 */
#include "controller/report/reference.h"

#include "controller/report/advice.h"
#include "controller/report/facts.h"
#include "controller/report/figures.h"
#include "controller/report/labels.h"
#include "controller/report/reference_table.h"
#include "controller/report/row.h"
#include "controller/results/json_object.h"
#include "controller/results/remarks.h"
#include "protocol/base/strings.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Merges the rows of evaluations into the rows of the
 * evaluated cells.
 *
 * A completed row is an evaluation if it has metrics but no rate, and follows
 * another cell of the sweep. It belongs to the repeat with the same number,
 * else to the last repeat of that cell. Published pages show both in one line.
 */

static bool is_evaluation(const struct report_row *row)
{
	return row->info.follows && row_completed(row) && row->info.result &&
	       row->info.result->metrics_count &&
	       row_rate(row).unit != RATE_TOKENS;
}

/* The row before it that it evaluates; NULL: none. */
static struct report_row *evaluated(struct report_rows *rows,
				    const struct report_row *evaluation)
{
	struct report_row *found = NULL;

	for (size_t i = 0; i < rows->count; i++) {
		struct report_row *row = &rows->items[i];

		if (!row->info.cell || !row_completed(row) ||
		    !labels_hold(row->info.cell, evaluation->info.follows) ||
		    (found && found->info.repeat == evaluation->info.repeat))
			continue;
		found = row;
	}
	return found && found->info.result ? found : NULL;
}

static int merge_names(struct strings *to, const struct strings *from,
		       struct error *err)
{
	for (size_t i = 0; i < from->count; i++)
		if (strings_add(to, from->items[i], err) < 0)
			return -1;
	return 0;
}

/* Take over the metrics that the result does not have. */
static int merge_metrics(struct report_row *row, struct result *from,
			 struct error *err)
{
	struct result *to = row->info.result;
	struct named_number *all =
		realloc(to->metrics, (to->metrics_count + from->metrics_count) *
					     sizeof(*all));

	if (!all)
		return error_nomem(err, "report");
	to->metrics = all;
	for (size_t i = 0; i < from->metrics_count; i++)
		if (isnan(row_metric(row, from->metrics[i].name))) {
			all[to->metrics_count++] = from->metrics[i];
			from->metrics[i].name = NULL;
		}
	if (merge_names(&to->metric_columns, &from->metric_columns, err) < 0)
		return -1;
	return merge_names(&to->metric_percents, &from->metric_percents, err);
}

/* The copy of a row is merged into an earlier one, or becomes the last. */
static int merge_row(struct report_rows *merged, const struct report_row *row,
		     struct error *err)
{
	struct report_row *last = &merged->items[merged->count];
	struct report_row *of =
		is_evaluation(row) ? evaluated(merged, row) : NULL;
	int rc = 0;

	if (codec_copy(&report_row_schema, row, last, err) < 0)
		return -1;
	if (of) {
		rc = merge_metrics(of, last->info.result, err);
		codec_clear(&report_row_schema, last);
	} else {
		merged->count++;
	}
	return rc;
}

/* Fill *merged, which the caller clears, with a copy of the rows without the
 * evaluations, whose metrics (and table columns) are added to the rows that
 * they evaluate. ENOMEM.
 */
static int rows_merge_evaluations(const struct report_rows *rows,
				  struct report_rows *merged, struct error *err)
{
	merged->items = calloc(rows->count + 1, sizeof(*merged->items));
	if (!merged->items)
		return error_nomem(err, "report");
	ROWS_EACH(row, rows)
	{
		if (merge_row(merged, row, err) < 0)
			return -1;
	}
	return 0;
}

/* One line for each cell. */

static int by_rate(const void *a, const void *b)
{
	double x = row_rate(*(const struct report_row *const *)a).value;
	double y = row_rate(*(const struct report_row *const *)b).value;

	return (x > y) - (x < y);
}

/* The completed row of a cell with the median rate; the first row if none
 * completed.
 */
static const struct report_row *middle(const struct report_row **rows,
				       size_t count)
{
	const struct report_row *first = rows[0];
	size_t good = 0;

	for (size_t i = 0; i < count; i++)
		if (row_completed(rows[i]))
			rows[good++] = rows[i];
	if (!good)
		return first;
	qsort(rows, good, sizeof(struct report_row *), by_rate);
	return rows[(good - 1) / 2];
}

static bool same_cell(const struct report_row *a, const struct report_row *b)
{
	return a->info.cell && b->info.cell &&
	       !strcmp(a->info.cell, b->info.cell);
}

static int lines_make(const struct report_rows *rows, struct lines *lines,
		      struct error *err)
{
	size_t from = 0;

	lines->rows = calloc(rows->count + 1, sizeof(struct report_row *));
	if (!lines->rows)
		return error_nomem(err, "report");
	for (size_t i = 0; i < rows->count; i++)
		lines->rows[i] = &rows->items[i];
	while (from < rows->count) {
		size_t end = from + 1;

		while (end < rows->count &&
		       same_cell(lines->rows[from], lines->rows[end]))
			end++;
		lines->rows[lines->count++] =
			middle(lines->rows + from, end - from);
		from = end;
	}
	return 0;
}

static const cJSON *environment_of(const struct report_row *row)
{
	return row->info.provenance ? row->info.provenance->environment : NULL;
}

/* The row whose environment the page shows: the first that has one. */
static const struct report_row *environment_row(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (environment_of(lines->rows[i]))
			return lines->rows[i];
	return lines->rows[0];
}

/* Sections. */

__attribute__((format_arg(2))) static const char *
lines_phrase(const struct lines *lines, const char *english)
{
	return phrase(lines->language, english);
}

static void reference_put_item(struct writer *to, const char *name,
			       const char *text)
{
	writer_printf(to, "  - %s: %s\n", name, text_or_slash(text));
}

struct fact {
	const char *name;
	const char *environment; /* member of the node's facts; NULL: none */
	struct member other;     /* used if there is nothing; no name: none */
};

static void reference_put_facts(struct writer *to, const struct lines *lines,
				const struct fact *facts)
{
	const struct report_row *row = environment_row(lines);

	for (; facts->name; facts++) {
		const char *text = facts->environment
					   ? row_text(environment_of(row),
						      facts->environment)
					   : row_about(row, "framework");

		if (!text && facts->other.field.name)
			text = row_string(row, &facts->other);
		reference_put_item(to, lines_phrase(lines, facts->name), text);
	}
}

#define FACT_ORIGIN(m) MEMBER(OF_ORIGIN, provenance, m)
#define FACT_SETUP(m) MEMBER(OF_SETUP, setup, m)

static void put_environment(struct writer *to, const struct lines *lines)
{
	/* clang-format off */
	static const struct fact hardware[] = {
		{ .name = "Machine", .environment = "machine" },
		{ "Accelerator", "accelerator", FACT_SETUP(measure.chip) },
		{ "CPU", "cpu", FACT_ORIGIN(cpu) },
		{ .name = "Network between nodes, bandwidth",
		  .environment = "network" },
		{ .name = NULL },
	};
	static const struct fact software[] = {
		{ "OS", "os", FACT_ORIGIN(os) },
		{ "OS kernel", "kernel", FACT_ORIGIN(kernel) },
		{ "Accelerator driver", "driver", FACT_ORIGIN(driver) },
		{ "Container engine", "engine", FACT_ORIGIN(engine) },
		{ "Training framework", NULL, FACT_SETUP(measure.framework) },
		{ .name = "Accelerator SDK", .environment = "sdk" },
		{ .name = NULL },
	};
	/* clang-format on */

	writer_printf(to, "#### %s\n\n- ##### %s\n",
		      lines_phrase(lines, "Environment"),
		      lines_phrase(lines, "Hardware"));
	reference_put_facts(to, lines, hardware);
	writer_printf(to, "\n- ##### %s\n", lines_phrase(lines, "Software"));
	reference_put_facts(to, lines, software);
}

static bool any_above_1(const struct lines *lines, const struct member *member)
{
	for (size_t i = 0; i < lines->count; i++)
		if (row_number(lines->rows[i], member) > 1)
			return true;
	return false;
}

static bool any_sharded(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++) {
		const struct layout_spec *layout = row_layout(lines->rows[i]);

		if (layout->stage || layout->sharding > 1)
			return true;
	}
	return false;
}

/* "tensor, pipeline, data parallel" */
static void put_technique(struct writer *to, const struct lines *lines)
{
	static const struct {
		struct member degree;
		const char *name;
	} parts[] = {
		{ FACT_SETUP(layout.tp), "tensor" },
		{ FACT_SETUP(layout.pp), "pipeline" },
		{ FACT_SETUP(layout.cp), "context" },
		{ FACT_SETUP(layout.ep), "expert" },
	};
	char names[160] = "";

	if (!lines_spread(lines)) {
		reference_put_item(to, lines_phrase(lines, "Technique"),
				   any_sharded(lines) ? "sharded data parallel"
						      : "data parallel");
		return;
	}
	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
		if (any_above_1(lines, &parts[p].degree))
			text_append(names, sizeof(names), "%s%s",
				    lines_phrase(lines, parts[p].name),
				    lines_phrase(lines, ", "));
	text_append(names, sizeof(names), "%s", lines_phrase(lines, "data"));
	writer_printf(to, "  - %s: ", lines_phrase(lines, "Technique"));
	writer_printf(to, lines_phrase(lines, "%s parallel"), names);
	writer_raw(to, "\n");
}

/* What a row has, as text; text[] is for it. */
#define VALUE_TEXT 64
typedef const char *value_fn(const struct report_row *row, const void *arg,
			     char text[VALUE_TEXT]);

static const char *number_value(const struct report_row *row, const void *arg,
				char text[VALUE_TEXT])
{
	double number = row_number(row, arg);

	if (!(number > 0))
		return "/";
	snprintf(text, VALUE_TEXT, "%.0f", number);
	return text;
}

static const char *formula_value(const struct report_row *row, const void *arg,
				 char text[VALUE_TEXT])
{
	const struct result *result = row->info.result;

	return result && result->mfu_formula ? result->mfu_formula : "6N";
}

/* "ZeRO-DP O2, DP_SIZE=16" */
static const char *sharding_value(const struct report_row *row, const void *arg,
				  char text[VALUE_TEXT])
{
	const struct layout_spec *layout = row_layout(row);

	snprintf(text, VALUE_TEXT, "%s%.8s%sDP_SIZE=%llu",
		 layout->stage ? "ZeRO-DP O" : "",
		 layout->stage ? layout->stage : "", layout->stage ? ", " : "",
		 (unsigned long long)layout->data);
	return text;
}

static bool row_has_value(const struct report_row *row, value_fn *value,
			  const void *arg, const char *want)
{
	char text[VALUE_TEXT];

	return !strcmp(value(row, arg, text), want);
}

/* The numbers of the rows that have the value, "1, 2, 3"; returns how many. */
static size_t same_rows(const struct lines *lines, value_fn *value,
			const void *arg, const char *want, char *text,
			size_t size)
{
	size_t same = 0;

	for (size_t i = 0; i < lines->count; i++) {
		if (!row_has_value(lines->rows[i], value, arg, want))
			continue;
		same++;
		if (strlen(text) < size - 16)
			text_append(text, size, "%s%zu",
				    *text ? lines_phrase(lines, ", ") : "",
				    i + 1);
		else if (text[strlen(text) - 1] != '.')
			text_append(text, size, " ...");
	}
	return same;
}

static bool has_above(const struct lines *lines, size_t line, value_fn *value,
		      const void *arg, const char *want)
{
	for (size_t i = 0; i < line; i++)
		if (row_has_value(lines->rows[i], value, arg, want))
			return true;
	return false;
}

/* "8", or where the rows differ "8 (rows 1, 2, 3), 64 (row 4)". */
static void reference_put_values(struct writer *to, const struct lines *lines,
				 value_fn *value, const void *arg)
{
	for (size_t i = 0; i < lines->count; i++) {
		char rows[64] = "", text[VALUE_TEXT];
		const char *own = value(lines->rows[i], arg, text);
		size_t same;

		if (has_above(lines, i, value, arg, own))
			continue;
		if (i)
			writer_raw(to, lines_phrase(lines, ", "));
		same = same_rows(lines, value, arg, own, rows, sizeof(rows));
		if (same == lines->count)
			writer_text(to, own);
		else
			writer_printf(to,
				      same > 1 ? lines_phrase(lines,
							      "%s (rows %s)")
					       : lines_phrase(lines,
							      "%s (row %s)"),
				      own, rows);
	}
}

/* "ZeRO-DP O2, DP_SIZE=16" of each row, or the layout of the rows. */
static void put_detail(struct writer *to, const struct lines *lines)
{
	const struct report_row *row = lines->rows[0];
	char text[LAYOUT_TEXT], other[LAYOUT_TEXT];
	bool differ = false;

	writer_printf(to, "  - %s: ", lines_phrase(lines, "In detail"));
	layout_text(row, text);
	for (size_t i = 1; i < lines->count; i++)
		differ |= strcmp(layout_text(lines->rows[i], other), text) != 0;
	if (lines_spread(lines))
		writer_printf(to, "%s%s", text, differ ? " ..." : "");
	else
		reference_put_values(to, lines, sharding_value, NULL);
	writer_raw(to, "\n");
}

static void put_parallel(struct writer *to, const struct lines *lines)
{
	static const struct member framework = FACT_SETUP(measure.framework);
	const char *made = row_about(lines->rows[0], "optimizations");

	writer_printf(to, "\n- ##### %s\n", lines_phrase(lines, "Parallelism"));
	put_technique(to, lines);
	reference_put_item(to, lines_phrase(lines, "By"),
			   row_string(lines->rows[0], &framework));
	put_detail(to, lines);
	if (made)
		writer_printf(to, "\n- ##### %s\n  - %s\n",
			      lines_phrase(lines, "Optimisation"),
			      text_or_slash(made));
}

static void put_batch(struct writer *to, const struct lines *lines)
{
	static const struct {
		const char *name;
		struct member member;
	} parts[] = {
		{ "local batch size (micro batch size), LBS: the samples that "
		  "enter the model at once on one device; here ",
		  FACT_SETUP(measure.micro_batch) },
		{ "sequence length (max position embedding), MPE: the tokens "
		  "of one sample; here ",
		  FACT_SETUP(measure.sequence) },
		{ "gradient accumulation steps, GAS: micro steps per step of "
		  "the optimizer; here ",
		  FACT_SETUP(measure.accumulate) },
		{ "global batch size, GBS = LBS × GAS × data parallel size; "
		  "here ",
		  FACT_SETUP(measure.global_batch) },
	};

	writer_printf(to, "\n### %s\n\n* %s\n", lines_phrase(lines, "Run"),
		      lines_phrase(lines, "Batch"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		writer_printf(to, "  %zu. ", i + 1);
		writer_raw(to, lines_phrase(lines, parts[i].name));
		reference_put_values(to, lines, number_value, &parts[i].member);
		writer_raw(to, "\n");
	}
}

static void put_indicator(struct writer *to, const struct lines *lines,
			  const char *name, const char *value,
			  const char *remark)
{
	writer_raw(to, "| ");
	writer_raw(to, lines_phrase(lines, name));
	writer_raw(to, " | ");
	writer_raw(to, lines_phrase(lines, value));
	writer_raw(to, " | ");
	writer_raw(to, lines_phrase(lines, remark));
	writer_raw(to, " |\n");
}

static void put_indicator_of(struct writer *to, const struct lines *lines,
			     const char *name, const char *value)
{
	writer_printf(to, "| %s | %s |  |\n", lines_phrase(lines, name),
		      text_or_slash(value));
}

/* "nvidia H800" */
static void lines_name_device(const struct lines *lines, char *name,
			      size_t size)
{
	const struct report_row *row = lines->rows[0];
	const struct setup *setup = row ? row->info.setup : NULL;
	const char *vendor = setup ? setup->vendor : NULL;
	char chip[CHIP_TEXT] = "";

	if (setup && setup->measure.chip)
		chip_text(row, chip);
	snprintf(name, size, "%.64s%s%s", vendor ? vendor : "",
		 *chip && vendor ? " " : "", chip);
}

static void put_general(struct writer *to, const struct lines *lines)
{
	const struct report_row *first = lines->rows[0];
	char name[160];

	writer_printf(to, "\n* %s\n\n", lines_phrase(lines, "General"));
	writer_raw(to, lines_phrase(lines, "| what | value | remark |"));
	writer_raw(to, "\n| --- | --- | --- |\n");
	put_indicator_of(to, lines, "task", row_about(first, "task"));
	put_indicator_of(to, lines, "model", row_string(first, &member_model));
	put_indicator_of(to, lines, "data set", row_about(first, "dataset"));
	if (lines_differ(lines, &member_precision))
		put_indicator(to, lines, "precision",
			      "precision, see performance",
			      "fp32, amp, fp16 or bf16");
	else
		put_indicator_of(to, lines, "precision",
				 row_string(first, &member_precision));
	if (lines_spread(lines))
		put_indicator(to, lines, "changed settings",
			      "parallel, see performance",
			      "as TPxPPyDPz, such as TP2PP1DP4");
	put_indicator(to, lines, "changed settings", "fix_hp, see performance",
		      "settings that differ from the first row");
	lines_name_device(lines, name, sizeof(name));
	put_indicator_of(to, lines, "accelerator", name);
	put_indicator(to, lines, "device memory", "mem, see performance",
		      "used/total, GiB");
	writer_printf(to, "| %s | %s | ",
		      lines_phrase(lines, "compute utilisation"),
		      lines_phrase(lines, "MFU, see performance"));
	writer_raw(to,
		   lines_phrase(lines, "model FLOPs utilisation, formula "));
	reference_put_values(to, lines, formula_value, NULL);
	writer_raw(to, " |\n");
	put_indicator(to, lines, "**throughput**",
		      "**token/p/s, see performance**",
		      "tokens per device and second");
}

/* The heading of the remarks, before the first one. */
static void reference_put_heading(struct writer *to, const struct lines *lines,
				  bool *any)
{
	if (!*any)
		writer_printf(to, "\n* %s\n\n", lines_phrase(lines, "Remarks"));
	*any = true;
}

static bool text_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool remark_same(const struct remark *a, const struct remark *b)
{
	bool same = text_same(a->code, b->code) &&
		    text_same(a->text, b->text) &&
		    a->numbers.count == b->numbers.count &&
		    a->words.count == b->words.count;

	for (size_t i = 0; same && i < a->numbers.count; i++)
		same = a->numbers.items[i] == b->numbers.items[i];
	for (size_t i = 0; same && i < a->words.count; i++)
		same = !strcmp(a->words.items[i], b->words.items[i]);
	return same;
}

static bool row_has_flag(const struct report_row *row,
			 const struct remark *remark)
{
	const struct remark *flag;

	for (size_t f = 0; (flag = row_flag(row, f)); f++)
		if (remark_same(flag, remark))
			return true;
	return false;
}

/* What to do, if no row before has the same advice. */
static void reference_put_advice(struct writer *to, const struct lines *lines,
				 size_t line, enum failure failure)
{
	const char *todo = failure_advice(failure, lines->rows[line]->info.text,
					  lines->language);

	for (size_t i = 0; i < line; i++)
		if (failure_advice(failure_from(lines->rows[i]->info.failure),
				   lines->rows[i]->info.text,
				   lines->language) == todo)
			return;
	if (!todo)
		return;
	writer_raw(to, lines_phrase(lines, ". To do: "));
	writer_raw(to, todo);
}

/* "3: oom: the sentence. To do: a smaller batch" */
static void reference_put_failure(struct writer *to, const struct lines *lines,
				  size_t line, const char *text)
{
	enum failure failure = failure_from(lines->rows[line]->info.failure);

	writer_printf(to, "  - %zu%s", line + 1, lines_phrase(lines, ": "));
	if (failure) {
		writer_raw(to, lines_phrase(lines, failure_name(failure)));
		writer_raw(to, lines_phrase(lines, ": "));
	}
	writer_text(to, text_or_slash(text));
	reference_put_advice(to, lines, line, failure);
	writer_raw(to, "\n");
}

/* "1, 2: the flag": once, with all the rows that have it. */
static void put_flag(struct writer *to, const struct lines *lines, size_t line,
		     const struct remark *flag)
{
	char text[REMARK_TEXT_MAX];

	writer_printf(to, "  - %zu", line + 1);
	for (size_t i = line + 1; i < lines->count; i++)
		if (row_has_flag(lines->rows[i], flag))
			writer_printf(to, "%s%zu", lines_phrase(lines, ", "),
				      i + 1);
	writer_raw(to, lines_phrase(lines, ": "));
	writer_text(to,
		    remark_sentence(flag, lines->language, text, sizeof(text)));
	writer_raw(to, "\n");
}

static bool flagged_above(const struct lines *lines, size_t line,
			  const struct remark *flag)
{
	for (size_t i = 0; i < line; i++)
		if (row_has_flag(lines->rows[i], flag))
			return true;
	return false;
}

static void put_remarks(struct writer *to, const struct lines *lines)
{
	bool any = false;

	if (cJSON_IsTrue(row_at(environment_of(environment_row(lines)),
				"simulated"))) {
		reference_put_heading(to, lines, &any);
		writer_printf(
			to, "  - %s\n",
			lines_phrase(lines,
				     "The accelerators of these runs were "
				     "simulated: recorded output was replayed, "
				     "and "
				     "the figures do not describe real "
				     "hardware."));
	}
	for (size_t i = 0; i < lines->count; i++) {
		const struct report_row *row = lines->rows[i];
		const char *text = row->info.text;
		const struct remark *flag;

		if (!row_completed(row) && text) {
			reference_put_heading(to, lines, &any);
			reference_put_failure(to, lines, i, text);
		}
		for (size_t f = 0; (flag = row_flag(row, f)); f++)
			if (!flagged_above(lines, i, flag)) {
				reference_put_heading(to, lines, &any);
				put_flag(to, lines, i, flag);
			}
	}
}

static void reference_put_fact(struct writer *to, const char *name,
			       const char *text)
{
	writer_printf(to, "- %s: %s\n", name, text);
}

static void reference_put_head(struct writer *to, const struct lines *lines,
			       const struct report_about *about,
			       const struct report_rows *rows)
{
	writer_printf(to, "#### %s\n\n", lines_phrase(lines, "Measured"));
	facts_each(to, about, rows, rows, reference_put_fact);
	writer_raw(to, "\n");
}

static void put_page(struct writer *to, const struct lines *lines,
		     const struct report_about *about,
		     const struct report_rows *rows)
{
	char name[160];

	lines_name_device(lines, name, sizeof(name));
	writer_raw(to, "### ");
	writer_printf(to, lines_phrase(lines, "%s: configuration and results"),
		      name);
	writer_raw(to, "\n\n");
	if (about)
		reference_put_head(to, lines, about, rows);
	put_environment(to, lines);
	put_parallel(to, lines);
	put_batch(to, lines);
	put_general(to, lines);
	writer_printf(to, "\n* %s\n\n", lines_phrase(lines, "Performance"));
	reference_table(to, lines);
	put_remarks(to, lines);
}

int report_reference(const struct report_about *about,
		     const struct report_rows *rows, enum language language,
		     struct buffer *out, struct error *err)
{
	owned(report_rows_clear) struct report_rows merged = { 0 };
	struct lines lines = { .language = language };
	struct writer to;

	if (!rows->count)
		return error_set(err, EINVAL, "report: the sweep has no rows");
	if (rows_merge_evaluations(rows, &merged, err) < 0)
		return -1;
	writer_init(&to, out, markdown_text);
	to.language = language;
	if (lines_make(&merged, &lines, &to.failure) == 0)
		put_page(&to, &lines, about, rows);
	free(lines.rows);
	return writer_end(&to, err);
}
