/* profile_sections.c - the sections of a profile: from values to its structs.
 */
#include "protocol/hardware/profile_internal.h"

#include <string.h>

#define FUNCTIONS 8 /* of a PCI device */
#define SHM_MAX (1ULL << 44)

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

static int read_pci(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "vendors", read_pci_ids,
		  offsetof(struct discover_rules, pci_vendors), true },
		{ "classes", read_pci_classes,
		  offsetof(struct discover_rules, pci_classes), false },
		{ "functions", read_functions,
		  offsetof(struct discover_rules, functions), false },
		FIELD_END
	};
	/* clang-format on */
	const struct discover_rules *rules = out;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
	if (!rules->pci_vendors.count)
		return value_error(value_get(value, "vendors"), err,
				   "none; expected 1 to %d", PROFILE_LIST_MAX);
	return 0;
}

/* One of the five ways that a number is found; the words of a row. */
struct number_entry {
	const char *file, *glob, *order, *monitor, *map;
	struct expression *match;
};

static int read_order(const struct value *value, void *out, struct error *err)
{
	static const char *const words[] = { "bus", "present", NULL };
	size_t word;

	if (value_enum(value, words, &word, err) < 0)
		return -1;
	*(const char **)out = words[word];
	return 0;
}

static int read_row_word(const struct value *value, void *out,
			 struct error *err)
{
	static const char *const words[] = { "device", "physical", "bus_id",
					     "name",   "uuid",     NULL };
	size_t word;

	if (value_enum(value, words, &word, err) < 0)
		return -1;
	*(const char **)out = words[word];
	return 0;
}

static int set_number(const struct value *value,
		      const struct number_entry *entry,
		      struct number_rule *rule, struct error *err)
{
	/* clang-format off */
	const struct {
		const char *text;
		enum number_from from;
		bool path;
		bool match;
	} ways[] = {
		{ entry->file, NUMBER_FILE, true, true },
		{ entry->glob, NUMBER_GLOB, true, false },
		{ entry->order, NUMBER_ORDER, false, false },
		{ entry->monitor, NUMBER_MONITOR, false, true },
		{ entry->map, NUMBER_MAP, false, true },
	};
	/* clang-format on */
	size_t found = 0;
	bool match = true;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (!ways[i].text)
			continue;
		found++;
		match = ways[i].match;
		rule->from = ways[i].from;
		*(ways[i].path ? &rule->path : &rule->word) = ways[i].text;
	}
	if (found != 1)
		return value_error(value, err,
				   "%zu of file, glob, order, monitor and map; "
				   "expected one of them",
				   found);
	if (entry->match && !match)
		return value_error(value_get(value, "match"), err,
				   "an expression is valid only with file, "
				   "monitor and map");
	if (entry->file && strchr(entry->file, '*'))
		return value_error(value_get(value, "file"), err,
				   "a * is valid only in a glob");
	if (entry->glob && !strchr(entry->glob, '*'))
		return value_error(value_get(value, "glob"), err,
				   "missing *, which matches the number");
	return 0;
}

static int read_number(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "file", read_system_path,
		  offsetof(struct number_entry, file), false },
		{ "glob", read_system_path,
		  offsetof(struct number_entry, glob), false },
		{ "order", read_order,
		  offsetof(struct number_entry, order), false },
		{ "monitor", read_row_word,
		  offsetof(struct number_entry, monitor), false },
		{ "map", read_row_word,
		  offsetof(struct number_entry, map), false },
		{ "match", read_expression,
		  offsetof(struct number_entry, match), false },
		FIELD_END
	};
	/* clang-format on */
	struct number_entry entry = { 0 };
	struct number_rule *rule = out;
	int rc = fields_read(value, fields, &entry, err);

	rule->match = entry.match;
	return rc < 0 ? rc : set_number(value, &entry, rule, err);
}

/* A number has one rule, or a list of them: the first that tells it counts. */
static int read_ways(const char *name, const struct value *value,
		     struct discover_rules *rules, struct error *err)
{
	bool list = value_kind(value) == VALUE_LIST;
	size_t count = list ? value_count(value) : 1;

	if (!count || rules->numbers_count + count > PROFILE_LIST_MAX)
		return value_error(value, err,
				   "%zu rules; expected 1 to %d in all", count,
				   PROFILE_LIST_MAX);
	for (size_t i = 0; i < count; i++) {
		struct number_rule *rule =
			&rules->numbers[rules->numbers_count++];

		rule->name = name;
		rule->value = list ? value_at(value, i) : value;
		if (read_number(rule->value, rule, err) < 0)
			return -1;
	}
	return 0;
}

static int read_numbers(const struct value *value, void *out, struct error *err)
{
	struct discover_rules *rules = out;

	if (value_expect(value, VALUE_MAP, err) < 0)
		return -1;
	rules->numbers = calloc(PROFILE_LIST_MAX, sizeof(*rules->numbers));
	if (!rules->numbers)
		return error_nomem(err, value_file(value));
	for (size_t i = 0; i < value_count(value); i++) {
		const char *name = value_key(value, i);
		size_t size = strspn(name, "abcdefghijklmnopqrstuvwxyz_");

		if (!size || size > 31 || name[size] || !strcmp(name, "bus"))
			return value_key_error(value, i, err,
					       "the name is not valid here; "
					       "expected lower case letters "
					       "and _, but not bus");
		if (read_ways(name, value_at(value, i), rules, err) < 0)
			return -1;
	}
	return 0;
}

