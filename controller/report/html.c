/* html.c - rows of a sweep to one self-contained HTML page.
 */
#include "controller/report/report.h"

#include "controller/report/chart.h"
#include "controller/report/columns.h"
#include "controller/report/row.h"

#include <string.h>

static const char head[] =
	"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<style>\n"
	":root{--ink:#1b1f24;--paper:#fff;--faint:#d5dae0;--mute:#5b6570;"
	"--bar:#dbe7f5;--bad:#b3261e;"
	"--c0:#0b62c4;--c1:#c2410c;--c2:#15803d;--c3:#7e22ce;"
	"--c4:#b91c5c;--c5:#0e7490;--c6:#a16207;--c7:#475569}\n"
	"@media(prefers-color-scheme:dark){:root{--ink:#e4e8ec;"
	"--paper:#14181d;--faint:#343b44;--mute:#9aa5b1;--bar:#233a57;"
	"--bad:#ff8a80;--c0:#6cb0ff;--c1:#ff9a62;--c2:#5ad98a;--c3:#c99bff;"
	"--c4:#ff85b3;--c5:#5fd3ea;--c6:#f0c35a;--c7:#a8b5c4}}\n"
	"@media print{:root{--ink:#000;--paper:#fff;--faint:#bbb;--mute:#333;"
	"--bar:#e3e3e3}section{break-inside:avoid}a{color:inherit}}\n"
	"body{font:15px/1.45 system-ui,sans-serif;color:var(--ink);"
	"background:var(--paper);margin:2em auto;max-width:1180px;"
	"padding:0 1em}\n"
	"h1{font-size:1.5em}h2{font-size:1.1em;margin-top:2em}\n"
	".wide{overflow-x:auto}table{border-collapse:collapse}\n"
	"th,td{padding:.25em .7em;border-bottom:1px solid var(--faint);"
	"text-align:left;vertical-align:top}\n"
	"th{color:var(--mute);font-weight:600}\n"
	".n{text-align:right;font-variant-numeric:tabular-nums}\n"
	".bar{background:linear-gradient(90deg,var(--bar) var(--w),"
	"transparent var(--w))}\n"
	".bad{color:var(--bad)}.mute{color:var(--mute)}\n"
	".charts{display:flex;flex-wrap:wrap;gap:1em}\n"
	"figure{margin:0;flex:1 1 480px;max-width:560px}\n"
	"figcaption span{margin-right:1em;font-size:.85em}\n"
	".chart{width:100%;height:auto}.chart text{fill:var(--ink)}\n"
	".chart .axis{font-size:11px;fill:var(--mute)}\n"
	".chart .name{font-size:13px;font-weight:600}\n"
	".grid{stroke:var(--faint);stroke-width:1}\n"
	".chart path{stroke-width:1.6;stroke-linecap:round;"
	"stroke-linejoin:round}\n"
	".l0{stroke:var(--c0)}.l1{stroke:var(--c1)}.l2{stroke:var(--c2)}"
	".l3{stroke:var(--c3)}.l4{stroke:var(--c4)}.l5{stroke:var(--c5)}"
	".l6{stroke:var(--c6)}.l7{stroke:var(--c7)}\n"
	".k0{color:var(--c0)}.k1{color:var(--c1)}.k2{color:var(--c2)}"
	".k3{color:var(--c3)}.k4{color:var(--c4)}.k5{color:var(--c5)}"
	".k6{color:var(--c6)}.k7{color:var(--c7)}\n"
	"</style>\n<title>";

static int put_head(const char *title, struct buffer *out, struct error *err)
{
	if (buffer_text(out, head, err) < 0 || html_text(out, title, err) < 0 ||
	    buffer_text(out, "</title></head>\n<body>\n<h1>", err) < 0 ||
	    html_text(out, title, err) < 0)
		return -1;
	return buffer_text(out, "</h1>\n", err);
}

static int put_table(const cJSON *rows, struct buffer *out, struct error *err)
{
	struct columns columns;
	struct column heads[COLUMNS_MAX + 1];
	owned(table_free) struct table *table = NULL;

	columns_choose(rows, &columns);
	table = columns_table(&columns, rows, heads, err);
	if (!table || buffer_text(out, "<div class=\"wide\">", err) < 0 ||
	    table_html(table, out, err) < 0)
		return -1;
	return buffer_text(out, "</div>\n", err);
}

/* Notes. */

static int put_job(const cJSON *row, struct buffer *out, struct error *err)
{
	const cJSON *job = row_at(row, "job");
	const char *cell = row_text(row, "cell");

	if (buffer_printf(out, err, "job %.0f, ",
			  cJSON_IsNumber(job) ? job->valuedouble : 0) < 0)
		return -1;
	return html_text(out, cell ? cell : "-", err);
}

static int put_item(const cJSON *row, const char *what, const char *text,
		    struct buffer *out, struct error *err)
{
	if (buffer_text(out, "<li>", err) < 0 || put_job(row, out, err) < 0 ||
	    buffer_printf(out, err, ": %s", what) < 0 ||
	    html_text(out, text, err) < 0)
		return -1;
	return buffer_text(out, "</li>\n", err);
}

