/* requirement.c - reads and judges what the results of a sweep must reach. */
#include "controller/report/requirement.h"

#include "controller/report/figures.h"
#include "controller/report/means.h"
#include "controller/report/seal.h"
#include "controller/report/writer.h"
#include "protocol/base/nearest_word.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIGURE_NAMES_MAX 200

#define EXPECTED                                                               \
	"expected FIGURE >= NUMBER, such as 'mfu >= 40%', 'rate >= 97% of "    \
	"baseline' or 'cv <= 1%'"

/* Reading. */

static int requirement_invalid(const char *text, struct error *err)
{
	return error_set(err, EINVAL, "'%.80s' is not valid here; %s", text,
			 EXPECTED);
}

static const struct report_figure *figure_named(const char *name)
{
	const struct report_figure *figure;

	for (size_t i = 0; (figure = figure_at(i)); i++)
		if (figure->name && !strcmp(figure->name, name))
			return figure;
	return NULL;
}

static bool is_a_number(const struct report_figure *figure)
{
	enum field_kind kind = figure->member.field.kind;

	if (figure->rate)
		return !figure->is_unit;
	return !figure->time &&
	       (kind == FIELD_U32 || kind == FIELD_U64 || kind == FIELD_DOUBLE);
}

/* What a name that no run has may stand for; NULL: nothing. */
static const char *nearest_subject(const char *name)
{
	const char *names[FIGURE_NAMES_MAX] = { "cv", "failed" };
	const struct report_figure *figure;
	size_t count = 2;

	for (size_t i = 0; (figure = figure_at(i)); i++)
		if (figure->name && is_a_number(figure) &&
		    count < FIGURE_NAMES_MAX - 1)
			names[count++] = figure->name;
	return nearest_word(name, names);
}

static int read_subject(struct requirement *to, struct error *err)
{
	to->figure = figure_named(to->name);
	to->subject = to->figure                    ? REQUIRE_FIGURE
		      : !strcmp(to->name, "cv")     ? REQUIRE_CV
		      : !strcmp(to->name, "failed") ? REQUIRE_FAILED
						    : REQUIRE_METRIC;
	if (to->figure && !is_a_number(to->figure))
		return error_set(err, EINVAL, "'%.80s': %.40s is no number; %s",
				 to->text, to->name, EXPECTED);
	return 0;
}

/* The number, and what stands behind it. */
static int read_number(struct requirement *to, const char *text,
		       struct error *err)
{
	bool share = to->figure && to->figure->scale == 100;
	const char *near = to->subject == REQUIRE_METRIC
				   ? nearest_subject(to->name)
				   : NULL;
	char *end;
	bool percent;

	to->number = strtod(text, &end);
	if (end == text || !isfinite(to->number))
		return requirement_invalid(to->text, err);
	end += strspn(end, " ");
	percent = *end == '%';
	end += percent;
	end += strspn(end, " ");
	to->of_baseline = !strcmp(end, "of baseline");
	if (*end && !to->of_baseline)
		return requirement_invalid(to->text, err);
	if (to->of_baseline &&
	    (to->subject == REQUIRE_CV || to->subject == REQUIRE_FAILED))
		return error_set(err, EINVAL,
				 "'%.80s': %s is not compared with a baseline",
				 to->text, to->name);
	if (percent && !to->of_baseline && !share && to->subject != REQUIRE_CV)
		return error_set(err, EINVAL,
				 "'%.80s': %.40s is no share; expected a plain "
				 "number, or '%% of baseline'%s%s%s",
				 to->text, to->name,
				 near ? "; did you mean '" : "",
				 near ? near : "", near ? "'?" : "");
	if (percent && (to->of_baseline || share))
		to->number /= 100;
	return 0;
}

int requirement_parse(const char *text, struct requirement *to,
		      struct error *err)
{
	const char *at;
	size_t size;

