/* profile_sections.c - the sections of a profile as tables of fields.
 */
#include "protocol/hardware/profile_internal.h"
#include "protocol/hardware/sample_internal.h"

#include <stdlib.h>
#include <string.h>

#define FUNCTIONS 8 /* of a PCI device */
#define SHM_MAX (1ULL << 44)
#define VENDOR_MAX 63 /* bytes of a name */
#define SCRIPT_MAX 4096
#define TIMEOUT_MS 5000
#define TIMEOUT_MIN_MS 100
#define TIMEOUT_MAX_MS 60000

/* discover */

static int read_functions(const struct value *value, void *out,
			  struct error *err)
{
	uint32_t bits = 0;

	if (value_expect(value, VALUE_LIST, err) < 0)
		return -1;
	for (size_t i = 0; i < value_count(value); i++) {
		uint32_t function;

		if (value_u32(value_at(value, i), 0, FUNCTIONS - 1, &function,
			      err) < 0)
			return -1;
		bits |= 1U << function;
	}
	if (!bits)
		return value_error(value, err, "none; expected 0 to %d",
				   FUNCTIONS - 1);
	*(uint32_t *)out = bits;
	return 0;
}

static const struct map_field pci_fields[] = {
	MAP_NEEDED("vendors", read_pci_ids, discover_rules, pci_vendors),
	MAP_FIELD("classes", read_pci_classes, discover_rules, pci_classes),
	MAP_FIELD("functions", read_functions, discover_rules, functions),
	{ 0 }
};

static int pci_check(const struct value *value, void *out, struct error *err)
{
	const struct discover_rules *rules = out;

	if (!rules->pci_vendors.count)
		return value_error(value_get(value, "vendors"), err,
				   "none; expected 1 to %d", MAP_LIST_MAX);
	return 0;
}

static const char *const orders[] = { "bus", "present", NULL };
static const char *const row_words[] = { "device", "physical", "bus_id",
					 "name",   "uuid",     NULL };

static const struct map_field number_fields[] = {
	MAP_FIELD("file", read_system_path, number_rule, path),
	MAP_FIELD("glob", read_system_path, number_rule, path),
	MAP_WORD("order", orders, number_rule, word),
	MAP_WORD("monitor", row_words, number_rule, word),
	MAP_WORD("map", row_words, number_rule, word),
	MAP_FIELD("match", read_expression, number_rule, match),
	{ 0 }
};

/* The rule has one of these keys. */
static const struct {
	const char *key;
	enum number_from from;
	bool match; /* may have one */
} number_keys[] = {
	{ "file", NUMBER_FILE, true },    { "glob", NUMBER_GLOB, false },
	{ "order", NUMBER_ORDER, false }, { "monitor", NUMBER_MONITOR, true },
	{ "map", NUMBER_MAP, true },
};

static int profile_read_number(const struct value *value,
			       struct number_rule *rule, struct error *err)
{
	size_t count = sizeof(number_keys) / sizeof(number_keys[0]), found = 0;
	bool match = true;

	if (map_read(value, number_fields, rule, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!value_get(value, number_keys[i].key))
			continue;
		found++;
		match = number_keys[i].match;
		rule->from = number_keys[i].from;
	}
	if (found != 1)
		return value_error(value, err,
				   "%zu of file, glob, order, monitor and map; "
				   "expected one of them",
				   found);
	if (rule->match && !match)
		return value_error(value_get(value, "match"), err,
				   "an expression is valid only with file, "
				   "monitor and map");
	if (rule->from == NUMBER_FILE && strchr(rule->path, '*'))
		return value_error(value_get(value, "file"), err,
				   "a * is valid only in a glob");
	if (rule->from == NUMBER_GLOB && !strchr(rule->path, '*'))
		return value_error(value_get(value, "glob"), err,
				   "missing *, which matches the number");
	return 0;
}

/* A number has one rule, or a list of them: the first that finds it counts. */
static int read_ways(const char *name, const struct value *value,
		     struct discover_rules *rules, struct error *err)
{
	bool list = value_kind(value) == VALUE_LIST;
	size_t count = list ? value_count(value) : 1;