static int read_map(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "command", read_argv,
		  offsetof(struct discover_rules, map_command), true },
		{ "na", NULL, 0, false },
		{ "layouts", NULL, 0, true },
		FIELD_END
	};
	/* clang-format on */
	struct discover_rules *rules = out;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
	rules->map = sampler_new(value, err);
	return rules->map ? 0 : -1;
}

int read_discover(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "pci", read_pci, 0, false },
		{ "nodes", read_device_path,
		  offsetof(struct discover_rules, nodes), false },
		{ "numbers", read_numbers, 0, false },
		{ "required", read_words,
		  offsetof(struct discover_rules, required), false },
		{ "map", read_map, 0, false },
		FIELD_END
	};
	/* clang-format on */
	const struct discover_rules *rules = out;
	const char *brace;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
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

static int read_request(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "driver", NULL, 0, true },
		{ "capabilities", read_words, offsetof(struct container_rules,
		  request_capabilities), false },
		{ "by", read_by, offsetof(struct container_rules,
		  request_naming.by), true },
		{ "number", read_word, offsetof(struct container_rules,
		  request_naming.number), false },
		{ "program", read_word, offsetof(struct container_rules,
		  request_program), false },
		FIELD_END
	};
	/* clang-format on */
	struct container_rules *rules = out;
	const struct value *driver;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
	driver = value_get(value, "driver");
	if (value_expect(driver, VALUE_SCALAR, err) < 0)
		return -1;
	if (*value_text(driver) &&
	    read_word(driver, &rules->request_driver, err) < 0)
		return -1;
	if (!rules->request_driver)
		rules->request_driver = "";
	rules->request = true;
	return check_naming(value, &rules->request_naming, err);
}

static int read_selector(const struct value *value, void *out,
			 struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "name", read_variable,
		  offsetof(struct selector, name), true },
		{ "by", read_by, offsetof(struct selector, naming.by), true },
		{ "number", read_word,
		  offsetof(struct selector, naming.number), false },
		FIELD_END
	};
	/* clang-format on */
	const struct selector *selector = out;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
	return check_naming(value, &selector->naming, err);
}

static int read_nodes(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "device", read_device_paths,
		  offsetof(struct container_rules, device_nodes), false },
		{ "shared", read_device_paths,
		  offsetof(struct container_rules, shared_nodes), false },
		{ "optional", read_device_paths,
		  offsetof(struct container_rules, optional_nodes), false },
		FIELD_END
	};
	/* clang-format on */
	const struct container_rules *rules = out;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
	for (size_t i = 0; i < rules->device_nodes.count; i++)
		if (strchr(rules->device_nodes.items[i], '*'))
			return value_error(value_at(value_get(value, "device"),
						    i),
					   err,
					   "a * is valid only in optional");
	for (size_t i = 0; i < rules->shared_nodes.count; i++)
		if (strpbrk(rules->shared_nodes.items[i], "*{"))
			return value_error(value_at(value_get(value, "shared"),
						    i),
					   err,
					   "a * or a {name} is not valid here; "
					   "expected one path");
	return 0;
}

static int read_mount(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "host", read_file_path,
		  offsetof(struct profile_mount, host), true },
		{ "container", read_file_path,
		  offsetof(struct profile_mount, container), true },
		{ "read_only", read_flag,
		  offsetof(struct profile_mount, read_only), false },
		{ "optional", read_flag,
		  offsetof(struct profile_mount, optional), false },
		FIELD_END
	};
	/* clang-format on */

	return fields_read(value, fields, out, err);
}

static int read_mounts(const struct value *value, void *out, struct error *err)
{
	struct container_rules *rules = out;
	void *items = NULL;
	int rc = list_read(value, sizeof(*rules->mounts), read_mount, &items,
			   &rules->mounts_count, err);

	rules->mounts = items;
	return rc;
}

static int read_shm(const struct value *value, void *out, struct error *err)
{
	return value_size_bytes(value, 1, SHM_MAX, out, err);
}

static int read_ipc(const struct value *value, void *out, struct error *err)
{
	static const char *const words[] = { "private", "host", "shareable",
					     "none", NULL };
	size_t word;

	if (value_enum(value, words, &word, err) < 0)
		return -1;
	*(const char **)out = words[word];
	return 0;
}