	*to = (struct requirement){ .subject = REQUIRE_FIGURE };
	text += strspn(text, " ");
	if (strlen(text) >= sizeof(to->text))
		return error_set(err, EINVAL,
				 "'%.40s...' has %zu bytes; expected at most "
				 "%zu",
				 text, strlen(text), sizeof(to->text) - 1);
	snprintf(to->text, sizeof(to->text), "%s", text);
	if (!strcmp(text, "sealed")) {
		to->subject = REQUIRE_SEALED;
		return 0;
	}
	size = strcspn(text, " <>=");
	at = text + size + strspn(text + size, " ");
	if (!size || (*at != '<' && *at != '>'))
		return requirement_invalid(text, err);
	snprintf(to->name, sizeof(to->name), "%.*s", (int)size, text);
	to->least = *at++ == '>';
	to->equal = *at == '=';
	at += to->equal;
	at += strspn(at, " ");
	return read_subject(to, err) < 0 ? -1 : read_number(to, at, err);
}

/* Judging. */

static bool requirement_holds(const struct requirement *of, double number)
{
	if (of->equal && number == of->number)
		return true;
	return of->least ? number > of->number : number < of->number;
}

static double run_number(const struct requirement *of,
			 const struct report_row *run)
{
	if (!row_completed(run))
		return NAN;
	return of->subject == REQUIRE_METRIC
		       ? row_metric(run, of->name)
		       : figure_datum(of->figure, run).number;
}

/* The runs of a cell. */
struct cell_runs {
	const struct report_row *runs;
	size_t count;
};

/* Of runs of one unit, if it is the rate. */
static struct mean runs_mean(const struct requirement *of,
			     const struct cell_runs *cell, uint32_t *unit)
{
	bool rate = of->figure && of->figure->rate;
	struct mean mean = { 0 };

	for (size_t i = 0; i < cell->count; i++) {
		double number = run_number(of, &cell->runs[i]);
		uint32_t own = row_rate(&cell->runs[i]).unit;

		if (!isfinite(number) || (rate && *unit && own != *unit))
			continue;
		if (rate)
			*unit = own;
		mean_add(&mean, number);
	}
	return mean;
}

__attribute__((format(printf, 3, 4))) static void
judgement_say(struct judgement *to, enum judgement_verdict verdict,
	      const char *fmt, ...)
{
	va_list args;

	to->verdict = verdict;
	va_start(args, fmt);
	vsnprintf(to->text, sizeof(to->text), fmt, args);
	va_end(args);
}

/* low and high: of the interval; NAN: a single run. runs: how many would tell;
 * 0: too many.
 */
static void judge_interval(const struct requirement *of, double value,
			   double low, double high, uint64_t runs,
			   const char *shown, struct judgement *to)
{
	bool known = isfinite(low) && isfinite(high);
	bool first = requirement_holds(of, known ? low : value);
	bool last = requirement_holds(of, known ? high : value);

	if (first == last)
		judgement_say(to, first ? JUDGED_PASS : JUDGED_FAIL, "%s%s",
			      shown, known ? "" : " (a single run)");
	else if (runs)
		judgement_say(to, JUDGED_UNKNOWN,
			      "%s; about %llu runs would tell", shown,
			      (unsigned long long)runs);
	else
		judgement_say(to, JUDGED_UNKNOWN,
			      "%s; it is too close to tell by more runs",
			      shown);
}

/* So many digits, of a large number all before the point. */
static const char *requirement_number(double number, int digits, char text[32])
{
	bool whole = fabs(number) >= pow(10, digits) && fabs(number) < 1e15;

	if (whole)
		snprintf(text, 32, "%.0f", number);
	else
		snprintf(text, 32, "%.*g", digits, number);
	return text;
}

static void judge_value(const struct requirement *of, const struct mean *own,
			struct judgement *to)
{
	double margin = mean_margin(own);
	bool share = of->figure && of->figure->scale == 100;
	double scale = share ? 100 : 1;
	char shown[80], number[32], spread[32];

