/* requirement.h - reads and judges what the results of a sweep must reach:
 * "mfu >= 40%", "rate >= 97% of baseline", "cv <= 1%".
 *
 *	FIGURE OPERATOR NUMBER[%] [of baseline]
 *	sealed
 *
 * FIGURE is a column of the flat table that holds numbers (figures.h), cv (the
 * coefficient of variation of the rates, in percent), failed (failed runs), or
 * else the name of a metric. OPERATOR is one of >= <= > <. A percentage is of
 * the baseline's value, or of a figure that is a share (mfu, hfu, cv).
 *
 * Each cell is judged by the mean of its completed runs. With two or more runs
 * the whole 95 % interval of the mean (or of the ratio to the baseline) must
 * lie on one side: else it cannot be told, and the verdict says how many runs
 * would be enough. A single run is judged by its value.
 */
#pragma once

#include "controller/report/row.h"
#include "protocol/base/buffer.h"

struct report_figure;

enum requirement_subject {
	REQUIRE_FIGURE,
	REQUIRE_METRIC,
	REQUIRE_CV,
	REQUIRE_FAILED,
	REQUIRE_SEALED, /* the word alone (seal.h) */
};

#define REQUIREMENT_TEXT 160
#define REQUIREMENTS_MAX 32

struct requirement {
	char text[REQUIREMENT_TEXT];
	enum requirement_subject subject;
	const struct report_figure *figure;
	char name[REQUIREMENT_TEXT]; /* of the figure or metric */
	bool least;                  /* > or >=; else < or <= */
	bool equal;                  /* >= or <= */
	bool of_baseline;            /* number is a share of its value */
	double number;               /* in the figure's own unit, or a share */
};

/* EINVAL: the text is no requirement; the sentence says what was expected. */
int requirement_parse(const char *text, struct requirement *to,
		      struct error *err);

enum judgement_verdict { JUDGED_PASS, JUDGED_FAIL, JUDGED_UNKNOWN };

struct judgement {
	const struct requirement *requirement;
	const char *cell; /* of the runs, borrowed */
	enum judgement_verdict verdict;
	char text[420]; /* "95.1 % ± 0.4 of the baseline" */
};

struct judgements {
	struct judgement *items; /* by requirement, then cell */
	size_t count;
};
void judgements_clear(struct judgements *judgements);
OWNED_VALUE(struct judgements, judgements_clear)

/* Judge every cell of these runs by each requirement. baseline: the runs of
 * another sweep, whose cells with the same words are meant; or with
 * `baseline_cell` the cell of these runs with this name; both NULL:
 * none, and requirements of a baseline cannot be told. The caller clears *to,
 * also after a failure: ENOMEM.
 */
int requirements_judge(const struct requirement *requirements, size_t count,
		       const struct report_rows *runs,
		       const struct report_rows *baseline,
		       const char *baseline_cell, struct judgements *to,
		       struct error *err);

/* Does everything pass? Nothing to judge does not. */
bool judgements_pass(const struct judgements *judgements);

/* Append them as JUnit XML: a test for each requirement and cell; what cannot
 * be told is an error. name: of the suite.
 */
int judgements_junit(const struct judgements *judgements, const char *name,
		     struct buffer *out, struct error *err);