int read_container(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "nodes", read_nodes, 0, false },
		{ "runtime", read_word,
		  offsetof(struct container_rules, runtime), false },
		{ "request", read_request, 0, false },
		{ "cdi", read_word,
		  offsetof(struct container_rules, cdi), false },
		{ "selector", read_selector,
		  offsetof(struct container_rules, selector), false },
		{ "env", read_env,
		  offsetof(struct container_rules, env), false },
		{ "groups", read_words,
		  offsetof(struct container_rules, groups), false },
		{ "capabilities", read_words,
		  offsetof(struct container_rules, capabilities), false },
		{ "security", read_words,
		  offsetof(struct container_rules, security), false },
		{ "ulimits", read_ulimits,
		  offsetof(struct container_rules, ulimits), false },
		{ "shm", read_shm,
		  offsetof(struct container_rules, shm_bytes), false },
		{ "ipc", read_ipc,
		  offsetof(struct container_rules, ipc), false },
		{ "mounts", read_mounts, 0, false },
		FIELD_END
	};
	/* clang-format on */

	return fields_read(value, fields, out, err);
}

/* visible */

static int read_numbering(const struct value *value, void *out,
			  struct error *err)
{
	static const char *const words[] = { "container", "host", NULL };
	size_t word;

	if (value_enum(value, words, &word, err) < 0)
		return -1;
	*(bool *)out = word == 1;
	return 0;
}

static int read_variable_rule(const struct value *value, void *out,
			      struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "name", read_variable,
		  offsetof(struct visible, name), true },
		{ "numbering", read_numbering,
		  offsetof(struct visible, host), true },
		{ "number", read_word,
		  offsetof(struct visible, number), false },
		FIELD_END
	};
	/* clang-format on */
	const struct visible *visible = out;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
	if (visible->host != (visible->number != NULL))
		return value_error(value, err,
				   "%s is not valid here; expected both or "
				   "neither of numbering: host and number",
				   visible->host ? "numbering: host"
						 : "a number");
	return 0;
}

int read_visible(const struct value *value, void *out, struct error *err)
{
	struct profile *profile = out;
	void *items = NULL;
	int rc = list_read(value, sizeof(*profile->visible), read_variable_rule,
			   &items, &profile->visible_count, err);

	profile->visible = items;
	return rc;
}

/* chips and images */

static int read_gib(const struct value *value, void *out, struct error *err)
{
	return value_double(value, 0.001, 65536, out, err);
}

/* A figure that only people and formulas read: checked here, kept as it is. */
static int check_figure(const struct value *value, void *out, struct error *err)
{
	double figure;

	return value_double(value, 0.001, 1e6, &figure, err);
}

static int read_tflops(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "fp64", check_figure, 0, false },
		{ "fp32", check_figure, 0, false },
		{ "tf32", check_figure, 0, false },
		{ "fp16", check_figure, 0, false },
		{ "bf16", check_figure, 0, false },
		{ "fp8", check_figure, 0, false },
		{ "int8", check_figure, 0, false },
		FIELD_END
	};
	/* clang-format on */

	*(const struct value **)out = value;
	return fields_read(value, fields, out, err);
}

static int read_confidence(const struct value *value, void *out,
			   struct error *err)
{
	static const char *const words[] = { "A", "B", "C", NULL };
	size_t word;

	if (value_enum(value, words, &word, err) < 0)
		return -1;
	*(const char **)out = words[word];
	return 0;
}

static int read_chip(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "name", read_word, offsetof(struct chip_rule, name), true },
		{ "aliases", read_names,
		  offsetof(struct chip_rule, aliases), false },
		{ "pci", read_pci_ids, offsetof(struct chip_rule, pci), false },
		{ "match", read_expression,
		  offsetof(struct chip_rule, match), false },
		{ "memory_gib", read_gib,
		  offsetof(struct chip_rule, memory_gib), false },
		{ "tflops", read_tflops,
		  offsetof(struct chip_rule, tflops), false },
		{ "flagperf_tflops", read_tflops,
		  offsetof(struct chip_rule, flagperf_tflops), false },
		{ "bandwidth_gb_s", check_figure, 0, false },
		{ "link_gb_s", check_figure, 0, false },
		{ "tdp_w", check_figure, 0, false },
		{ "source", read_text,
		  offsetof(struct chip_rule, source), false },
		{ "confidence", read_confidence,
		  offsetof(struct chip_rule, confidence), false },
		FIELD_END
	};
	/* clang-format on */
	struct chip_rule *chip = out;

	chip->value = value;
	if (fields_read(value, fields, out, err) < 0)
		return -1;
	if (!chip->source)
		return value_error(value, err,
				   "missing \"source\" (expected the source of "
				   "the figures)");
	return 0;
}

int read_chips(const struct value *value, void *out, struct error *err)
{
	struct profile *profile = out;
	void *items = NULL;
	int rc = list_read(value, sizeof(*profile->chips), read_chip, &items,
			   &profile->chips_count, err);

	profile->chips = items;
	return rc;
}

int read_images(const struct value *value, void *out, struct error *err)
{
	struct profile *profile = out;

	if (value_expect(value, VALUE_MAP, err) < 0)
		return -1;
	if (value_count(value) > PROFILE_LIST_MAX)
		return value_error(value, err,
				   "%zu images; expected at most %d",
				   value_count(value), PROFILE_LIST_MAX);
	for (size_t i = 0; i < value_count(value); i++) {
		const char *reference;

		if (read_word(value_at(value, i), &reference, err) < 0)
			return -1;
	}
	profile->images = value;
	return 0;
}