	snprintf(shown, sizeof(shown), "%s%s%s%s",
		 requirement_number(own->value * scale, 5, number),
		 isfinite(margin) ? " ± " : "",
		 isfinite(margin)
			 ? requirement_number(margin * scale, 2, spread)
			 : "",
		 share ? " %" : "");
	judge_interval(of, own->value, own->value - margin, own->value + margin,
		       mean_runs_alone(mean_deviation(own),
				       fabs(own->value - of->number)),
		       shown, to);
}

static void judge_ratio(const struct requirement *of, const struct mean *own,
			const struct mean *other, struct judgement *to)
{
	struct ratio ratio = mean_ratio(own, other);
	double cv = sqrt((pow(mean_cv_percent(own) / 100, 2) +
			  pow(mean_cv_percent(other) / 100, 2)) /
			 2);
	char shown[80];
	int size = snprintf(shown, sizeof(shown), "%.2f %%", ratio.value * 100);

	if (isfinite(ratio.low))
		snprintf(shown + size, sizeof(shown) - (size_t)size, " ± %.2f",
			 (ratio.high - ratio.low) * 50);
	judge_interval(of, ratio.value, ratio.low, ratio.high,
		       mean_runs(cv, fabs(log(ratio.value / of->number))),
		       shown, to);
}

static void judge_cv(const struct requirement *of, const struct mean *rates,
		     struct judgement *to)
{
	double cv = mean_cv_percent(rates);

	if (rates->n < 2)
		judgement_say(to, JUDGED_UNKNOWN, "%s; 2 runs would tell",
			      rates->n ? "a single run has none" : "no rate");
	else
		judgement_say(to,
			      requirement_holds(of, cv) ? JUDGED_PASS
							: JUDGED_FAIL,
			      "%.2f %% of %llu runs", cv,
			      (unsigned long long)rates->n);
}

static void judge_failed(const struct requirement *of,
			 const struct cell_runs *cell, struct judgement *to)
{
	size_t failed = 0;

	for (size_t i = 0; i < cell->count; i++)
		failed += row_failed(&cell->runs[i]);
	judgement_say(to,
		      requirement_holds(of, (double)failed) ? JUDGED_PASS
							    : JUDGED_FAIL,
		      "%zu of %zu runs", failed, cell->count);
}

static void judge_sealed(const struct cell_runs *cell, struct judgement *to)
{
	char text[SEAL_TEXT];
	bool sealed = seal_tell(cell->runs, cell->count, text);

	judgement_say(to, sealed ? JUDGED_PASS : JUDGED_FAIL, "%s", text);
}

static bool any_run_completed(const struct cell_runs *cell)
{
	for (size_t i = 0; i < cell->count; i++)
		if (row_completed(&cell->runs[i]))
			return true;
	return false;
}

/* baseline: NULL: there is none. */
static void cell_judge(const struct requirement *of,
		       const struct cell_runs *cell,
		       const struct cell_runs *baseline, struct judgement *to)
{
	static const struct report_figure rate = { .rate = row_rate };
	struct requirement by_rate = *of;
	struct mean own = { 0 }, other;
	const char *near;
	uint32_t unit = RATE_NONE;

	if (of->subject == REQUIRE_CV)
		by_rate.figure = &rate;
	if (of->subject == REQUIRE_FAILED) {
		judge_failed(of, cell, to);
		return;
	}
	if (of->subject == REQUIRE_SEALED && any_run_completed(cell)) {
		judge_sealed(cell, to);
		return;
	}
	if (of->subject != REQUIRE_SEALED)
		own = runs_mean(&by_rate, cell, &unit);
	if (!any_run_completed(cell)) {
		judgement_say(to, JUDGED_FAIL, "no run completed");
	} else if (of->subject == REQUIRE_CV) {
		judge_cv(of, &own, to);
	} else if (!own.n) {
		near = of->subject == REQUIRE_METRIC ? nearest_subject(of->name)
						     : NULL;
		judgement_say(to, JUDGED_UNKNOWN, "no run has this value%s%s%s",
			      near ? "; did you mean '" : "", near ? near : "",
			      near ? "'?" : "");
	} else if (!of->of_baseline) {
		judge_value(of, &own, to);
	} else if (!baseline) {
		judgement_say(to, JUDGED_UNKNOWN, "there is no baseline");
	} else if (!baseline->count) {
		judgement_say(to, JUDGED_UNKNOWN,
			      "the baseline has no such cell");
	} else {
		other = runs_mean(of, baseline, &unit);
		if (other.n)
			judge_ratio(of, &own, &other, to);
		else
			judgement_say(to, JUDGED_UNKNOWN,
				      "the baseline has no such value");
	}
}

