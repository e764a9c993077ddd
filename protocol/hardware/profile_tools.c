/* profile_tools.c - the sections of a profile that ask a vendor's tools.
 */
#include "protocol/hardware/profile_internal.h"

#include <string.h>

#define TIMEOUT_MS 5000
#define TIMEOUT_MIN_MS 100
#define TIMEOUT_MAX_MS 60000

/* versions */

static int read_version(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "command", read_argv,
		  offsetof(struct version_rule, command), false },
		{ "file", read_file_path,
		  offsetof(struct version_rule, file), false },
		{ "match", read_expression,
		  offsetof(struct version_rule, match), false },
		FIELD_END
	};
	/* clang-format on */
	const struct version_rule *rule = out;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
	if (!rule->file == !rule->command.count)
		return value_error(value, err,
				   "%s of file and command; expected one of "
				   "them",
				   rule->file ? "both" : "neither");
	return 0;
}

static int read_driver(const struct value *value, void *out, struct error *err)
{
	struct profile *profile = out;
	void *items = NULL;
	int rc = list_read(value, sizeof(*profile->driver), read_version,
			   &items, &profile->driver_count, err);

	profile->driver = items;
	return rc;
}

static int read_sdk(const struct value *value, void *out, struct error *err)
{
	struct profile *profile = out;
	void *items = NULL;
	int rc = list_read(value, sizeof(*profile->sdk), read_version, &items,
			   &profile->sdk_count, err);

	profile->sdk = items;
	return rc;
}

int read_versions(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "driver", read_driver, 0, false },
		{ "sdk", read_sdk, 0, false },
		FIELD_END
	};
	/* clang-format on */

	return fields_read(value, fields, out, err);
}

/* processes */

static int check_groups(const struct value *value, const struct expression *row,
			struct error *err)
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

int read_processes(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "command", read_argv,
		  offsetof(struct process_rules, command), false },
		{ "from", read_expression,
		  offsetof(struct process_rules, from), false },
		{ "row", read_expression,
		  offsetof(struct process_rules, row), false },
		{ "ignore", read_names,
		  offsetof(struct process_rules, ignore), false },
		FIELD_END
	};
	/* clang-format on */
	const struct process_rules *rules = out;

	if (fields_read(value, fields, out, err) < 0)
		return -1;
	if (!rules->command.count != !rules->row)
		return value_error(value, err,
				   "a %s alone is not valid here; expected "
				   "both command and row, or neither",
				   rules->row ? "row" : "command");
	return rules->row
		       ? check_groups(value_get(value, "row"), rules->row, err)
		       : 0;
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

int read_monitor(const struct value *value, void *out, struct error *err)
{
	/* clang-format off */
	static const struct profile_field fields[] = {
		{ "command", read_argv,
		  offsetof(struct monitor_rules, command), false },
		{ "env", read_env,
		  offsetof(struct monitor_rules, env), false },
		{ "timeout", read_timeout,
		  offsetof(struct monitor_rules, timeout_ms), false },
		{ "na", NULL, 0, false },
		{ "layouts", NULL, 0, true },
		FIELD_END
	};
	/* clang-format on */
	struct monitor_rules *rules = out;

	rules->timeout_ms = TIMEOUT_MS;
	if (fields_read(value, fields, out, err) < 0)
		return -1;
	rules->sampler = sampler_new(value, err);
	return rules->sampler ? 0 : -1;
}
