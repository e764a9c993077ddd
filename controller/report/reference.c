/* reference.c - writes a sweep's rows as a page of published benchmark results.
 */
#include "controller/report/reference.h"

#include "controller/report/advice.h"
#include "controller/report/merge_evaluations.h"
#include "controller/report/row.h"
#include "controller/report/sentences.h"
#include "protocol/base/strings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENVIRONMENT "provenance.environment."
#define SENTENCE_MAX (64 << 10)

const char *text_or_slash(const char *text)
{
	return text && *text ? text : "/";
}

bool lines_differ(const struct lines *lines, const char *path)
{
	for (size_t i = 1; i < lines->count; i++) {
		const cJSON *first = row_at(lines->rows[0], path);
		const cJSON *other = row_at(lines->rows[i], path);

		if (first != other && !cJSON_Compare(first, other, true))
			return true;
	}
	return false;
}

/* One line for each cell. */

static int by_rate(const void *a, const void *b)
{
	double x = number_at(*(const cJSON *const *)a, ROW_RATE);
	double y = number_at(*(const cJSON *const *)b, ROW_RATE);

	return (x > y) - (x < y);
}

/* The completed row of a cell with the median rate; the first row if none
 * completed.
 */
static const cJSON *middle(const cJSON **rows, size_t count)
{
	const cJSON *first = rows[0];
	size_t good = 0;

	for (size_t i = 0; i < count; i++)
		if (row_completed(rows[i]))
			rows[good++] = rows[i];
	if (!good)
		return first;
	qsort(rows, good, sizeof(const cJSON *), by_rate);
	return rows[(good - 1) / 2];
}

static bool same_cell(const cJSON *a, const cJSON *b)
{
	const char *x = row_text(a, "cell"), *y = row_text(b, "cell");

	return x && y && !strcmp(x, y);
}

static int lines_make(const cJSON *rows, struct lines *lines, struct error *err)
{
	size_t total = (size_t)cJSON_GetArraySize(rows), from = 0;
	const cJSON *row;

	lines->rows = calloc(total + 1, sizeof(const cJSON *));
	if (!lines->rows)
		return error_nomem(err, "report");
	cJSON_ArrayForEach(row, rows)
	{
		lines->rows[from++] = row;
	}
	from = 0;
	while (from < total) {
		size_t end = from + 1;

		while (end < total &&
		       same_cell(lines->rows[from], lines->rows[end]))
			end++;
		lines->rows[lines->count++] =
			middle(lines->rows + from, end - from);
		from = end;
	}
	return 0;
}

/* The row whose environment the page shows: the first that has one. */
static const cJSON *environment_row(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (row_at(lines->rows[i], "provenance.environment"))
			return lines->rows[i];
	return lines->count ? lines->rows[0] : NULL;
}

/* Sections. */

__attribute__((format_arg(2))) static const char *say(const struct lines *lines,
						      const char *english)
{
	return phrase(lines->language, english);
}

static void put_item(struct writer *to, const char *name, const char *text)
{
	writer_printf(to, "  - %s: %s\n", name, text_or_slash(text));
}

struct fact {
	const char *name;
	const char *path;
	const char *other; /* used if there is nothing at `path`; NULL: none */
};

static void put_facts(struct writer *to, const struct lines *lines,
		      const struct fact *facts)
{
	const cJSON *row = environment_row(lines);

	for (; facts->name; facts++) {
		const char *text = row_text(row, facts->path);

		if (!text && facts->other)
			text = row_text(row, facts->other);
		put_item(to, say(lines, facts->name), text);
	}
}

static void put_environment(struct writer *to, const struct lines *lines)
{
	static const struct fact hardware[] = {
		{ "Machine", ENVIRONMENT "machine", NULL },
		{ "Accelerator", ENVIRONMENT "accelerator", "setup.chip" },
		{ "CPU", ENVIRONMENT "cpu", "provenance.cpu" },
		{ "Network between nodes, bandwidth", ENVIRONMENT "network",
		  NULL },
		{ NULL, NULL, NULL },
	};
	static const struct fact software[] = {
		{ "OS", ENVIRONMENT "os", "provenance.os" },
		{ "OS kernel", ENVIRONMENT "kernel", "provenance.kernel" },
		{ "Accelerator driver", ENVIRONMENT "driver",
		  "provenance.driver" },
		{ "Container engine", ENVIRONMENT "engine",
		  "provenance.engine" },
		{ "Training framework", "setup.about.framework",
		  "setup.framework" },
		{ "Accelerator SDK", ENVIRONMENT "sdk", NULL },
		{ NULL, NULL, NULL },
	};

	writer_printf(to, "#### %s\n\n- ##### %s\n", say(lines, "Environment"),
		      say(lines, "Hardware"));
	put_facts(to, lines, hardware);
	writer_printf(to, "\n- ##### %s\n", say(lines, "Software"));
	put_facts(to, lines, software);
}