static int put_failure(const cJSON *row, struct buffer *out, struct error *err)
{
	char words[ROW_REASON_BYTES];
	const char *reason = row_reason(row, words);

	return reason ? put_item(row, "", reason, out, err) : 0;
}

static int put_origin(const cJSON *row, struct buffer *out, struct error *err)
{
	char words[80];

	return row_origin(row, words, sizeof(words))
		       ? put_item(row, "", words, out, err)
		       : 0;
}

static int put_doubts(const cJSON *row, struct buffer *out, struct error *err)
{
	const char *flag;

	for (size_t i = 0; (flag = row_flag(row, i)); i++)
		if (put_item(row, "", flag, out, err) < 0)
			return -1;
	return 0;
}

typedef int note_fn(const cJSON *row, struct buffer *out, struct error *err);

/* A heading and what fn says of the rows; nothing when it says nothing. */
static int put_notes(const char *title, note_fn *fn, const cJSON *rows,
		     struct buffer *out, struct error *err)
{
	size_t start = out->size, empty;
	const cJSON *row;

	if (buffer_printf(out, err, "<h2>%s</h2>\n<ul>\n", title) < 0)
		return -1;
	empty = out->size;
	cJSON_ArrayForEach(row, rows)
	{
		if (fn(row, out, err) < 0)
			return -1;
	}
	if (out->size > empty)
		return buffer_text(out, "</ul>\n", err);
	out->size = start;
	out->data[start] = 0;
	return 0;
}

/* Curves. */

static const char *cell_of(const cJSON *row)
{
	const char *cell = row_text(row, "cell");

	return cell ? cell : "-";
}

#define LINE_NAME 340

static void line_name(const cJSON *row, char name[LINE_NAME])
{
	const cJSON *repeat = row_at(row, "repeat");

	if (cJSON_IsNumber(repeat) && repeat->valuedouble > 0)
		snprintf(name, LINE_NAME, "%.300s, repeat %.0f", cell_of(row),
			 repeat->valuedouble);
	else
		snprintf(name, LINE_NAME, "%.300s", cell_of(row));
}

/* The same curve of every row in one picture. */
static int put_overlay(const char *title, const char *unit, const char *path,
		       const cJSON *rows, struct buffer *out, struct error *err)
{
	struct chart chart = { .title = title,
			       .x_label = "step",
			       .y_label = unit };
	char names[CHART_LINES_MAX][LINE_NAME];
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *curve = row_at(row, path);

		if (!cJSON_GetArraySize(curve) ||
		    chart.count == CHART_LINES_MAX)
			continue;
		line_name(row, names[chart.count]);
		chart.lines[chart.count].name = names[chart.count];
		chart.lines[chart.count++].points = curve;
	}
	return chart_svg(&chart, out, err);
}

static const struct {
	const char *name;
	const char *title;
	const char *unit;
} device_curves[] = {
	{ "power_w", "Power", "W" },
	{ "temp_c", "Temperature", "°C" },
	{ "util_pct", "Utilisation", "%" },
	{ "mem_used_mib", "Memory", "MiB" },
};

#define DEVICE_CURVES (sizeof(device_curves) / sizeof(device_curves[0]))

/* All devices of one node in one picture, a picture for each reading. */
static int put_node(const cJSON *devices, const char *node, struct buffer *out,
		    struct error *err)
{
	const cJSON *device;

	for (size_t i = 0; i < DEVICE_CURVES; i++) {
		struct chart chart = { .x_label = "s",
				       .y_label = device_curves[i].unit,
				       .from_zero = true };
		char title[160];

		snprintf(title, sizeof(title), "%s, %s", device_curves[i].title,
			 node);
		chart.title = title;
		cJSON_ArrayForEach(device, devices)
		{
			const char *of = row_text(device, "node");
			const char *name = row_text(device, "device");
			const cJSON *curve =
				row_at(device, device_curves[i].name);

			if (!of || strcmp(of, node) != 0 ||
			    !cJSON_GetArraySize(curve) ||
			    chart.count == CHART_LINES_MAX)
				continue;
			chart.lines[chart.count].name = name ? name : "-";
			chart.lines[chart.count++].points = curve;
		}
		if (chart_svg(&chart, out, err) < 0)
			return -1;
	}
	return 0;
}

static int put_devices(const cJSON *devices, struct buffer *out,
		       struct error *err)
{
	const char *last = NULL;
	const cJSON *device;

	/* The devices of a node stand together. */
	cJSON_ArrayForEach(device, devices)
	{
		const char *node = row_text(device, "node");

		if (!node || (last && !strcmp(last, node)))
			continue;
		if (put_node(devices, node, out, err) < 0)
			return -1;
		last = node;
	}
	return 0;
}

/* How busy the nodes were, a line for each. */
static int put_hosts(const cJSON *hosts, struct buffer *out, struct error *err)
{
	struct chart chart = { .title = "Processors of the nodes",
			       .x_label = "s",
			       .y_label = "%",
			       .from_zero = true };
	const cJSON *host;

	cJSON_ArrayForEach(host, hosts)
	{
		const char *node = row_text(host, "node");
		const cJSON *curve = row_at(host, "cpu_pct");

		if (!cJSON_GetArraySize(curve) ||
		    chart.count == CHART_LINES_MAX)
			continue;
		chart.lines[chart.count].name = node ? node : "-";
		chart.lines[chart.count++].points = curve;
	}
	return chart_svg(&chart, out, err);
}

