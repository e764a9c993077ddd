/* vendors.c - vendors: lists vendors, checks profiles, detects devices.
 */
#include "controller/cli/command.h"
#include "protocol/base/local_tool.h"
#include "controller/view/render.h"
#include "protocol/base/program.h"
#include "protocol/hardware/device.h"

#include <errno.h>
#include <string.h>

#define MAP_TIMEOUT_MS 10000
#define WHY_BYTES 400

struct vendors_options {
	struct options common;
	const char *device_root;
	const char *sysfs_root;
	const char *proc_root;
};

static int load_profiles(struct cli *cli, struct profiles *profiles,
			 struct error *err)
{
	char images[PATH_MAX];

	if (cli_images(cli, images, err) < 0)
		return -1;
	return profiles_load(images, profiles, err);
}

/* list */

static const char *vendors_find_tool(const struct profile *profile)
{
	return profile->monitor.commands_count
		       ? profile->monitor.commands[0].items[0]
		       : "";
}

static void vendors_add_text(cJSON *to, const char *name, const char *text)
{
	cJSON_AddItemToObject(to, name,
			      text && *text ? cJSON_CreateString(text)
					    : cJSON_CreateNull());
}

static void vendors_add_names(cJSON *to, const char *name,
			      const struct strings *list)
{
	cJSON *names = cJSON_AddArrayToObject(to, name);

	for (size_t i = 0; i < list->count; i++)
		cJSON_AddItemToArray(names, cJSON_CreateString(list->items[i]));
}

static void add_peaks(cJSON *to, const char *name, const struct value *tflops)
{
	cJSON *peaks;
	double figure;

	if (!tflops)
		return;
	peaks = cJSON_AddObjectToObject(to, name);
	for (size_t i = 0; i < value_count(tflops); i++)
		if (value_double(value_at(tflops, i), 0, 1e9, &figure, NULL) ==
		    0)
			cJSON_AddNumberToObject(peaks, value_key(tflops, i),
						figure);
}

static cJSON *chip_json(const struct chip_rule *chip)
{
	cJSON *object = cJSON_CreateObject();

	vendors_add_text(object, "name", chip->name);
	vendors_add_names(object, "aliases", &chip->aliases);
	cJSON_AddItemToObject(object, "memory_gib",
			      chip->memory_gib > 0
				      ? cJSON_CreateNumber(chip->memory_gib)
				      : cJSON_CreateNull());
	add_peaks(object, "tflops", chip->tflops);
	add_peaks(object, "flagperf_tflops", chip->flagperf_tflops);
	vendors_add_text(object, "source", chip->source);
	vendors_add_text(object, "confidence", chip->confidence);
	return object;
}

static cJSON *vendor_json(const struct profile *profile)
{
	cJSON *object = cJSON_CreateObject(), *chips;

	vendors_add_text(object, "vendor", profile->vendor);
	vendors_add_names(object, "aliases", &profile->aliases);
	vendors_add_text(object, "title", profile->title);
	vendors_add_text(object, "source", profile->source);
	vendors_add_text(object, "tool", vendors_find_tool(profile));
	chips = cJSON_AddArrayToObject(object, "chips");
	for (size_t i = 0; i < profile->chips_count; i++)
		cJSON_AddItemToArray(chips, chip_json(&profile->chips[i]));
	return object;
}

static const struct column list_columns[] = {
	{ "VENDOR", false }, { "TITLE", false }, { "TOOL", false },
	{ "CHIPS", false },  { NULL, false },
};

static void vendor_row_fill(struct table *table, const struct profile *profile)
{
	owned(buffer_clear) struct buffer names = BUFFER_INIT(4096);

	for (size_t i = 0; i < profile->chips_count; i++)
		buffer_printf(&names, NULL, "%s%s", i ? ", " : "",
			      profile->chips[i].name);
	table_cell(table, BOLD, "%s", profile->vendor);
	table_text(table, profile->title);
	table_text(table, *vendors_find_tool(profile)
				  ? vendors_find_tool(profile)
				  : "-");
	table_text(table, names.size ? names.data : "-");
}

