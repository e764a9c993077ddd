/* baseline.c - reads what --baseline names: a cell or a file. */
#include "controller/cli/commands/baseline.h"

#include "protocol/base/file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define FILE_MAX ((size_t)256 << 20)

void baseline_clear(struct baseline *baseline)
{
	report_rows_clear(&baseline->rows);
}

int baseline_parse(const char *json, size_t size, const char *path,
		   struct report_rows *rows, struct error *err)
{
	owned(cJSON_Delete) cJSON *report = codec_parse(json, size, err);
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(report, "rows");
	const cJSON *row;

	if (!report)
		return error_prefix(err, "%s", path);
	if (!cJSON_IsArray(list))
		return error_set(err, EPROTO,
				 "%s: no rows are in it; expected what "
				 "'regatta "
				 "report --format json' prints",
				 path);
	rows->items = calloc((size_t)cJSON_GetArraySize(list) + 1,
			     sizeof(*rows->items));
	if (!rows->items)
		return error_nomem(err, "baseline");
	cJSON_ArrayForEach(row, list)
	{
		if (codec_from_other(&report_row_schema, row,
				     &rows->items[rows->count], err) < 0)
			return error_prefix(err, "%s: row %zu", path,
					    rows->count + 1);
		rows->count++;
	}
	return rows_gather(rows, err);
}

static int baseline_load(struct baseline *baseline, const char *path,
			 struct error *err)
{
	owned(buffer_clear) struct buffer json;

	buffer_init(&json, FILE_MAX);
	if (file_read_any(path, &json, err) < 0)
		return -1;
	snprintf(baseline->name, sizeof(baseline->name), "%s", path);
	return baseline_parse(json.data ? json.data : "", json.size, path,
			      &baseline->rows, err);
}

int baseline_read(struct baseline *baseline, const char *text,
		  struct report_about *about, struct error *err)
{
	char inside[PATH_MAX];
	struct stat st;
	int rc;

	if (stat(text, &st) < 0) {
		about->baseline_cell = text;
		return 0;
	} else if (S_ISDIR(st.st_mode)) {
		rc = file_path(inside, err, "%s/report.json", text) < 0
			     ? -1
			     : baseline_load(baseline, inside, err);
	} else {
		rc = baseline_load(baseline, text, err);
	}
	about->baseline = &baseline->rows;
	about->baseline_name = baseline->name;
	return rc < 0 ? error_prefix(err, "--baseline") : 0;
}