/* The runs from this one on that are of its cell. */
static struct cell_runs cell_runs_at(const struct report_rows *rows, size_t at)
{
	size_t end = at + 1;

	while (end < rows->count && rows->items[at].info.cell &&
	       rows->items[end].info.cell &&
	       !strcmp(rows->items[at].info.cell, rows->items[end].info.cell))
		end++;
	return (struct cell_runs){ &rows->items[at], end - at };
}

/* The runs of the cell of that name; count 0: none. */
static struct cell_runs runs_find(const struct report_rows *rows,
				  const char *name)
{
	for (size_t i = 0; i < rows->count; i++)
		if (!strcmp(row_cell(&rows->items[i]), name))
			return cell_runs_at(rows, i);
	return (struct cell_runs){ NULL, 0 };
}

int requirements_judge(const struct requirement *requirements, size_t count,
		       const struct report_rows *runs,
		       const struct report_rows *baseline,
		       const char *baseline_cell, struct judgements *to,
		       struct error *err)
{
	to->items = calloc(count * runs->count + 1, sizeof(*to->items));
	if (!to->items)
		return error_nomem(err, "requirements");
	for (size_t r = 0; r < count; r++)
		for (size_t i = 0; i < runs->count;) {
			struct cell_runs cell = cell_runs_at(runs, i);
			struct cell_runs base =
				runs_find(baseline ? baseline : runs,
					  baseline_cell ? baseline_cell
							: row_cell(cell.runs));
			struct judgement *judgement = &to->items[to->count++];

			judgement->requirement = &requirements[r];
			judgement->cell = row_cell(cell.runs);
			cell_judge(&requirements[r], &cell,
				   baseline || baseline_cell ? &base : NULL,
				   judgement);
			i += cell.count;
		}
	return 0;
}

void judgements_clear(struct judgements *judgements)
{
	free(judgements->items);
	*judgements = (struct judgements){ 0 };
}

bool judgements_pass(const struct judgements *judgements)
{
	for (size_t i = 0; i < judgements->count; i++)
		if (judgements->items[i].verdict != JUDGED_PASS)
			return false;
	return judgements->count > 0;
}

/* JUnit. */

static size_t count_verdict(const struct judgements *judgements,
			    enum judgement_verdict verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < judgements->count; i++)
		count += judgements->items[i].verdict == verdict;
	return count;
}

int judgements_junit(const struct judgements *judgements, const char *name,
		     struct buffer *out, struct error *err)
{
	struct writer to;

	writer_init(&to, out, html_text);
	writer_printf(&to,
		      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		      "<testsuite name=\"%s\" tests=\"%zu\" failures=\"%zu\" "
		      "errors=\"%zu\">\n",
		      name, judgements->count,
		      count_verdict(judgements, JUDGED_FAIL),
		      count_verdict(judgements, JUDGED_UNKNOWN));
	for (size_t i = 0; i < judgements->count; i++) {
		const struct judgement *of = &judgements->items[i];

		writer_printf(&to, "<testcase classname=\"%s\" name=\"%s\">",
			      of->requirement->text,
			      *of->cell ? of->cell : "-");
		if (of->verdict == JUDGED_PASS)
			writer_printf(&to, "<system-out>%s</system-out>",
				      of->text);
		else
			writer_printf(&to,
				      of->verdict == JUDGED_FAIL
					      ? "<failure message=\"%s\"/>"
					      : "<error message=\"cannot tell: "
						"%s\"/>",
				      of->text);
		writer_raw(&to, "</testcase>\n");
	}
	writer_raw(&to, "</testsuite>\n");
	return writer_end(&to, err);
}