	if (!count || rules->numbers_count + count > MAP_LIST_MAX)
		return value_error(value, err,
				   "%zu rules; expected 1 to %d in all", count,
				   MAP_LIST_MAX);
	for (size_t i = 0; i < count; i++) {
		struct number_rule *rule =
			&rules->numbers[rules->numbers_count++];

		rule->name = name;
		rule->value = list ? value_at(value, i) : value;
		if (profile_read_number(rule->value, rule, err) < 0)
			return -1;
	}
	return 0;
}

static int profile_read_numbers(const struct value *value, void *out,
				struct error *err)
{
	struct discover_rules *rules = out;

	if (value_expect(value, VALUE_MAP, err) < 0)
		return -1;
	rules->numbers = calloc(MAP_LIST_MAX, sizeof(*rules->numbers));
	if (!rules->numbers)
		return error_nomem(err, value_file(value));
	for (size_t i = 0; i < value_count(value); i++) {
		const char *name = value_key(value, i);

		if (!text_is_of(name, 31, ASCII_LOWER "_") ||
		    !strcmp(name, "bus"))
			return value_key_error(value, i, err,
					       "the name is not valid here; "
					       "expected lower case letters "
					       "and _, but not bus");
		if (read_ways(name, value_at(value, i), rules, err) < 0)
			return -1;
	}
	return 0;
}

static void clear_numbers(void *out)
{
	struct discover_rules *rules = out;

	for (size_t i = 0; i < rules->numbers_count; i++)
		map_clear(number_fields, &rules->numbers[i]);
	free(rules->numbers);
}

static const struct map_field map_tool_fields[] = {
	MAP_NEEDED("command", read_argv, discover_rules, map_command),
	{ .key = "na" },
	{ .key = "layouts", .needed = true },
	{ 0 }
};

static int read_map_tool(const struct value *value, void *out,
			 struct error *err)
{
	struct discover_rules *rules = out;

	rules->map = sampler_new(value, err);
	return rules->map ? 0 : -1;
}

static void clear_map_tool(void *out)
{
	sampler_free(((struct discover_rules *)out)->map);
}

static const struct map_field discover_fields[] = {
	MAP_SAME("pci", pci_fields, pci_check),
	MAP_FIELD("nodes", read_device_path, discover_rules, nodes),
	{ .key = "numbers",
	  .read = profile_read_numbers,
	  .clear = clear_numbers },
	MAP_FIELD("required", read_words, discover_rules, required),
	{ .key = "map",
	  .fields = map_tool_fields,
	  .read = read_map_tool,
	  .clear = clear_map_tool },
	{ 0 }
};

static int discover_check(const struct value *value, void *out,
			  struct error *err)
{
	const struct discover_rules *rules = out;
	const char *brace;

	if (!rules->nodes == !rules->pci_vendors.count)
		return value_error(value, err,
				   "%s of pci and nodes; expected one of them",
				   rules->nodes ? "both" : "neither");
	if (!rules->nodes)
		return 0;
	brace = strchr(rules->nodes, '{');
	if (!brace || strchr(brace + 1, '{') || strchr(rules->nodes, '*'))
		return value_error(value_get(value, "nodes"), err,
				   "\"%.60s\" is not valid here; expected a "
				   "path with one {name} in it",
				   rules->nodes);
	return 0;
}

/* container */

/* by, number: of a request or a selector. */
static int read_by(const struct value *value, void *out, struct error *err)
{
	static const char *const words[] = { "all", "uuid", "number", NULL };
	size_t word;

	if (value_enum(value, words, &word, err) < 0)
		return -1;
	*(enum device_naming *)out = (enum device_naming)word;
	return 0;
}

static int check_naming(const struct value *value, const struct naming *naming,
			struct error *err)
{
	if ((naming->by == NAME_NUMBER) != (naming->number != NULL))
		return value_error(value, err,
				   "%s is not valid here; expected both or "
				   "neither of by: number and number",
				   naming->number ? "a number" : "by: number");
	return 0;
}

