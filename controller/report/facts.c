/* facts.c - the head of a report: what was run, by whom, on what.
 */
#include "controller/report/facts.h"
#include "controller/report/columns.h"
#include "controller/report/labels.h"
#include "controller/report/translations.h"
#include "protocol/base/units.h"

#include <stdio.h>

static void fact_put(struct writer *to, const char *name, const char *text,
		     put_fact_fn *put)
{
	if (text && *text)
		put(to, phrase(to->language, name), text);
}

/* "4 nodes, 32 devices" */
static void put_size(struct writer *to, const struct report_rows *rows,
		     put_fact_fn *put)
{
	uint32_t nodes = 0, devices = 0;
	char text[80];

	ROWS_EACH(row, rows)
	{
		const struct result_info *info = &row->info;

		nodes = nodes > info->nodes ? nodes : info->nodes;
		devices = devices > info->devices ? devices : info->devices;
	}
	snprintf(text, sizeof(text), "%u %s, %u %s", nodes,
		 phrase(to->language, nodes == 1 ? "node" : "nodes"), devices,
		 phrase(to->language, devices == 1 ? "device" : "devices"));
	fact_put(to, "largest job", nodes > 0 ? text : NULL, put);
}

static void fact_put_time(struct writer *to, const char *name, int64_t ms,
			  put_fact_fn *put)
{
	char text[UTC_SIZE];

	if (ms > 0)
		fact_put(to, name, utc_text(ms, text), put);
}

/* "3 of each cell", or "2 to 5 of a cell" */
static void put_repeats(struct writer *to, const struct report_rows *shown,
			put_fact_fn *put)
{
	uint64_t least = 0, most = 0;
	char text[60];

	ROWS_EACH(row, shown)
	{
		uint64_t runs = row->repeats ? row->repeats->runs : 0;

		least = row == shown->items || runs < least ? runs : least;
		most = runs > most ? runs : most;
	}
	if (least == most)
		snprintf(text, sizeof(text), "%llu", (unsigned long long)most);
	else
		snprintf(text, sizeof(text), "%llu-%llu",
			 (unsigned long long)least, (unsigned long long)most);
	fact_put(to, "repeats", most > 1 ? text : NULL, put);
}

void facts_each(struct writer *to, const struct report_about *about,
		const struct report_rows *rows, const struct report_rows *shown,
		put_fact_fn *put)
{
	static const enum figure_use uses[] = { AS_SUBJECT, AS_FACT };
	const struct report_figure *figure;
	char text[LABEL_SIZE];
	int64_t last_ms = 0;

	ROWS_EACH(row, rows)
	{
		const struct result *result = row->info.result;

		if (result && result->inputs.ended_ms > last_ms)
			last_ms = result->inputs.ended_ms;
	}
	fact_put(to, "sweep", about->name, put);
	fact_put(to, "submitted by", about->client, put);
	fact_put_time(to, "submitted", about->submitted_ms, put);
	fact_put_time(to, "last result", last_ms, put);
	put_size(to, rows, put);
	put_repeats(to, shown, put);
	for (size_t u = 0; u < sizeof(uses) / sizeof(uses[0]); u++)
		for (size_t i = 0; (figure = figure_used(uses[u], i)); i++)
			fact_put(to, figure->label,
				 labels_values(rows, &figure->member, text),
				 put);
}