static int list_vendors(struct cli *cli, struct error *err)
{
	owned(profiles_clear) struct profiles profiles = { 0 };
	owned(table_clear) struct table table = { .columns = list_columns };
	owned(cJSON_Delete) cJSON *vendors = cJSON_CreateArray();

	if (load_profiles(cli, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		if (cli_format(cli, "json"))
			cJSON_AddItemToArray(vendors,
					     vendor_json(profiles.list[i]));
		else
			vendor_row_fill(&table, profiles.list[i]);
	if (cli_format(cli, "json"))
		return cli_print_list(cli, "vendors", take(vendors), err);
	return cli_print_table(cli, "", &table, NULL, err);
}

/* check */

static int bad_monitor(const char *name, struct error *err)
{
	err->code = EINVAL;
	return error_prefix(err, "%s: monitor", name);
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static int vendors_check_file(struct cli *cli, const char *name,
			      struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(PROFILE_BYTES_MAX);
	owned(profile_free) struct profile *profile = NULL;
	size_t images;

	if (read_input(name, &text, err) < 0)
		return -1;
	name = strcmp(name, "-") ? name : "stdin";
	profile = profile_parse(text.data, text.size, name, err);
	if (!profile)
		return -1;
	if (profile->monitor.sampler &&
	    sampler_probe(profile->monitor.sampler, err) < 0)
		return bad_monitor(name, err);
	images = profile->images ? value_count(profile->images) : 0;
	fprintf(cli->out,
		"%s: valid: vendor %s, %zu chip%s, monitor %s, %zu image%s\n",
		name, profile->vendor, profile->chips_count,
		plural(profile->chips_count),
		*vendors_find_tool(profile) ? vendors_find_tool(profile)
					    : "none",
		images, plural(images));
	return 0;
}

static int check_files(struct cli *cli, struct error *err)
{
	for (size_t i = 1; i < cli->arg_count; i++)
		if (vendors_check_file(cli, cli->args[i], err) < 0)
			return -1;
	return EXIT_GOOD;
}

/* probe */

struct finding {
	const struct profile *profile;
	struct devices devices;
	char why[WHY_BYTES];  /* why no devices, or not all, were found */
	char tool[WHY_BYTES]; /* the errors of its tools, or "" */
};

static void finding_clear(struct finding *finding)
{
	devices_clear(&finding->devices);
}
OWNED_VALUE(struct finding, finding_clear)

/* Run a tool and read its output. False: it has none; an error becomes a
 * message of the finding.
 */
static bool finding_run_tool(const struct strings *argv,
			     const struct strings *env, uint32_t timeout_ms,
			     const struct sampler *sampler,
			     struct samples *samples, struct finding *finding)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(SAMPLE_TEXT_MAX);
	struct error why;

	if (!argv->count || !sampler)
		return false;
	if (local_tool_run(argv, env, timeout_ms, &text, &why) == 0 &&
	    sampler_read(sampler, text.data, text.size, samples, &why) == 0)
		return true;
	if (!strstr(finding->tool, why.text))
		text_append(finding->tool, sizeof(finding->tool), "%s%s",
			    *finding->tool ? "; " : "", why.text);
	return false;
}

static int probe_vendor(const struct sysroot *roots, struct finding *finding,
			struct error *err)
{
	owned(samples_clear) struct samples monitor = { 0 };
	owned(samples_clear) struct samples map = { 0 };
	const struct profile *profile = finding->profile;
	const struct monitor_rules *rules = &profile->monitor;

	for (size_t i = 0; i < rules->commands_count; i++)
		if (finding_run_tool(&rules->commands[i], &rules->env,
				     rules->timeout_ms, rules->sampler,
				     &monitor, finding)) {
			*finding->tool = 0;
			break;
		}
	finding_run_tool(&profile->discover.map_command, NULL, MAP_TIMEOUT_MS,
			 profile->discover.map, &map, finding);
	return devices_find(profile, roots, monitor.rows ? &monitor : NULL,
			    map.rows ? &map : NULL, NULL, &finding->devices,
			    finding->why, sizeof(finding->why), err);
}

static cJSON *finding_json(const struct finding *finding,
			   const struct sysroot *roots, struct error *err)
{
	owned(cJSON_Delete) cJSON *object = cJSON_CreateObject();
	cJSON *list;

	vendors_add_text(object, "vendor", finding->profile->vendor);
	cJSON_AddBoolToObject(object, "simulated", sysroot_simulated(roots));
	list = cJSON_AddArrayToObject(object, "devices");
	for (size_t i = 0; i < finding->devices.count; i++) {
		cJSON *device = codec_object(&device_info_schema,
					     &finding->devices.list[i], err);

		if (!device)
			return NULL;
		cJSON_AddItemToArray(list, device);
	}
	vendors_add_text(object, "why", finding->why);
	vendors_add_text(object, "tool", finding->tool);
	return take(object);
}

static const struct column device_columns[] = {
	{ "VENDOR", false }, { "DEVICE", true }, { "BUS", false },
	{ "CHIP", false },   { "MEMORY", true }, { "NUMA", true },
	{ "NODE", false },   { NULL, false },
};

/* The device's first node inside a container, or why it cannot be used. */
static void node_text(const struct profile *profile,
		      const struct sysroot *roots,
		      const struct device_info *device, char *to, size_t size)
{
	owned(strings_clear) struct strings nodes = { 0 };
	const char *colon;

	snprintf(to, size, "%s", device->text ? device->text : "-");
	if (device->text ||
	    device_nodes(profile, roots, device, &nodes, NULL) < 0 ||
	    !nodes.count)
		return;
	colon = strrchr(nodes.items[0], ':');
	snprintf(to, size, "%s", colon ? colon + 1 : nodes.items[0]);
}

static void finding_row_fill(struct table *table, const struct finding *finding,
			     const struct sysroot *roots,
			     const struct device_info *device)
{
	char node[WHY_BYTES];
	const char *chip = device->chip ? device->chip : device->name;

	node_text(finding->profile, roots, device, node, sizeof(node));
	table_cell(table, BOLD, "%s", finding->profile->vendor);
	table_cell(table, PLAIN, "%u", device->index);
	table_text(table, device->bus_id ? device->bus_id : "-");
	table_text(table, chip ? chip : "-");
	table_text(table, device->memory_mib
				  ? human_bytes(device->memory_mib << 20).text
				  : "-");
	if (device->numa < 0)
		table_text(table, "-");
	else
		table_cell(table, PLAIN, "%lld", (long long)device->numa);
	table_cell(table, device->text ? RED : PLAIN, "%s", node);
}

/* A vendor without rules of discovery fits every machine. */
static bool everywhere(const struct profile *profile)
{
	return !profile->discover.pci_vendors.count && !profile->discover.nodes;
}

static const struct column why_columns[] = {
	{ "VENDOR", false },
	{ "MISSING", false },
	{ NULL, false },
};

static void why_row(struct table *table, const struct finding *finding)
{
	const char *none = finding->devices.count ? "" : "no device: ";
	const char *joint = *finding->why && *finding->tool ? "; " : "";

	if (everywhere(finding->profile)) {
		none = finding->profile->chips_count
			       ? "cannot be detected: the profile has no rules"
			       : "on every machine";
		table_text(table, finding->profile->vendor);
		table_text(table, none);
		return;
	}
	if (finding->devices.count && !*finding->why && !*finding->tool)
		return;
	table_text(table, finding->profile->vendor);
	table_cell(table, PLAIN, "%s%s%s%s", none, finding->why, joint,
		   finding->tool);
}

/* The findings, as tables or as JSON. */
struct probing {
	struct sysroot roots;
	struct table devices;
	struct table missing;
	cJSON *vendors;
};

static void probing_clear(struct probing *probing)
{
	table_clear(&probing->devices);
	table_clear(&probing->missing);
	cJSON_Delete(probing->vendors);
}
OWNED_VALUE(struct probing, probing_clear)

static int probing_add(struct probing *probing, const struct profile *profile,
		       struct error *err)
{
	owned(finding_clear) struct finding finding = { .profile = profile };
	cJSON *json;

	if (probe_vendor(&probing->roots, &finding, err) < 0)
		return error_prefix(err, "%s", profile->vendor);
	for (size_t i = 0; i < finding.devices.count; i++)
		finding_row_fill(&probing->devices, &finding, &probing->roots,
				 &finding.devices.list[i]);
	why_row(&probing->missing, &finding);
	json = finding_json(&finding, &probing->roots, err);
	if (!json)
		return -1;
	cJSON_AddItemToArray(probing->vendors, json);
	return 0;
}

static int probing_print(struct probing *probing, struct cli *cli,
			 struct error *err)
{
	if (cli_format(cli, "json"))
		return cli_print_list(cli, "vendors", take(probing->vendors),
				      err);
	if (sysroot_simulated(&probing->roots))
		cli_say(cli, "this machine is simulated: %s, %s, %s",
			probing->roots.dev, probing->roots.sys,
			probing->roots.proc);
	if (!table_rows(&probing->devices)) {
		fputs("No accelerator was found; this is a cpu "
		      "node.\n\n",
		      cli->out);
	} else {
		if (cli_print_table(cli, "", &probing->devices, NULL, err) < 0)
			return -1;
		fputc('\n', cli->out);
	}
	return cli_print_table(cli, "", &probing->missing, NULL, err);
}

static int probe_vendors(struct cli *cli, struct error *err)
{
	owned(profiles_clear) struct profiles profiles = { 0 };
	owned(probing_clear) struct probing probing = {
		.roots = real_roots,
		.devices.columns = device_columns,
		.missing.columns = why_columns,
		.vendors = cJSON_CreateArray(),
	};
	const struct vendors_options *options = cli->given;

	if (options->device_root)
		probing.roots.dev = options->device_root;
	if (options->sysfs_root)
		probing.roots.sys = options->sysfs_root;
	if (options->proc_root)
		probing.roots.proc = options->proc_root;
	if (load_profiles(cli, &profiles, err) < 0)
		return -1;
	for (size_t i = 0; i < profiles.count; i++)
		if (probing_add(&probing, profiles.list[i], err) < 0)
			return -1;
	return probing_print(&probing, cli, err);
}

/* clang-format off */
static const struct subcommand subcommands[] = {
	{ "list", NULL, 0, 0, NULL,
	  "list the vendors and their chips (default)",
	  list_vendors },
	{ "check", "FILE...", 1, COMMAND_ARGS_MAX, NULL,
	  "check profiles, and report errors with file and line", check_files },
	{ "probe", NULL, 0, 0, "device-root sysfs-root proc-root",
	  "list the devices of this machine, and for each other vendor what "
		  "is missing", probe_vendors },
	{ 0 },
};

static const struct option_rule rules[] = {
	{ OPTION(vendors_options, "device-root", 0, OPTION_TEXT, device_root,
		 "DIR"),
	  .help = "folder to read as /dev (probe)" },
	{ OPTION(vendors_options, "sysfs-root", 0, OPTION_TEXT, sysfs_root,
		 "DIR"),
	  .help = "folder to read as /sys (probe)" },
	{ OPTION(vendors_options, "proc-root", 0, OPTION_TEXT, proc_root,
		 "DIR"),
	  .help = "folder to read as /proc (probe)" },
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_vendors = {
	.name = "vendors",
	.rules = rules,
	.options_size = sizeof(struct vendors_options),
	.summary = "list vendors, check profiles, detect devices",
	.help = "Needs no controller.",
	.example = "regatta vendors probe",
	.subcommands = subcommands,
};
/* clang-format on */