/* A driver may be "". */
static int read_driver(const struct value *value, void *out, struct error *err)
{
	if (value_kind(value) != VALUE_SCALAR || *value_text(value))
		return read_word(value, out, err);
	*(const char **)out = "";
	return 0;
}

static const struct map_field request_fields[] = {
	MAP_NEEDED("driver", read_driver, request_rules, driver),
	MAP_FIELD("capabilities", read_words, request_rules, capabilities),
	MAP_NEEDED("by", read_by, request_rules, naming.by),
	MAP_FIELD("number", read_word, request_rules, naming.number),
	MAP_FIELD("program", read_word, request_rules, program),
	{ 0 }
};

static int request_check(const struct value *value, void *out,
			 struct error *err)
{
	return check_naming(value, &((struct request_rules *)out)->naming, err);
}

static const struct map_field selector_fields[] = {
	MAP_NEEDED("name", read_variable, selector, name),
	MAP_NEEDED("by", read_by, selector, naming.by),
	MAP_FIELD("number", read_word, selector, naming.number),
	MAP_FIELD("none", read_word, selector, none),
	{ 0 }
};

static int selector_check(const struct value *value, void *out,
			  struct error *err)
{
	return check_naming(value, &((struct selector *)out)->naming, err);
}

static const struct map_field nodes_fields[] = {
	MAP_FIELD("device", read_device_paths, container_rules, device_nodes),
	MAP_FIELD("shared", read_device_paths, container_rules, shared_nodes),
	MAP_FIELD("optional", read_device_paths, container_rules,
		  optional_nodes),
	{ 0 }
};

/* No path of the list may hold one of these characters. */
static int profile_paths_check(const struct value *list,
			       const struct strings *paths, const char *refused,
			       const char *why, struct error *err)
{
	for (size_t i = 0; i < paths->count; i++)
		if (strpbrk(paths->items[i], refused))
			return value_error(value_at(list, i), err, "%s", why);
	return 0;
}

static int nodes_check(const struct value *value, void *out, struct error *err)
{
	const struct container_rules *rules = out;

	if (profile_paths_check(value_get(value, "device"),
				&rules->device_nodes, "*",
				"a * is valid only in optional", err) < 0)
		return -1;
	return profile_paths_check(value_get(value, "shared"),
				   &rules->shared_nodes, "*{",
				   "a * or a {name} is not valid here; "
				   "expected one "
				   "path",
				   err);
}

static const struct map_field mount_fields[] = {
	MAP_NEEDED("host", read_file_path, profile_mount, host),
	MAP_NEEDED("container", read_file_path, profile_mount, container),
	MAP_FIELD("read_only", read_flag, profile_mount, read_only),
	MAP_FIELD("optional", read_flag, profile_mount, optional),
	{ 0 }
};

static int read_shm(const struct value *value, void *out, struct error *err)
{
	return value_size_bytes(value, 1, SHM_MAX, out, err);
}

static const char *const ipcs[] = { "private", "host", "shareable", "none",
				    NULL };

static const struct map_field container_fields[] = {
	MAP_SAME("nodes", nodes_fields, nodes_check),
	MAP_FIELD("runtime", read_word, container_rules, runtime),
	MAP_INSIDE("request", request_fields, request_check, container_rules,
		   request),
	MAP_FIELD("cdi", read_word, container_rules, cdi),
	MAP_INSIDE("selector", selector_fields, selector_check, container_rules,
		   selector),
	MAP_FIELD("env", read_env, container_rules, env),
	MAP_FIELD("groups", read_words, container_rules, groups),
	MAP_FIELD("capabilities", read_words, container_rules, capabilities),
	MAP_FIELD("security", read_words, container_rules, security),
	MAP_FIELD("ulimits", read_ulimits, container_rules, ulimits),
	MAP_FIELD("shm", read_shm, container_rules, shm_bytes),
	MAP_WORD("ipc", ipcs, container_rules, ipc),
	MAP_ITEMS("mounts", mount_fields, NULL, container_rules, mounts),
	MAP_FIELD("runtime_mounts", read_words, container_rules,
		  runtime_mounts),
	{ 0 }
};

/* visible */

static const char *const numberings[] = { "container", "host", NULL };

