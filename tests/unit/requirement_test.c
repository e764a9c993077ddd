/* requirement_test.c - what results must reach, read and judged.
 */
#include "controller/report/requirement.h"
#include "tests/tap.h"
#include "tests/unit/report_rows.h"

#include <errno.h>
#include <string.h>

static const char *refusal(const char *text)
{
	static struct error err;
	struct requirement requirement;

	err = (struct error){ 0 };
	return requirement_parse(text, &requirement, &err) < 0 ? err.text
							       : "taken";
}

static void test_parse(void)
{
	static const char *const good[] = {
		"mfu >= 40%",
		"mfu >= 0.4",
		"rate >= 97% of baseline",
		"cv<=1%",
		"cv <= 1",
		"failed <= 0",
		"acc > 0.9",
		"loss_last < 2.1",
		"loss_last <= 101 % of baseline",
		"wall_s < 1e3",
		"  rate > 100",
	};
	static const struct {
		const char *text, *why;
	} bad[] = {
		{ "", "'' is not valid here; expected FIGURE >= NUMBER" },
		{ "mfu", "'mfu' is not valid here" },
		{ "mfu = 4", "'mfu = 4' is not valid here" },
		{ ">= 4", "'>= 4' is not valid here" },
		{ "mfu >= forty", "is not valid here" },
		{ "mfu >= nan", "is not valid here" },
		{ "mfu >= 4 apples", "is not valid here" },
		{ "wall_s < 5%",
		  "wall_s is no share; expected a plain number" },
		{ "mfuu >= 40%", "did you mean 'mfu'?" },
		{ "state >= 1", "state is no number" },
		{ "started_utc > 1", "started_utc is no number" },
		{ "cv <= 97% of baseline",
		  "cv is not compared with a baseline" },
	};
	char text[2 * REQUIREMENT_TEXT];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		is(refusal(good[i]), "taken", "'%s' is a requirement", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(strstr(refusal(bad[i].text), bad[i].why),
		   "'%s' is refused: %s", bad[i].text, refusal(bad[i].text));
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = 0;
	ok(strstr(refusal(text), "expected at most 159"), "so is a long text");
}

#define RUN(cell, rate, more)                                                  \
	"{\"cell\":\"" cell "\",\"state\":\"completed\",\"result\":{"          \
	"\"tokens_per_second_per_device\":" #rate more "}}"

static struct judgements judgements;

/* "pass: 100 ± 2.5" of the only cell, or of the one with this index. */
static const char *judge(const char *require, const char *runs,
			 const char *baseline, size_t index)
{
	static struct requirement requirement;
	owned(report_rows_clear) struct report_rows rows = rows_of_text(runs);
	owned(report_rows_clear) struct report_rows base = { 0 };
	static char text[500];
	struct judgement *of;

	if (baseline)
		base = rows_of_text(baseline);
	judgements_clear(&judgements);
	ok(requirement_parse(require, &requirement, NULL) == 0 &&
		   requirements_judge(&requirement, 1, &rows,
				      baseline ? &base : NULL, NULL,
				      &judgements, NULL) == 0 &&
		   index < judgements.count,
	   "%s is judged", require);
	of = &judgements.items[index];
	snprintf(text, sizeof(text), "%s: %s",
		 of->verdict == JUDGED_PASS   ? "pass"
		 : of->verdict == JUDGED_FAIL ? "fail"
					      : "cannot tell",
		 of->text);
	of->cell = "a<b>";
	return text;
}

#define SEALED(rate, power, accepted)                                          \
	"{\"cell\":\"x\",\"state\":\"completed\",\"result\":{"                 \
	"\"tokens_per_second_per_device\":" #rate ",\"formula\":2,"            \
	"\"loss\":{\"first\":3,\"last\":2.5},\"inputs\":{\"started_ms\":"      \
	"8000000},\"usage\":{\"power_w\":" power ",\"clock_mhz\":1900,"        \
	"\"throttled_pct\":0}},\"provenance\":{\"streams\":[\"rank-"           \
	"0\"]" accepted "}}"
#define ACCEPTED ",\"accepted_ms\":800000"

static void test_sealed(void)
{
	is(judge("sealed",
		 "[" SEALED(100, "400", ACCEPTED) "," SEALED(100.2, "400", ACCEPTED) "," SEALED(
			 99.9, "400",
			 ACCEPTED) "," SEALED(100.1, "400",
					      ACCEPTED) "," SEALED(100, "400",
								   ACCEPTED) "]",
		 NULL, 0),
	   "pass: sealed: power and clocks steady; 5/5 runs ±0.1 %; losses "
	   "equal; nodes accepted 2 h before; recomputable",
	   "a cell is sealed");
	is(judge("sealed",
		 "[" SEALED(100, "null", ) "," SEALED(120, "null", ) "]", NULL,
		 0),
	   "fail: not sealed: ! power and clocks were not read; ! 2/2 runs "
	   "±115.5 %, of 5 that are needed; losses equal; ! nodes were not "
	   "accepted; recomputable",
	   "or not, and what is missing");
	is(judge("sealed", "[{\"cell\":\"x\",\"state\":\"failed\"}]", NULL, 0),
	   "fail: no run completed", "a cell that failed");
}

#define THREE "[" RUN("x", 99, ) "," RUN("x", 100, ) "," RUN("x", 101, ) "]"
#define FALLEN "[" RUN("x", 89, ) "," RUN("x", 90, ) "," RUN("x", 91, ) "]"
#define CLOSE "[" RUN("x", 96, ) "," RUN("x", 97, ) "," RUN("x", 99, ) "]"

static void test_judge(void)
{
	is(judge("rate >= 97", THREE, NULL, 0), "pass: 100 ± 2.5",
	   "an interval above the limit passes");
	is(judge("rate >= 103", THREE, NULL, 0), "fail: 100 ± 2.5",
	   "one below fails");
	is(judge("rate >= 99", THREE, NULL, 0),
	   "cannot tell: 100 ± 2.5; about 7 runs would tell",
	   "one across says how many runs would tell");
	is(judge("rate < 99", THREE, NULL, 0),
	   "cannot tell: 100 ± 2.5; about 7 runs would tell",
	   "also from the other side");
	is(judge("rate >= 99", "[" RUN("x", 99, ) "]", NULL, 0),
	   "pass: 99 (a single run)", "a single run has only its value");
	is(judge("rate > 99", "[" RUN("x", 99, ) "]", NULL, 0),
	   "fail: 99 (a single run)", "> is not >=");
	is(judge("mfu >= 40%", "[" RUN("x", 1, ",\"mfu\":0.4") "]", NULL, 0),
	   "pass: 40 % (a single run)", "a share in percent");
	is(judge("acc >= 3", "[" RUN("x", 1, ",\"metrics\":{\"acc\":2}") "]",
		 NULL, 0),
	   "fail: 2 (a single run)", "a metric by its name");
	is(judge("acc >= 3", "[" RUN("x", 1, ) "]", NULL, 0),
	   "cannot tell: no run has this value", "which may be missing");
	is(judge("rat >= 3", THREE, NULL, 0),
	   "cannot tell: no run has this value; did you mean 'rate'?",
	   "or be misspelt");
	is(judge("rate >= 3", "[" RUN("x", 1280000.4, ) "]", NULL, 0),
	   "pass: 1280000 (a single run)", "large numbers have all digits");
	is(judge("rate >= 3", "[" RUN("x", 56888, ) "," RUN("x", 57528, ) "]",
		 NULL, 0),
	   "pass: 57208 ± 4066", "margins, too");
	is(judge("cv <= 1%", THREE, NULL, 0), "pass: 1.00 % of 3 runs",
	   "the spread of the runs");
	is(judge("cv <= 0.9", THREE, NULL, 0), "fail: 1.00 % of 3 runs",
	   "which may be too large");
	is(judge("cv <= 1%", "[" RUN("x", 1, ) "]", NULL, 0),
	   "cannot tell: a single run has none; 2 runs would tell",
	   "a single run has none");
	is(judge("failed <= 0",
		 "[" RUN("x", 1, ) ",{\"cell\":\"x\",\"state\":\"failed\","
				   "\"failure\":\"oom\"}]",
		 NULL, 0),
	   "fail: 1 of 2 runs", "failed runs are counted");
	is(judge("rate > 0",
		 "[{\"cell\":\"x\",\"state\":\"failed\",\"failure\":\"oom\"}]",
		 NULL, 0),
	   "fail: no run completed", "what never completed fails");
	is(judge("rate > 2", "[" RUN("x", 3, ) "," RUN("y", 1, ) "]", NULL, 1),
	   "fail: 1 (a single run)", "each cell is judged");
}

static void test_baseline(void)
{
	is(judge("rate >= 97% of baseline", THREE, THREE, 0),
	   "pass: 100.00 % ± 2.27", "as fast as before");
	is(judge("rate >= 97% of baseline", FALLEN, THREE, 0),
	   "fail: 90.00 % ± 2.47", "a tenth slower");
	is(judge("rate >= 97% of baseline", CLOSE, THREE, 0),
	   "cannot tell: 97.33 % ± 3.33; about 115 runs would tell",
	   "what is close needs more runs");
	is(judge("rate >= 97% of baseline",
		 "[" RUN("x", 100, ) "," RUN("x", 200, ) "," RUN("x",
								 700, ) "]",
		 THREE, 0),
	   "cannot tell: 333.33 % ± 1814.21; about 4 runs would tell",
	   "and so does what is far, but noisy: more than it has");
	is(judge("rate >= 97% of baseline", THREE, NULL, 0),
	   "cannot tell: there is no baseline", "without one");
	is(judge("rate >= 97% of baseline", THREE, "[" RUN("y", 1, ) "]", 0),
	   "cannot tell: the baseline has no such cell",
	   "or with one that lacks the cell");
}

static void test_junit(void)
{
	owned(buffer_clear) struct buffer out = BUFFER_INIT(10000);

	judge("mfu >= 40%", "[" RUN("x", 1, ",\"mfu\":0.3") "]", NULL, 0);
	ok(!judgements_pass(&judgements), "what fails does not pass");
	judgements_junit(&judgements, "a & b", &out, NULL);
	is(out.data,
	   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	   "<testsuite name=\"a &amp; b\" tests=\"1\" failures=\"1\" "
	   "errors=\"0\">\n"
	   "<testcase classname=\"mfu &gt;= 40%\" name=\"a&lt;b&gt;\">"
	   "<failure message=\"30 % (a single run)\"/></testcase>\n"
	   "</testsuite>\n",
	   "as XML, escaped");
	judge("mfu >= 20%", "[" RUN("x", 1, ",\"mfu\":0.3") "]", NULL, 0);
	ok(judgements_pass(&judgements), "what passes, passes");
	judgements_clear(&judgements);
	ok(!judgements_pass(&judgements), "nothing does not");
}

int main(void)
{
	tap_begin(30);
	test_parse();
	test_judge();
	test_sealed();
	test_baseline();
	test_junit();
	return tap_done();
}