static bool any_above_1(const struct lines *lines, const char *path)
{
	for (size_t i = 0; i < lines->count; i++)
		if (number_at(lines->rows[i], path) > 1)
			return true;
	return false;
}

bool lines_spread(const struct lines *lines)
{
	return any_above_1(lines, "setup.layout.tp") ||
	       any_above_1(lines, "setup.layout.pp") ||
	       any_above_1(lines, "setup.layout.cp") ||
	       any_above_1(lines, "setup.layout.ep");
}

static bool any_sharded(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (row_text(lines->rows[i], "setup.layout.stage"))
			return true;
	return any_above_1(lines, "setup.layout.sharding");
}

/* "tensor, pipeline, data parallel" */
static void put_technique(struct writer *to, const struct lines *lines)
{
	static const struct {
		const char *path;
		const char *name;
	} parts[] = {
		{ "setup.layout.tp", "tensor" },
		{ "setup.layout.pp", "pipeline" },
		{ "setup.layout.cp", "context" },
		{ "setup.layout.ep", "expert" },
	};
	char names[160] = "";

	if (!lines_spread(lines)) {
		put_item(to, say(lines, "Technique"),
			 any_sharded(lines) ? "sharded data parallel"
					    : "data parallel");
		return;
	}
	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
		if (any_above_1(lines, parts[p].path))
			text_append(names, sizeof(names), "%s%s",
				    say(lines, parts[p].name),
				    say(lines, ", "));
	text_append(names, sizeof(names), "%s", say(lines, "data"));
	writer_printf(to, "  - %s: ", say(lines, "Technique"));
	writer_printf(to, say(lines, "%s parallel"), names);
	writer_raw(to, "\n");
}

/* "ZeRO-DP O2, DP_SIZE=16", or the layout of the rows. */
static void put_detail(struct writer *to, const struct lines *lines)
{
	const cJSON *row = lines->rows[0];
	const char *stage = row_text(row, "setup.layout.stage");
	char text[LAYOUT_TEXT], detail[160];

	snprintf(detail, sizeof(detail), "%s%.8s%sDP_SIZE=%.0f",
		 stage ? "ZeRO-DP O" : "", stage ? stage : "",
		 stage ? ", " : "", number_at(row, "setup.layout.data"));
	if (lines_spread(lines))
		snprintf(detail, sizeof(detail), "%s%s", layout_text(row, text),
			 lines_differ(lines, "setup.layout") ? " ..." : "");
	put_item(to, say(lines, "In detail"), detail);
}

static void put_parallel(struct writer *to, const struct lines *lines)
{
	const char *made =
		row_text(lines->rows[0], "setup.about.optimizations");

	writer_printf(to, "\n- ##### %s\n", say(lines, "Parallelism"));
	put_technique(to, lines);
	put_item(to, say(lines, "By"),
		 row_text(lines->rows[0], "setup.framework"));
	put_detail(to, lines);
	if (made)
		writer_printf(to, "\n- ##### %s\n  - %s\n",
			      say(lines, "Optimisation"), text_or_slash(made));
}

/* The numbers of the rows that have the value, "1, 2, 3"; returns how many. */
static size_t same_rows(const struct lines *lines, const char *path,
			double value, char *text, size_t size)
{
	size_t same = 0;

	for (size_t i = 0; i < lines->count; i++) {
		if (number_at(lines->rows[i], path) != value)
			continue;
		same++;
		if (strlen(text) < size - 16)
			text_append(text, size, "%s%zu",
				    *text ? say(lines, ", ") : "", i + 1);
		else if (text[strlen(text) - 1] != '.')
			text_append(text, size, " ...");
	}
	return same;
}

static bool has_above(const struct lines *lines, size_t line, const char *path,
		      double value)
{
	for (size_t i = 0; i < line; i++)
		if (number_at(lines->rows[i], path) == value)
			return true;
	return false;
}

