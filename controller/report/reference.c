/* reference.c - the page of published benchmark results, from a sweep's rows.
 */
#include "controller/report/reference.h"
#include "controller/report/advice.h"

#include "controller/report/merge_evaluations.h"
#include "controller/report/row.h"
#include "controller/report/sentences.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENVIRONMENT "provenance.environment."
#define SENTENCE_MAX (64 << 10)

int cell_text(struct buffer *out, const char *text, struct error *err)
{
	return markdown_text(out, text && *text ? text : "/", err);
}

bool lines_spread(const struct lines *lines)
{
	static const char *const degrees[] = { "setup.layout.tp",
					       "setup.layout.pp",
					       "setup.layout.cp",
					       "setup.layout.ep" };

	for (size_t i = 0; i < lines->count; i++)
		for (size_t d = 0; d < sizeof(degrees) / sizeof(degrees[0]);
		     d++)
			if (number_at(lines->rows[i], degrees[d]) > 1)
				return true;
	return false;
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
	static const char rate[] = "result.tokens_per_second_per_device";
	double x = number_at(*(const cJSON *const *)a, rate);
	double y = number_at(*(const cJSON *const *)b, rate);

	return (x > y) - (x < y);
}

/* Of the rows of one cell, the completed one with the median rate; the first
 * row when none completed.
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
		lines->rows[lines->count++] = row;
	}
	lines->count = 0;
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

/* The row that tells of the environment: one that ran. */
static const cJSON *witness(const struct lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		if (row_at(lines->rows[i], "provenance.environment"))
			return lines->rows[i];
	return lines->count ? lines->rows[0] : NULL;
}

/* Sections. */

