/* report_rows.h - rows of a report from JSON.
 */
#pragma once

#include "controller/report/row.h"
#include "tests/tap.h"

#include <string.h>

/* The rows of a list of objects, of which members may be missing. A test ends
 * when they are not valid. The caller clears them.
 */
static inline struct report_rows rows_of_json(const cJSON *list)
{
	size_t count = (size_t)cJSON_GetArraySize(list);
	struct report_rows rows = { .items = calloc(count + 1,
						    sizeof(*rows.items)) };
	struct error err = { 0 };

	for (size_t i = 0; i < count; i++)
		if (codec_from_other(&report_row_schema,
				     cJSON_GetArrayItem(list, (int)i),
				     &rows.items[i], &err) < 0) {
			printf("Bail out! row %zu: %s\n", i, err.text);
			exit(1);
		}
	rows.count = count;
	return rows;
}

static inline struct report_rows rows_of_text(const char *text)
{
	cJSON *list = cJSON_Parse(text);
	struct report_rows rows = rows_of_json(list);

	cJSON_Delete(list);
	return rows;
}
