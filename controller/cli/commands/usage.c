/* usage.c - prints tables of the device and host samples of a job.
 */
#include "controller/cli/commands/usage.h"
#include "controller/results/json_object.h"

#define COLUMNS_MAX 16

/* What a column shows of a device or host; its path names a text, a number, or
 * (figure) an object with "mean" and "max".
 */
struct usage_column {
	struct column column;
	const char *path;
	bool figure;
};

/* clang-format off */
static const struct usage_column device_columns[] = {
	{ { "NODE", false }, "node", false },
	{ { "DEVICE", true }, "device", false },
	{ { "SAMPLES", true }, "samples", false },
	{ { "POWER W", true }, "power_w", true },
	{ { "TEMP C", true }, "temp_c", true },
	{ { "UTIL %", true }, "util_pct", true },
	{ { "PEAK MIB", true }, "mem_used_mib.max", false },
	{ { "OF MIB", true }, "mem_total_mib", false },
	{ { "ENERGY J", true }, "energy_j", false },
	{ { "NAME", false }, "name", false },
	{ { NULL, false }, NULL, false },
};

static const struct usage_column host_columns[] = {
	{ { "NODE", false }, "node", false },
	{ { "SAMPLES", true }, "samples", false },
	{ { "CPU %", true }, "cpu_pct", true },
	{ { "MEMORY MIB", true }, "mem_used_mib", true },
	{ { "READ MIB/S", true }, "disk_read_mib_s", true },
	{ { "WRITE MIB/S", true }, "disk_write_mib_s", true },
	{ { "IN MIB/S", true }, "net_in_mib_s", true },
	{ { "OUT MIB/S", true }, "net_out_mib_s", true },
	{ { "CPU W", true }, "cpu_power_w", true },
	{ { "HOST W", true }, "power_w", true },
	{ { "CLOCK MS", true }, "offset_ms", false },
	{ { "TRIP MS", true }, "round_trip_ms", false },
	{ { NULL, false }, NULL, false },
};
/* clang-format on */

/* A text, a number, "401/455" (mean and largest), or "-". */
static void value_cell(struct table *table, const struct usage_column *column,
		       const cJSON *row)
{
	const cJSON *value = row_at(row, column->path);
	const cJSON *mean = column->figure ? row_at(value, "mean") : value;
	const cJSON *max = column->figure ? row_at(value, "max") : value;

	if (!column->column.right)
		table_text(table,
			   cJSON_IsString(value) ? value->valuestring : "");
	else if (!cJSON_IsNumber(mean) || !cJSON_IsNumber(max))
		table_cell(table, FAINT, "-");
	else if (column->figure)
		table_cell(table, PLAIN, "%.0f/%.0f", mean->valuedouble,
			   max->valuedouble);
	else
		table_cell(table, PLAIN, "%.0f", mean->valuedouble);
}

static const char *const droppable[] = {
	"SAMPLES",  "TRIP MS", "CLOCK MS", "READ MIB/S",  "IN MIB/S",
	"OF MIB",   "CPU W",   "HOST W",   "WRITE MIB/S", "OUT MIB/S",
	"ENERGY J", "TEMP C",  "UTIL %",   NULL,
};

static int usage_table_print(struct cli *cli, const char *title,
			     const struct usage_column *of, const cJSON *rows,
			     bool all, struct error *err)
{
	struct column columns[COLUMNS_MAX] = { 0 };
	owned(table_clear) struct table table = { .columns = columns };
	const cJSON *row;

	for (size_t i = 0; of[i].path; i++)
		columns[i] = of[i].column;
	cJSON_ArrayForEach(row, rows)
	{
		for (size_t i = 0; of[i].path; i++)
			value_cell(&table, &of[i], row);
	}
	return cli_print_table(cli, title, &table, all ? NULL : droppable, err);
}

int usage_print(struct cli *cli, const struct usage_summary *usage, bool all,
		struct error *err)
{
	owned(cJSON_Delete) cJSON *tree =
		usage ? codec_object(&usage_summary_schema, usage, err) : NULL;

	if (!usage)
		return 0;
	if (!tree || usage_table_print(cli, "\ndevices (mean/largest):\n",
				       device_columns, row_at(tree, "devices"),
				       all, err) < 0)
		return -1;
	return usage_table_print(cli, "\nhosts (mean/largest):\n", host_columns,
				 row_at(tree, "hosts"), all, err);
}