static int put_section(const cJSON *row, struct buffer *out, struct error *err)
{
	struct chart loss = { .title = "Loss",
			      .x_label = "step",
			      .y_label = "",
			      .lines = { { "loss",
					   row_at(row, "series.loss") } },
			      .count = 1 };
	struct chart rate = {
		.title = "Throughput",
		.x_label = "step",
		.y_label = "token/s",
		.lines = { { "token/s",
			     row_at(row, "series.tokens_per_second") } },
		.count = 1,
		.from_zero = true
	};
	const cJSON *job = row_at(row, "job");

	if (!row_at(row, "series"))
		return 0;
	if (buffer_text(out, "<section><h2>", err) < 0 ||
	    html_text(out, cell_of(row), err) < 0 ||
	    buffer_printf(out, err,
			  " <span class=\"mute\">job %.0f</span></h2>\n"
			  "<div class=\"charts\">\n",
			  cJSON_IsNumber(job) ? job->valuedouble : 0) < 0 ||
	    chart_svg(&loss, out, err) < 0 || chart_svg(&rate, out, err) < 0 ||
	    put_devices(row_at(row, "series.devices"), out, err) < 0 ||
	    put_hosts(row_at(row, "series.hosts"), out, err) < 0)
		return -1;
	return buffer_text(out, "</div></section>\n", err);
}

/* Provenance: every member, maps as tables in tables. */

static int put_members(const cJSON *map, struct buffer *out, struct error *err);

static int put_value(const cJSON *value, struct buffer *out, struct error *err)
{
	const cJSON *item;
	char *text;
	int rc;

	if (cJSON_IsString(value))
		return html_text(out, value->valuestring, err);
	if (cJSON_IsObject(value))
		return put_members(value, out, err);
	if (cJSON_IsArray(value)) {
		cJSON_ArrayForEach(item, value)
		{
			if (buffer_text(out, "<div>", err) < 0 ||
			    put_value(item, out, err) < 0 ||
			    buffer_text(out, "</div>", err) < 0)
				return -1;
		}
		return 0;
	}
	text = cJSON_PrintUnformatted(value);
	rc = text ? html_text(out, text, err) : error_nomem(err, "report");
	cJSON_free(text);
	return rc;
}

static int put_members(const cJSON *map, struct buffer *out, struct error *err)
{
	const cJSON *member;

	if (buffer_text(out, "<table>\n", err) < 0)
		return -1;
	cJSON_ArrayForEach(member, map)
	{
		if (!member->string || cJSON_IsNull(member))
			continue;
		if (buffer_text(out, "<tr><th>", err) < 0 ||
		    html_text(out, member->string, err) < 0 ||
		    buffer_text(out, "</th><td>", err) < 0 ||
		    put_value(member, out, err) < 0 ||
		    buffer_text(out, "</td></tr>\n", err) < 0)
			return -1;
	}
	return buffer_text(out, "</table>\n", err);
}

static int put_provenance(const cJSON *row, struct buffer *out,
			  struct error *err)
{
	if (!row_completed(row) || !row_at(row, "provenance.image"))
		return 0;
	if (buffer_text(out, "<li>", err) < 0 || put_job(row, out, err) < 0 ||
	    put_members(row_at(row, "provenance"), out, err) < 0)
		return -1;
	return buffer_text(out, "</li>\n", err);
}

static int put_page(const char *title, const cJSON *rows, struct buffer *out,
		    struct error *err)
{
	const cJSON *row;

	if (put_head(title, out, err) < 0 || put_table(rows, out, err) < 0 ||
	    put_notes("Without a result", put_failure, rows, out, err) < 0 ||
	    put_notes("Taken over, as they completed before", put_origin, rows,
		      out, err) < 0 ||
	    put_notes("Suspect results (!)", put_doubts, rows, out, err) < 0 ||
	    buffer_text(out, "<div class=\"charts\">\n", err) < 0 ||
	    put_overlay("Loss of all cells", "", "series.loss", rows, out,
			err) < 0 ||
	    put_overlay("Throughput of all cells", "token/s",
			"series.tokens_per_second", rows, out, err) < 0 ||
	    buffer_text(out, "</div>\n", err) < 0)
		return -1;
	cJSON_ArrayForEach(row, rows)
	{
		if (put_section(row, out, err) < 0)
			return -1;
	}
	if (put_notes("Where it comes from", put_provenance, rows, out, err) <
	    0)
		return -1;
	return buffer_text(out, "</body></html>\n", err);
}

int report_html(const char *title, const cJSON *rows, struct buffer *out,
		struct error *err)
{
	size_t size = out->size;

	if (rows_check(rows, err) < 0)
		return -1;
	return put_page(title, rows, out, err) < 0 ? rows_undo(out, size) : 0;
}
