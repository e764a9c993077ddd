/* report_file.c - feeds any bytes to what reads a report's JSON and a
 * requirement: the first line is the requirement, the rest the report, as which
 * it is then judged and written in every form.
 */
#include "controller/cli/commands/bundle_file.h"
#include "controller/report/anomalies.h"
#include "controller/report/report.h"
#include "controller/report/requirement.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static void judge(const char *text, const struct report_rows *rows)
{
	owned(judgements_clear) struct judgements judgements = { 0 };
	owned(buffer_clear) struct buffer xml = BUFFER_INIT(1 << 20);
	struct requirement requirement;
	struct error err = { 0 };

	if (requirement_parse(text, &requirement, &err) < 0) {
		must(err.code == EINVAL && err.text[0]);
		return;
	}
	must(requirements_judge(&requirement, 1, rows, rows, NULL, &judgements,
				&err) == 0);
	judgements_junit(&judgements, text, &xml, NULL);
}

static void show(const struct report_rows *rows, enum language language)
{
	const struct report_about about = {
		.sweep = 1,
		.name = "s",
		.client = "a",
		.baseline = language ? rows : NULL,
		.baseline_name = "b",
		.language = language,
	};
	owned(buffer_clear) struct buffer out = BUFFER_INIT(1 << 24);

	report_html(&about, rows, &out, NULL);
	report_markdown(&about, rows, &out, NULL);
	report_csv(&about, rows, &out, NULL);
	report_json(&about, rows, &out, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *line = memchr(data, '\n', size);
	owned(report_rows_clear) struct report_rows rows = { 0 };
	struct error err = { 0 };
	char require[200];

	if (!line)
		return 0;
	snprintf(require, sizeof(require), "%.*s", (int)(line - text), text);
	if (report_parse(line + 1, size - (size_t)(line + 1 - text), "f", &rows,
			 &err) < 0) {
		must(err.code && err.text[0]);
		return 0;
	}
	judge(require, &rows);
	show(&rows, LANGUAGE_EN);
	must(anomalies_add(&rows, NULL) == 0);
	show(&rows, LANGUAGE_ZH);
	return 0;
}