/* "8", or where the rows differ "8 (rows 1, 2, 3), 64 (row 4)". */
static void put_values(struct writer *to, const struct lines *lines,
		       const char *path)
{
	for (size_t i = 0; i < lines->count; i++) {
		double value = number_at(lines->rows[i], path);
		char rows[64] = "", number[32] = "/";
		size_t same;

		if (has_above(lines, i, path, value))
			continue;
		if (i)
			writer_raw(to, say(lines, ", "));
		if (value)
			snprintf(number, sizeof(number), "%.0f", value);
		same = same_rows(lines, path, value, rows, sizeof(rows));
		if (same == lines->count)
			writer_raw(to, number);
		else
			writer_printf(to,
				      same > 1 ? say(lines, "%s (rows %s)")
					       : say(lines, "%s (row %s)"),
				      number, rows);
	}
}

static void put_batch(struct writer *to, const struct lines *lines)
{
	static const struct {
		const char *name;
		const char *path;
	} parts[] = {
		{ "local batch size (micro batch size), LBS: the samples that "
		  "enter the model at once on one device; here ",
		  "setup.micro_batch" },
		{ "sequence length (max position embedding), MPE: the tokens "
		  "of one sample; here ",
		  "setup.sequence" },
		{ "gradient accumulation steps, GAS: micro steps per step of "
		  "the optimizer; here ",
		  "setup.accumulate" },
		{ "global batch size, GBS = LBS × GAS × data parallel size; "
		  "here ",
		  "setup.global_batch" },
	};

	writer_printf(to, "\n### %s\n\n* %s\n", say(lines, "Run"),
		      say(lines, "Batch"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		writer_printf(to, "  %zu. ", i + 1);
		writer_raw(to, say(lines, parts[i].name));
		put_values(to, lines, parts[i].path);
		writer_raw(to, "\n");
	}
}

static void put_indicator(struct writer *to, const struct lines *lines,
			  const char *name, const char *value,
			  const char *remark)
{
	writer_raw(to, "| ");
	writer_raw(to, say(lines, name));
	writer_raw(to, " | ");
	writer_raw(to, say(lines, value));
	writer_raw(to, " | ");
	writer_raw(to, say(lines, remark));
	writer_raw(to, " |\n");
}

static void put_indicator_of(struct writer *to, const struct lines *lines,
			     const char *name, const char *value)
{
	writer_printf(to, "| %s | %s |  |\n", say(lines, name),
		      text_or_slash(value));
}

/* "nvidia H800" */
static void device_name(const struct lines *lines, char *name, size_t size)
{
	const cJSON *row = lines->rows[0];
	const char *vendor = row_text(row, "setup.vendor");
	char chip[CHIP_TEXT] = "";

	if (row_text(row, "setup.chip"))
		chip_text(row, chip);
	snprintf(name, size, "%.64s%s%s", vendor ? vendor : "",
		 *chip && vendor ? " " : "", chip);
}

static void put_general(struct writer *to, const struct lines *lines)
{
	const cJSON *first = lines->rows[0];
	const char *formula =
		row_text(environment_row(lines), "result.mfu_formula");
	char name[160];

	writer_printf(to, "\n* %s\n\n", say(lines, "General"));
	writer_raw(to, say(lines, "| what | value | remark |"));
	writer_raw(to, "\n| --- | --- | --- |\n");
	put_indicator_of(to, lines, "task",
			 row_text(first, "setup.about.task"));
	put_indicator_of(to, lines, "model", row_text(first, "setup.model"));
	put_indicator_of(to, lines, "data set",
			 row_text(first, "setup.about.dataset"));
	if (lines_differ(lines, "setup.precision"))
		put_indicator(to, lines, "precision",
			      "precision, see performance",
			      "fp32, amp, fp16 or bf16");
	else
		put_indicator_of(to, lines, "precision",
				 row_text(first, "setup.precision"));
	if (lines_spread(lines))
		put_indicator(to, lines, "changed settings",
			      "parallel, see performance",
			      "as TPxPPyDPz, such as TP2PP1DP4");
	put_indicator(to, lines, "changed settings", "fix_hp, see performance",
		      "settings that differ from the first row");
	device_name(lines, name, sizeof(name));
	put_indicator_of(to, lines, "device", name);
	put_indicator(to, lines, "device memory", "mem, see performance",
		      "used/total, GiB");
	writer_printf(to, "| %s | %s | ", say(lines, "compute utilisation"),
		      say(lines, "MFU, see performance"));
	writer_printf(to, say(lines, "model FLOPs utilisation, formula %s"),
		      formula ? formula : "6N");
	writer_raw(to, " |\n");
	put_indicator(to, lines, "**throughput**",
		      "**token/p/s, see performance**",
		      "tokens per device and second");
}

/* The heading of the remarks, before the first one. */
static void put_heading(struct writer *to, const struct lines *lines, bool *any)
{
	if (!*any)
		writer_printf(to, "\n* %s\n\n", say(lines, "Remarks"));
	*any = true;
}

static bool row_has_flag(const cJSON *row, const char *text)
{
	const char *flag;

	for (size_t f = 0; (flag = row_flag(row, f)); f++)
		if (!strcmp(flag, text))
			return true;
	return false;
}

static void put_sentence(struct writer *to, const struct lines *lines,
			 const char *sentence)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, SENTENCE_MAX);
	sentence_put(sentence, lines->language, &text, &to->failure);
	writer_text(to, text_or_slash(text.data));
}