static const struct map_field visible_fields[] = {
	MAP_NEEDED("name", read_variable, visible, name),
	{ .key = "numbering",
	  .words = numberings,
	  .place = offsetof(struct visible, numbering),
	  .needed = true },
	MAP_FIELD("number", read_word, visible, number),
	{ 0 }
};

static int visible_check(const struct value *value, void *out,
			 struct error *err)
{
	const struct visible *visible = out;
	bool host = !strcmp(visible->numbering, "host");

	if (host != (visible->number != NULL))
		return value_error(value, err,
				   "%s is not valid here; expected both or "
				   "neither of numbering: host and number",
				   host ? "numbering: host" : "a number");
	return 0;
}

/* monitor */

static int read_timeout(const struct value *value, void *out, struct error *err)
{
	uint64_t timeout_ms;

	if (value_duration_ms(value, TIMEOUT_MIN_MS, TIMEOUT_MAX_MS,
			      &timeout_ms, err) < 0)
		return -1;
	*(uint32_t *)out = (uint32_t)timeout_ms;
	return 0;
}

#define COMMANDS_MAX 8

/* One command, or a list of them. */
static int read_commands(const struct value *value, void *out,
			 struct error *err)
{
	struct monitor_rules *rules = out;
	bool list = value_kind(value) == VALUE_LIST && value_count(value) &&
		    value_kind(value_at(value, 0)) == VALUE_LIST;
	size_t count = list ? value_count(value) : 1;

	if (count > COMMANDS_MAX)
		return value_error(value, err,
				   "%zu commands; expected at most %d", count,
				   COMMANDS_MAX);
	rules->commands = calloc(count, sizeof(*rules->commands));
	if (!rules->commands)
		return error_nomem(err, value_file(value));
	rules->commands_count = count;
	for (size_t i = 0; i < count; i++)
		if (read_argv(list ? value_at(value, i) : value,
			      &rules->commands[i], err) < 0)
			return -1;
	return 0;
}

static void clear_commands(void *out)
{
	struct monitor_rules *rules = out;

	for (size_t i = 0; i < rules->commands_count; i++)
		strings_clear(&rules->commands[i]);
	free(rules->commands);
}

/* A path, or a list of them. */
static int read_file_paths(const struct value *value, void *out,
			   struct error *err)
{
	const char *path;

	if (value_kind(value) == VALUE_LIST)
		return read_strings(value, read_system_path, out, err);
	return read_system_path(value, &path, err) < 0
		       ? -1
		       : strings_add(out, path, err);
}

static const struct map_field file_fields[] = {
	MAP_NEEDED("path", read_file_paths, file_rule, paths),
	MAP_FIELD("match", read_expression, file_rule, match),
	MAP_ITEMS("binary", binary_form_fields, binary_form_check, file_rule,
		  binary),
	MAP_FIELD("unit", read_word, file_rule, unit),
	MAP_FIELD("seldom", read_flag, file_rule, seldom),
	{ 0 }
};

static int read_files(const struct value *value, void *out, struct error *err)
{
	struct monitor_rules *rules = out;

	if (map_check_map(value, err) < 0)
		return -1;
	rules->files = calloc(value_count(value) + 1, sizeof(*rules->files));
	if (!rules->files)
		return error_nomem(err, value_file(value));
	for (size_t i = 0; i < value_count(value); i++) {
		struct file_rule *rule = &rules->files[rules->files_count++];

		if (!field_named(value_key(value, i), &rule->field))
			return value_key_error(value, i, err,
					       "not a word such as uuid, "
					       "temp_c or power_w");
		if (map_read(value_at(value, i), file_fields, rule, err) < 0)
			return -1;
	}
	return 0;
}

static void clear_files(void *out)
{
	struct monitor_rules *rules = out;

	for (size_t i = 0; i < rules->files_count; i++)
		map_clear(file_fields, &rules->files[i]);
	free(rules->files);
}

