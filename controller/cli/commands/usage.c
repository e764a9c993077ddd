/* usage.c - what was sampled beside a job, as tables.
 */
#include "controller/cli/commands/usage.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"

/* A number, or "-". */
static void number_cell(struct table *table, const cJSON *item)
{
	if (cJSON_IsNumber(item))
		table_cell(table, PLAIN, "%.0f", item->valuedouble);
	else
		table_cell(table, FAINT, "-");
}

/* "401/455": mean and largest, or "-". */
static void figure_cell(struct table *table, const cJSON *figure)
{
	const cJSON *mean = json_get(figure, "mean");
	const cJSON *max = json_get(figure, "max");

	if (cJSON_IsNumber(mean) && cJSON_IsNumber(max))
		table_cell(table, PLAIN, "%.0f/%.0f", mean->valuedouble,
			   max->valuedouble);
	else
		table_cell(table, FAINT, "-");
}

static void device_row(struct table *table, const cJSON *device)
{
	static const char *const figures[] = { "power_w", "temp_c",
					       "util_pct" };
	const cJSON *used = json_get(device, "mem_used_mib");

	table_cell(table, PLAIN, "%s", json_text(device, "node"));
	number_cell(table, json_get(device, "device"));
	number_cell(table, json_get(device, "samples"));
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		figure_cell(table, json_get(device, figures[i]));
	number_cell(table, json_get(used, "max"));
	number_cell(table, json_get(device, "mem_total_mib"));
	number_cell(table, json_get(device, "energy_j"));
	table_cell(table, PLAIN, "%s", json_text(device, "name"));
}

static int print_devices(struct cli *cli, const cJSON *usage, struct error *err)
{
	static const struct column columns[] = {
		{ "NODE", false },    { "DEVICE", true }, { "SAMPLES", true },
		{ "POWER W", true },  { "TEMP C", true }, { "UTIL %", true },
		{ "PEAK MIB", true }, { "OF MIB", true }, { "ENERGY J", true },
		{ "NAME", false },    { NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *device;

	if (!table)
		return -1;
	cJSON_ArrayForEach(device, json_list(usage, "devices"))
	{
		device_row(table, device);
	}
	if (!table_rows(table))
		return 0;
	fputs("\ndevices (mean/largest):\n", cli->out);
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

static void host_row(struct table *table, const cJSON *host)
{
	static const char *const figures[] = {
		"cpu_pct",          "mem_used_mib", "disk_read_mib_s",
		"disk_write_mib_s", "net_in_mib_s", "net_out_mib_s",
		"cpu_power_w",      "power_w",
	};

	table_cell(table, PLAIN, "%s", json_text(host, "node"));
	number_cell(table, json_get(host, "samples"));
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		figure_cell(table, json_get(host, figures[i]));
	number_cell(table, json_get(host, "offset_ms"));
	number_cell(table, json_get(host, "round_trip_ms"));
}

static int print_hosts(struct cli *cli, const cJSON *usage, struct error *err)
{
	static const struct column columns[] = {
		{ "NODE", false },      { "SAMPLES", true },
		{ "CPU %", true },      { "MEMORY MIB", true },
		{ "READ MIB/S", true }, { "WRITE MIB/S", true },
		{ "IN MIB/S", true },   { "OUT MIB/S", true },
		{ "CPU W", true },      { "HOST W", true },
		{ "CLOCK MS", true },   { "TRIP MS", true },
		{ NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *host;

	if (!table)
		return -1;
	cJSON_ArrayForEach(host, json_list(usage, "hosts"))
	{
		host_row(table, host);
	}
	if (!table_rows(table))
		return 0;
	fputs("\nhosts (mean/largest):\n", cli->out);
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

int usage_print(struct cli *cli, const cJSON *usage, struct error *err)
{
	if (print_devices(cli, usage, err) < 0)
		return -1;
	return print_hosts(cli, usage, err);
}