/* What to do, if this is the first row of its class. */
static void put_advice(struct writer *to, const struct lines *lines,
		       size_t line, enum failure failure)
{
	const char *todo = failure_advice(failure);
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, SENTENCE_MAX);
	for (size_t i = 0; i < line; i++)
		if (failure_from(row_text(lines->rows[i], "failure")) ==
		    failure)
			return;
	if (!todo)
		return;
	sentence_put(todo, lines->language, &text, &to->failure);
	writer_raw(to, say(lines, ". To do: "));
	writer_raw(to, text.data);
}

/* "3: oom: the sentence. To do: a smaller batch" */
static void put_failure(struct writer *to, const struct lines *lines,
			size_t line, const char *text)
{
	enum failure failure =
		failure_from(row_text(lines->rows[line], "failure"));

	writer_printf(to, "  - %zu%s", line + 1, say(lines, ": "));
	if (failure) {
		writer_raw(to, say(lines, failure_name(failure)));
		writer_raw(to, say(lines, ": "));
	}
	put_sentence(to, lines, text);
	put_advice(to, lines, line, failure);
	writer_raw(to, "\n");
}

/* "1, 2: the flag": once, with all the rows that have it. */
static void put_flag(struct writer *to, const struct lines *lines, size_t line,
		     const char *text)
{
	writer_printf(to, "  - %zu", line + 1);
	for (size_t i = line + 1; i < lines->count; i++)
		if (row_has_flag(lines->rows[i], text))
			writer_printf(to, "%s%zu", say(lines, ", "), i + 1);
	writer_raw(to, say(lines, ": "));
	put_sentence(to, lines, text);
	writer_raw(to, "\n");
}

static bool flagged_above(const struct lines *lines, size_t line,
			  const char *text)
{
	for (size_t i = 0; i < line; i++)
		if (row_has_flag(lines->rows[i], text))
			return true;
	return false;
}

static void put_remarks(struct writer *to, const struct lines *lines)
{
	bool any = false;

	if (cJSON_IsTrue(
		    row_at(environment_row(lines), ENVIRONMENT "simulated"))) {
		put_heading(to, lines, &any);
		writer_printf(to, "  - %s\n",
			      say(lines,
				  "The accelerators of these runs were "
				  "simulated: recorded output was replayed, "
				  "and "
				  "the figures do not describe real "
				  "hardware."));
	}
	for (size_t i = 0; i < lines->count; i++) {
		const cJSON *row = lines->rows[i];
		const char *text = row_text(row, "text"), *flag;

		if (!row_completed(row) && text) {
			put_heading(to, lines, &any);
			put_failure(to, lines, i, text);
		}
		for (size_t f = 0; (flag = row_flag(row, f)); f++)
			if (!flagged_above(lines, i, flag)) {
				put_heading(to, lines, &any);
				put_flag(to, lines, i, flag);
			}
	}
}

static void put_page(struct writer *to, const struct lines *lines)
{
	char name[160];

	device_name(lines, name, sizeof(name));
	writer_raw(to, "### ");
	writer_printf(to, say(lines, "%s: configuration and results"), name);
	writer_raw(to, "\n\n");
	put_environment(to, lines);
	put_parallel(to, lines);
	put_batch(to, lines);
	put_general(to, lines);
	writer_printf(to, "\n* %s\n\n", say(lines, "Performance"));
	reference_table(to, lines);
	put_remarks(to, lines);
}

int report_reference(const cJSON *rows, enum language language,
		     struct buffer *out, struct error *err)
{
	struct lines lines = { .language = language };
	struct writer to;
	cJSON *merged;

	if (rows_check(rows, err) < 0)
		return -1;
	if (!cJSON_GetArraySize(rows))
		return error_set(err, EINVAL, "report: the sweep has no rows");
	merged = rows_merge_evaluations(rows, err);
	if (!merged)
		return -1;
	writer_init(&to, out, markdown_text);
	if (lines_make(merged, &lines, &to.failure) == 0)
		put_page(&to, &lines);
	free(lines.rows);
	cJSON_Delete(merged);
	return writer_end(&to, err);
}