static const struct map_field monitor_fields[] = {
	{ .key = "command", .read = read_commands, .clear = clear_commands },
	{ .key = "files", .read = read_files, .clear = clear_files },
	MAP_FIELD("loop", read_word, monitor_rules, loop),
	MAP_FIELD("kernel", read_expression, monitor_rules, kernel),
	MAP_FIELD("env", read_env, monitor_rules, env),
	MAP_FIELD("timeout", read_timeout, monitor_rules, timeout_ms),
	{ .key = "na" },
	{ .key = "layouts", .needed = true },
	{ 0 }
};

static int read_monitor(const struct value *value, void *out, struct error *err)
{
	struct monitor_rules *rules = out;

	if (!rules->timeout_ms)
		rules->timeout_ms = TIMEOUT_MS;
	rules->sampler = sampler_new(value, err);
	return rules->sampler ? 0 : -1;
}

static void clear_monitor(void *out)
{
	sampler_free(((struct monitor_rules *)out)->sampler);
}

/* versions */

static const struct map_field version_fields[] = {
	MAP_FIELD("command", read_argv, version_rule, command),
	MAP_FIELD("file", read_file_path, version_rule, file),
	MAP_FIELD("match", read_expression, version_rule, match),
	{ 0 }
};

static int version_check(const struct value *value, void *out,
			 struct error *err)
{
	const struct version_rule *rule = out;

	if (!rule->file == !rule->command.count)
		return value_error(value, err,
				   "%s of file and command; expected one of "
				   "them",
				   rule->file ? "both" : "neither");
	return 0;
}

static const struct map_field versions_fields[] = {
	MAP_ITEMS("driver", version_fields, version_check, profile, driver),
	MAP_ITEMS("sdk", version_fields, version_check, profile, sdk),
	{ 0 }
};

/* processes */

static int profile_groups_check(const struct value *value,
				const struct expression *row, struct error *err)
{
	static const char *const names[] = { "pid",  "name",   "device",
					     "part", "bus_id", "uuid" };
	bool pid = false, place = false;

	for (size_t i = 0; i < expression_groups(row); i++) {
		const char *name = expression_group_name(row, i);
		size_t k = 0;

		while (k < 6 && strcmp(names[k], name) != 0)
			k++;
		if (k == 6 && *name != '_')
			return value_error(value, err,
					   "the group \"%.60s\" is not valid "
					   "here; expected pid, name, device, "
					   "part, bus_id, uuid, and names that "
					   "begin with _",
					   name);
		pid |= k == 0;
		place |= k == 2 || k == 4 || k == 5;
	}
	if (pid && place)
		return 0;
	return value_error(value, err,
			   "missing group %s, which identifies the device of "
			   "the row",
			   pid ? "device, bus_id or uuid" : "pid");
}

static const struct map_field kubernetes_fields[] = {
	MAP_FIELD("resource", read_text, profile, kubernetes_resource),
	MAP_FIELD("class", read_text, profile, kubernetes_class),
	MAP_FIELD("unknown", read_text, profile, kubernetes_unknown),
	{ 0 }
};

static const struct map_field processes_fields[] = {
	MAP_FIELD("command", read_argv, process_rules, command),
	MAP_FIELD("from", read_expression, process_rules, from),
	MAP_FIELD("row", read_expression, process_rules, row),
	MAP_FIELD("ignore", read_texts, process_rules, ignore),
	{ 0 }
};

static int processes_check(const struct value *value, void *out,
			   struct error *err)
{
	const struct process_rules *rules = out;

	if (!rules->command.count != !rules->row)
		return value_error(value, err,
				   "a %s alone is not valid here; expected "
				   "both command and row, or neither",
				   rules->row ? "row" : "command");
	return rules->row ? profile_groups_check(value_get(value, "row"),
						 rules->row, err)
			  : 0;
}

/* chips and images */

static int read_gib(const struct value *value, void *out, struct error *err)
{
	return value_double(value, 0.001, 65536, out, err);
}

/* A number that is checked here, and read later from the file's values. */
static int check_figure(const struct value *value, void *out, struct error *err)
{
	double figure;

	return value_double(value, 0.001, 1e6, &figure, err);
}