static int put_item(struct buffer *out, const struct lines *lines,
		    enum phrase name, const char *text, struct error *err)
{
	if (buffer_printf(out, err, "  - %s: ", phrase(lines->language, name)) <
		    0 ||
	    cell_text(out, text, err) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

struct fact {
	enum phrase name;
	const char *path;
	const char *other; /* where the first says nothing */
};

static int put_facts(struct buffer *out, const struct lines *lines,
		     const struct fact *facts, size_t count, struct error *err)
{
	const cJSON *row = witness(lines);

	for (size_t i = 0; i < count; i++) {
		const char *text = row_text(row, facts[i].path);

		if (!text && facts[i].other)
			text = row_text(row, facts[i].other);
		if (put_item(out, lines, facts[i].name, text, err) < 0)
			return -1;
	}
	return 0;
}

static int put_environment(struct buffer *out, const struct lines *lines,
			   struct error *err)
{
	static const struct fact hardware[] = {
		{ PHRASE_MACHINE, ENVIRONMENT "machine", NULL },
		{ PHRASE_ACCELERATOR, ENVIRONMENT "accelerator", "setup.chip" },
		{ PHRASE_CPU, ENVIRONMENT "cpu", "provenance.cpu" },
		{ PHRASE_NETWORK, ENVIRONMENT "network", NULL },
	};
	static const struct fact software[] = {
		{ PHRASE_OS, ENVIRONMENT "os", "provenance.os" },
		{ PHRASE_KERNEL, ENVIRONMENT "kernel", "provenance.kernel" },
		{ PHRASE_DRIVER, ENVIRONMENT "driver", "provenance.driver" },
		{ PHRASE_DOCKER, ENVIRONMENT "engine", "provenance.engine" },
		{ PHRASE_FRAMEWORK, "setup.about.framework",
		  "setup.framework" },
		{ PHRASE_SDK, ENVIRONMENT "sdk", NULL },
	};
	enum language language = lines->language;

	if (buffer_printf(out, err, "#### %s\n\n- ##### %s\n",
			  phrase(language, PHRASE_ENVIRONMENT),
			  phrase(language, PHRASE_HARDWARE)) < 0 ||
	    put_facts(out, lines, hardware,
		      sizeof(hardware) / sizeof(hardware[0]), err) < 0 ||
	    buffer_printf(out, err, "\n- ##### %s\n",
			  phrase(language, PHRASE_SOFTWARE)) < 0)
		return -1;
	return put_facts(out, lines, software,
			 sizeof(software) / sizeof(software[0]), err);
}

/* "tensor, pipeline, data parallel" */
static int put_technique(struct buffer *out, const struct lines *lines,
			 struct error *err)
{
	static const struct {
		const char *path;
		enum phrase name;
	} parts[] = {
		{ "setup.layout.tp", PHRASE_TENSOR },
		{ "setup.layout.pp", PHRASE_PIPELINE },
		{ "setup.layout.cp", PHRASE_CONTEXT },
		{ "setup.layout.ep", PHRASE_EXPERT },
	};
	enum language language = lines->language;
	const char *join = phrase(language, PHRASE_JOIN);
	bool sharded = false;
	char names[160] = "";
	size_t used = 0;

	for (size_t i = 0; i < lines->count; i++)
		sharded |= number_at(lines->rows[i], "setup.layout.sharding") >
				   1 ||
			   row_text(lines->rows[i], "setup.layout.stage");
	if (!lines_spread(lines))
		return put_item(out, lines, PHRASE_TECHNIQUE,
				phrase(language,
				       sharded ? PHRASE_TECHNIQUE_SHARDED
					       : PHRASE_TECHNIQUE_DATA),
				err);
	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
		for (size_t i = 0; i < lines->count; i++)
			if (number_at(lines->rows[i], parts[p].path) > 1) {
				used += (size_t)snprintf(names + used,
							 sizeof(names) - used,
							 "%s%s",
							 phrase(language,
								parts[p].name),
							 join);
				break;
			}
	snprintf(names + used, sizeof(names) - used, "%s",
		 phrase(language, PHRASE_AND_DATA));
	if (buffer_printf(out, err,
			  "  - %s: ", phrase(language, PHRASE_TECHNIQUE)) < 0 ||
	    buffer_printf(out, err, phrase(language, PHRASE_TECHNIQUE_MODEL),
			  names) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

/* "ZeRO-DP O2, DP_SIZE=16", or the layout of the rows. */
static int put_detail(struct buffer *out, const struct lines *lines,
		      struct error *err)
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
	return put_item(out, lines, PHRASE_DETAIL, detail, err);
}

static int put_parallel(struct buffer *out, const struct lines *lines,
			struct error *err)
{
	const char *made =
		row_text(lines->rows[0], "setup.about.optimizations");

	if (buffer_printf(out, err, "\n- ##### %s\n",
			  phrase(lines->language, PHRASE_PARALLEL)) < 0 ||
	    put_technique(out, lines, err) < 0 ||
	    put_item(out, lines, PHRASE_IMPLEMENTER,
		     row_text(lines->rows[0], "setup.framework"), err) < 0 ||
	    put_detail(out, lines, err) < 0)
		return -1;
	if (!made)
		return 0;
	if (buffer_printf(out, err, "\n- ##### %s\n  - ",
			  phrase(lines->language, PHRASE_OPTIMIZATIONS)) < 0 ||
	    cell_text(out, made, err) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

/* "8", or where the rows differ "8 (rows 1, 2, 3), 64 (row 4)". */
static int put_values(const struct lines *lines, const char *path,
		      struct buffer *out, struct error *err)
{
	const char *join = phrase(lines->language, PHRASE_JOIN);
	size_t start = out->size;

	for (size_t i = 0; i < lines->count; i++) {
		double value = number_at(lines->rows[i], path);
		char rows[64] = "";
		size_t used = 0, same = 0;
		bool before = false;

		for (size_t k = 0; k < lines->count; k++) {
			if (number_at(lines->rows[k], path) != value)
				continue;
			before |= k < i;
			same++;
			if (used < sizeof(rows) - 16)
				used += (size_t)snprintf(rows + used,
							 sizeof(rows) - used,
							 "%s%zu",
							 used ? join : "",
							 k + 1);
			else if (rows[used - 1] != '.')
				used += (size_t)snprintf(rows + used,
							 sizeof(rows) - used,
							 " ...");
		}
		if (before)
			continue;
		if (out->size > start && buffer_text(out, join, err) < 0)
			return -1;
		if (!lines_differ(lines, path))
			return value ? buffer_printf(out, err, "%.0f", value)
				     : buffer_text(out, "/", err);
		{
			char number[32] = "/";

			if (value)
				snprintf(number, sizeof(number), "%.0f", value);
			if (buffer_printf(out, err,
					  phrase(lines->language,
						 same > 1 ? PHRASE_ROWS
							  : PHRASE_ROW),
					  number, rows) < 0)
				return -1;
		}
	}
	return 0;
}

static int put_batch(struct buffer *out, const struct lines *lines,
		     struct error *err)
{
	static const struct {
		enum phrase name;
		const char *path;
	} parts[] = {
		{ PHRASE_LBS, "setup.micro_batch" },
		{ PHRASE_MPE, "setup.sequence" },
		{ PHRASE_GAS, "setup.accumulate" },
		{ PHRASE_GBS, "setup.global_batch" },
	};

	if (buffer_printf(out, err, "\n### %s\n\n* %s\n",
			  phrase(lines->language, PHRASE_RUN),
			  phrase(lines->language, PHRASE_BATCH)) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		owned(buffer_clear) struct buffer values;

		buffer_init(&values, 4096);
		if (put_values(lines, parts[i].path, &values, err) < 0 ||
		    buffer_printf(out, err, "  %zu. ", i + 1) < 0 ||
		    buffer_printf(out, err,
				  phrase(lines->language, parts[i].name),
				  values.data) < 0 ||
		    buffer_text(out, "\n", err) < 0)
			return -1;
	}
	return 0;
}

static int put_general_row(struct buffer *out, const struct lines *lines,
			   enum phrase name, const char *value,
			   const char *remark, struct error *err)
{
	if (buffer_printf(out, err, "| %s | ", phrase(lines->language, name)) <
		    0 ||
	    buffer_text(out, value ? value : "/", err) < 0)
		return -1;
	return buffer_printf(out, err, " | %s |\n", remark);
}

static int put_general_text(struct buffer *out, const struct lines *lines,
			    enum phrase name, const char *path,
			    struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, 65536);
	if (cell_text(&text, row_text(lines->rows[0], path), err) < 0)
		return -1;
	return put_general_row(out, lines, name, text.data, "", err);
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

static int put_general_device(struct buffer *out, const struct lines *lines,
			      struct error *err)
{
	owned(buffer_clear) struct buffer text;
	char name[160];

	device_name(lines, name, sizeof(name));
	buffer_init(&text, 4096);
	if (cell_text(&text, name, err) < 0)
		return -1;
	return put_general_row(out, lines, PHRASE_DEVICE, text.data, "", err);
}

static int put_general(struct buffer *out, const struct lines *lines,
		       struct error *err)
{
	static const struct {
		enum phrase name, value, remark;
		bool spread; /* only where a model is spread */
	} seen[] = {
		{ PHRASE_CHANGES, PHRASE_SEE_LAYOUT, PHRASE_LAYOUT_NOTE, true },
		{ PHRASE_CHANGES, PHRASE_SEE_CHANGES, PHRASE_CHANGES_NOTE,
		  false },
	};
	enum language language = lines->language;
	const char *formula = row_text(witness(lines), "result.mfu_formula");
	char note[160];

	snprintf(note, sizeof(note), phrase(language, PHRASE_UTILISATION_NOTE),
		 formula ? formula : "6N");
	if (buffer_printf(out, err, "\n* %s\n\n%s\n| --- | --- | --- |\n",
			  phrase(language, PHRASE_GENERAL),
			  phrase(language, PHRASE_GENERAL_HEAD)) < 0 ||
	    put_general_text(out, lines, PHRASE_TASK, "setup.about.task", err) <
		    0 ||
	    put_general_text(out, lines, PHRASE_MODEL, "setup.model", err) <
		    0 ||
	    put_general_text(out, lines, PHRASE_DATASET, "setup.about.dataset",
			     err) < 0)
		return -1;
	if (lines_differ(lines, "setup.precision")
		    ? put_general_row(out, lines, PHRASE_PRECISION,
				      phrase(language, PHRASE_SEE_PRECISION),
				      phrase(language, PHRASE_PRECISION_NOTE),
				      err) < 0
		    : put_general_text(out, lines, PHRASE_PRECISION,
				       "setup.precision", err) < 0)
		return -1;
	for (size_t i = 0; i < sizeof(seen) / sizeof(seen[0]); i++)
		if ((!seen[i].spread || lines_spread(lines)) &&
		    put_general_row(out, lines, seen[i].name,
				    phrase(language, seen[i].value),
				    phrase(language, seen[i].remark), err) < 0)
			return -1;
	if (put_general_device(out, lines, err) < 0 ||
	    put_general_row(out, lines, PHRASE_MEMORY,
			    phrase(language, PHRASE_SEE_MEMORY),
			    phrase(language, PHRASE_MEMORY_NOTE), err) < 0 ||
	    put_general_row(out, lines, PHRASE_UTILISATION,
			    phrase(language, PHRASE_SEE_UTILISATION), note,
			    err) < 0)
		return -1;
	return put_general_row(out, lines, PHRASE_THROUGHPUT,
			       phrase(language, PHRASE_SEE_THROUGHPUT),
			       phrase(language, PHRASE_THROUGHPUT_NOTE), err);
}

static int put_remark(struct buffer *out, const struct lines *lines, bool *any,
		      struct error *err)
{
	if (*any)
		return 0;
	*any = true;
	return buffer_printf(out, err, "\n* %s\n\n",
			     phrase(lines->language, PHRASE_REMARKS));
}

/* Has a row above this one the flag, too? */
static bool flagged_above(const struct lines *lines, size_t line,
			  const char *text)
{
	for (size_t i = 0; i < line; i++) {
		const char *flag;

		for (size_t f = 0; (flag = row_flag(lines->rows[i], f)); f++)
			if (!strcmp(flag, text))
				return true;
	}
	return false;
}

static int put_sentence(struct buffer *out, const struct lines *lines,
			const char *sentence, struct error *err)
{
	owned(buffer_clear) struct buffer text;

	buffer_init(&text, SENTENCE_MAX);
	return sentence_put(sentence, lines->language, &text, err) < 0
		       ? -1
		       : cell_text(out, text.size ? text.data : "", err);
}

/* What to do, if this is the first row of its class. */
static int put_advice(struct buffer *out, const struct lines *lines,
		      size_t line, enum failure failure, struct error *err)
{
	const char *todo = failure_advice(failure, lines->language);

	for (size_t i = 0; i < line; i++)
		if (failure_from(row_text(lines->rows[i], "failure")) ==
		    failure)
			return 0;
	return todo ? buffer_printf(out, err,
				    phrase(lines->language, PHRASE_TODO), todo)
		    : 0;
}

/* "3: oom: the sentence. To do: a smaller batch" */
static int put_failure(struct buffer *out, const struct lines *lines,
		       size_t line, const char *text, struct error *err)
{
	enum failure failure =
		failure_from(row_text(lines->rows[line], "failure"));

	if (buffer_printf(out, err, "  - %zu%s", line + 1,
			  phrase(lines->language, PHRASE_COLON)) < 0 ||
	    (failure &&
	     buffer_printf(out, err, phrase(lines->language, PHRASE_CLASS),
			   failure_class(failure, lines->language)) < 0) ||
	    put_sentence(out, lines, text, err) < 0 ||
	    put_advice(out, lines, line, failure, err) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

/* "1, 2: the flag": once, with all the rows that have it. */
static int put_flag(struct buffer *out, const struct lines *lines, size_t line,
		    const char *text, struct error *err)
{
	if (buffer_printf(out, err, "  - %zu", line + 1) < 0)
		return -1;
	for (size_t i = line + 1; i < lines->count; i++) {
		const char *flag;

		for (size_t f = 0; (flag = row_flag(lines->rows[i], f)); f++)
			if (!strcmp(flag, text) &&
			    buffer_printf(out, err, "%s%zu",
					  phrase(lines->language, PHRASE_JOIN),
					  i + 1) < 0)
				return -1;
	}
	if (buffer_text(out, phrase(lines->language, PHRASE_COLON), err) < 0 ||
	    put_sentence(out, lines, text, err) < 0)
		return -1;
	return buffer_text(out, "\n", err);
}

static int put_remarks(struct buffer *out, const struct lines *lines,
		       struct error *err)
{
	const cJSON *simulated =
		row_at(witness(lines), ENVIRONMENT "simulated");
	bool any = false;

	if (cJSON_IsTrue(simulated) &&
	    (put_remark(out, lines, &any, err) < 0 ||
	     buffer_printf(out, err, "  - %s\n",
			   phrase(lines->language, PHRASE_SIMULATED)) < 0))
		return -1;
	for (size_t i = 0; i < lines->count; i++) {
		const cJSON *row = lines->rows[i];
		const char *text = row_text(row, "text"), *flag;

		if (!row_completed(row) && text &&
		    (put_remark(out, lines, &any, err) < 0 ||
		     put_failure(out, lines, i, text, err) < 0))
			return -1;
		for (size_t f = 0; (flag = row_flag(row, f)); f++)
			if (!flagged_above(lines, i, flag) &&
			    (put_remark(out, lines, &any, err) < 0 ||
			     put_flag(out, lines, i, flag, err) < 0))
				return -1;
	}
	return 0;
}

static int put_title(struct buffer *out, const struct lines *lines,
		     struct error *err)
{
	char name[160];

	device_name(lines, name, sizeof(name));
	if (buffer_text(out, "### ", err) < 0 ||
	    buffer_printf(out, err, phrase(lines->language, PHRASE_TITLE),
			  name) < 0)
		return -1;
	return buffer_text(out, "\n\n", err);
}

static int put_page(struct buffer *out, const struct lines *lines,
		    struct error *err)
{
	if (put_title(out, lines, err) < 0 ||
	    put_environment(out, lines, err) < 0 ||
	    put_parallel(out, lines, err) < 0 ||
	    put_batch(out, lines, err) < 0 ||
	    put_general(out, lines, err) < 0 ||
	    buffer_printf(out, err, "\n* %s\n\n",
			  phrase(lines->language, PHRASE_PERFORMANCE)) < 0 ||
	    reference_table(lines, out, err) < 0)
		return -1;
	return put_remarks(out, lines, err);
}

int report_reference(const cJSON *rows, enum language language,
		     struct buffer *out, struct error *err)
{
	struct lines lines = { .language = language };
	size_t size = out->size;
	cJSON *folded;
	int rc;

	if (rows_check(rows, err) < 0)
		return -1;
	if (!cJSON_GetArraySize(rows))
		return error_set(err, EINVAL, "report: the sweep has no rows");
	folded = rows_merge_evaluations(rows, err);
	rc = folded ? lines_make(folded, &lines, err) : -1;
	if (!rc && put_page(out, &lines, err) < 0)
		rc = rows_undo(out, size);
	free(lines.rows);
	cJSON_Delete(folded);
	return rc;
}