static const struct map_field tflops_fields[] = {
	{ .key = "fp64", .read = check_figure },
	{ .key = "fp32", .read = check_figure },
	{ .key = "tf32", .read = check_figure },
	{ .key = "fp16", .read = check_figure },
	{ .key = "bf16", .read = check_figure },
	{ .key = "fp8", .read = check_figure },
	{ .key = "int8", .read = check_figure },
	{ .key = "fp4", .read = check_figure },
	{ 0 }
};

static int profile_keep_value(const struct value *value, void *out,
			      struct error *err)
{
	*(const struct value **)out = value;
	return 0;
}

static int keep_chip(const struct value *value, void *out, struct error *err)
{
	((struct chip_rule *)out)->value = value;
	return 0;
}

static const char *const confidences[] = { "A", "B", "C", NULL };

static const struct map_field chip_fields[] = {
	MAP_NEEDED("name", read_word, chip_rule, name),
	MAP_FIELD("aliases", read_texts, chip_rule, aliases),
	MAP_FIELD("pci", read_pci_ids, chip_rule, pci),
	MAP_FIELD("match", read_expression, chip_rule, match),
	MAP_FIELD("memory_gib", read_gib, chip_rule, memory_gib),
	MAP_INSIDE("tflops", tflops_fields, profile_keep_value, chip_rule,
		   tflops),
	MAP_INSIDE("flagperf_tflops", tflops_fields, profile_keep_value,
		   chip_rule, flagperf_tflops),
	{ .key = "bandwidth_gb_s", .read = check_figure },
	{ .key = "link_gb_s", .read = check_figure },
	{ .key = "tdp_w", .read = check_figure },
	MAP_NEEDED("source", read_text, chip_rule, source),
	MAP_WORD("confidence", confidences, chip_rule, confidence),
	{ 0 }
};

static int read_images(const struct value *value, void *out, struct error *err)
{
	if (value_expect(value, VALUE_MAP, err) < 0)
		return -1;
	if (value_count(value) > MAP_LIST_MAX)
		return value_error(value, err,
				   "%zu images; expected at most %d",
				   value_count(value), MAP_LIST_MAX);
	for (size_t i = 0; i < value_count(value); i++) {
		const char *reference;

		if (read_word(value_at(value, i), &reference, err) < 0)
			return -1;
	}
	return profile_keep_value(value, out, err);
}

/* profile */

static bool good_vendor(const char *text)
{
	return text_is_of(text, VENDOR_MAX, ASCII_LOWER ASCII_DIGITS "-");
}

static int read_vendor(const struct value *value, void *out, struct error *err)
{
	return map_read_good(value, good_vendor,
			     "at most 63 lower case letters, digits and -", out,
			     err);
}

static int read_dies(const struct value *value, void *out, struct error *err)
{
	return value_u32(value, 1, 16, out, err);
}

static int read_script(const struct value *value, void *out, struct error *err)
{
	return value_string(value, SCRIPT_MAX, out, err);
}

const struct map_field profile_fields[] = {
	MAP_NEEDED("vendor", read_vendor, profile, vendor),
	MAP_FIELD("aliases", read_words, profile, aliases),
	MAP_FIELD("title", read_text, profile, title),
	MAP_FIELD("source", read_text, profile, source),
	MAP_INSIDE("discover", discover_fields, discover_check, profile,
		   discover),
	MAP_INSIDE("container", container_fields, NULL, profile, container),
	MAP_ITEMS("visible", visible_fields, visible_check, profile, visible),
	{ .key = "monitor",
	  .fields = monitor_fields,
	  .read = read_monitor,
	  .clear = clear_monitor,
	  .place = offsetof(struct profile, monitor) },
	MAP_SAME("versions", versions_fields, NULL),
	MAP_INSIDE("processes", processes_fields, processes_check, profile,
		   processes),
	MAP_SAME("kubernetes", kubernetes_fields, NULL),
	MAP_FIELD("devices_per_card", read_dies, profile, devices_per_card),
	MAP_ITEMS("chips", chip_fields, keep_chip, profile, chips),
	MAP_FIELD("images", read_images, profile, images),
	MAP_FIELD("diagnosis", read_script, profile, diagnosis),
	{ 0 }
};
